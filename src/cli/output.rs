//! The only place that prints: data to stdout, words for people to stderr.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use crate::error::{Error, Result};

/// Writes bytes to stdout. A reader that has gone away (`| head`) is not an error.
///
/// # Errors
/// [`crate::error::Kind::Io`] when stdout cannot be written.
pub fn data(bytes: &[u8]) -> Result<()> {
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
    text(&json)
}

/// Writes a value to stdout as one line of JSON, the last one a program has to read.
///
/// # Errors
/// As [`data`].
pub fn json_line(value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string(value)
        .map_err(|why| Error::internal("a report cannot be written as JSON").because(why))?;
    text(&json)
}

/// Writes a line to stderr. There is nobody to tell if that fails.
pub fn people(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
