//! The only place that prints: data to stdout, words for people to stderr.

use std::io::{self, ErrorKind, Read, Seek, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tempfile::SpooledTempFile;

use crate::display_text;
use crate::error::{Error, Result};
use crate::numbers::count_u64;

/// So many bytes for stdout are kept in memory while they are held; more go to a temporary file.
const HELD_BYTES: usize = 8 << 20;

/// What is held back at the moment.
static HELD: Mutex<Option<OutputHeld>> = Mutex::new(None);

/// What was printed and is not shown yet.
#[derive(Debug)]
pub struct OutputHeld {
    data: SpooledTempFile,
    order: Vec<OutputPiece>,
}

#[derive(Debug)]
enum OutputPiece {
    Data(u64),
    People(String),
}

/// While it is there, what is printed is held back. Dropped, it throws that away.
#[derive(Debug)]
pub struct OutputHolding(());

/// Begins to hold back what is printed.
#[must_use]
pub fn hold() -> OutputHolding {
    *held() = Some(OutputHeld {
        data: SpooledTempFile::new(HELD_BYTES),
        order: Vec::new(),
    });
    OutputHolding(())
}

impl OutputHolding {
    /// Ends it, and gives what was held back.
    #[must_use]
    pub fn take(self) -> Option<OutputHeld> {
        held().take()
    }
}

impl Drop for OutputHolding {
    fn drop(&mut self) {
        held().take();
    }
}

impl OutputHeld {
    /// Prints it.
    ///
    /// # Errors
    /// As [`data`].
    pub fn print(mut self) -> Result<()> {
        let lost = |why| Error::io("what was to be printed cannot be read again").because(why);
        self.data.rewind().map_err(lost)?;
        for piece in self.order {
            match piece {
                OutputPiece::People(line) => stderr_line(&line),
                OutputPiece::Data(n) => {
                    let mut rest = (&mut self.data).take(n);
                    let mut bytes = Vec::new();
                    while rest.by_ref().take(1 << 20).read_to_end(&mut bytes).map_err(lost)? > 0 {
                        data(&bytes)?;
                        bytes.clear();
                    }
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<()> {
        self.data
            .write_all(bytes)
            .map_err(|why| Error::io("what is printed cannot be kept in a temporary file").because(why))?;
        let n = count_u64(bytes.len());
        match self.order.last_mut() {
            Some(OutputPiece::Data(last)) => *last += n,
            _ => self.order.push(OutputPiece::Data(n)),
        }
        Ok(())
    }
}

/// Throws away what is held back for stdout, and keeps what is for people: a command that fails writes no part of its
/// result.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the temporary file of it cannot be emptied.
pub fn discard_data() -> Result<()> {
    let Some(held) = &mut *held() else { return Ok(()) };
    held.order.retain(|piece| matches!(piece, OutputPiece::People(_)));
    let emptied = held.data.set_len(0).and_then(|()| held.data.rewind());
    emptied.map_err(|why| Error::io("what was to be printed cannot be discarded").because(why))
}

fn held() -> MutexGuard<'static, Option<OutputHeld>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes bytes to stdout. A reader that has gone away (`| head`) is not an error.
///
/// # Errors
/// [`crate::error::Kind::Io`] when stdout cannot be written.
pub fn data(bytes: &[u8]) -> Result<()> {
    if let Some(held) = &mut *held() {
        return held.keep(bytes);
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => {
            Err(Error::io("the result cannot be written to stdout").because(why))
        }
        _ => Ok(()),
    }
}

/// Writes a text to stdout, ended by a line end.
///
/// # Errors
/// As [`data`].
pub fn text(text: &str) -> Result<()> {
    let text = &display_text::lines(text);
    let end = if text.ends_with('\n') || text.is_empty() {
        ""
    } else {
        "\n"
    };
    data(format!("{text}{end}").as_bytes())
}

/// Writes a value to stdout as indented JSON.
///
/// # Errors
/// As [`data`].
pub fn json(value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string_pretty(value)
        .map_err(|why| Error::internal("a report cannot be written as JSON").because(why))?;
    program(&json)
}

/// Writes a value to stdout as one line of JSON, the last one a program has to read.
///
/// # Errors
/// As [`data`].
pub fn json_line(value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string(value)
        .map_err(|why| Error::internal("a report cannot be written as JSON").because(why))?;
    program(&json)
}

/// A line for programs, which get every character.
fn program(json: &str) -> Result<()> {
    data(format!("{json}\n").as_bytes())
}

/// Writes a line to stderr, also while others are held back. A failure cannot be reported anywhere.
pub fn at_once(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", display_text::lines(line));
}

/// Writes a line to stderr. A failure cannot be reported anywhere.
pub fn stderr_line(line: &str) {
    if let Some(held) = &mut *held() {
        held.order.push(OutputPiece::People(line.to_owned()));
        return;
    }
    at_once(line);
}
