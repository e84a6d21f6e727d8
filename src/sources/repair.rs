//! Repair files: refused rows written out to be mended by hand and read again.
//!
//! Text with control lines in between, so that any editor will do. Control lines begin with `#gridtally`, then a word,
//! then JSON:
//!
//! ```text
//! #gridtally repair {"version":1,"source":"alp","format":"sacct","file_id":"4f0c..","path":"alp/sacct-2026-05.txt"}
//! #gridtally note mend the rows, or delete those that cannot be mended
//! #gridtally header
//! JobIDRaw|JobID|...
//! #gridtally row {"line":17,"byte_offset":2210,"reason":"bad_time","row_n":1,"detail":".."}
//! 48120|48120|...
//! ```
//!
//! What follows a `header` (the header of a dump, the first line of a message) goes before each row behind it. A row
//! may have several lines. A line of data that begins with `#gridtally`, or with backslashes before it, is written with
//! one backslash more.

use std::io::{BufRead, Read};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::numbers::count_u64;

/// How control lines begin.
const MARK: &[u8] = b"#gridtally";
/// The first word of a repair file.
const FIRST: &[u8] = b"#gridtally repair ";
/// Version of the grammar.
pub const VERSION: u32 = 1;
/// Bytes one row, or one header, may have.
const UNIT_LIMIT: usize = 64 << 20;

/// What a repair file is about: one input file of one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Title {
    /// Version of the grammar.
    pub version: u32,
    /// Source.
    pub source: String,
    /// Dialect the rows are in.
    pub format: String,
    /// The input file whose rows these were.
    pub file_id: String,
    /// Where it was, for people.
    #[serde(default)]
    pub path: String,
}

/// Which refusal a row is to replace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RefusedUnit {
    /// 1-based line in the input file.
    pub line: u64,
    /// Byte offset in it, after decompression.
    pub byte_offset: u64,
    /// Code of the reason.
    pub reason: String,
    /// Rows refused together.
    #[serde(default)]
    pub row_n: u64,
    /// For people.
    #[serde(default)]
    pub detail: String,
}

/// One row to read again, with its surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairUnit {
    /// The refusal it replaces; what is wrong with the control line if it cannot be read.
    pub refused: Result<RefusedUnit, String>,
    /// What goes before it.
    pub header: Arc<Vec<u8>>,
    /// The text, ended by a line end.
    pub body: Vec<u8>,
    /// 1-based line of the text in the repair file.
    pub line: u64,
    /// Byte offset of the text in it.
    pub byte_offset: u64,
}

/// Whether the first bytes of a file (unpacked) are those of a repair file.
#[must_use]
pub fn is_repair(head: &[u8]) -> bool {
    crate::byte_order_mark::without_mark(head).starts_with(FIRST)
}

/// Reads a repair file unit by unit.
pub struct Units {
    input: Box<dyn BufRead + Send>,
    title: Title,
    header: Arc<Vec<u8>>,
    /// The control line read last.
    next: Option<Control>,
    line: u64,
    byte_offset: u64,
}

enum Control {
    Header,
    Row(Result<RefusedUnit, String>),
}

enum RepairLine {
    End,
    Control(Control),
    Note,
    Data(Vec<u8>),
}

impl Units {
    /// Reads the title.
    ///
    /// # Errors
    /// [`Kind::Data`] when it is not a repair file, or of an unknown version.
    pub fn open(input: Box<dyn BufRead + Send>) -> Result<Self> {
        let mut units = Self {
            input,
            title: Title {
                version: 0,
                source: String::new(),
                format: String::new(),
                file_id: String::new(),
                path: String::new(),
            },
            header: Arc::default(),
            next: None,
            line: 0,
            byte_offset: 0,
        };
        // Fallback: an empty file has no title, which cannot be read.
        let first = units.raw_line()?.unwrap_or_default();
        let json = crate::byte_order_mark::without_mark(&first).strip_prefix(FIRST);
        // Fallback: another line than a title is refused as an empty one.
        let json = json.unwrap_or_default();
        units.title = serde_json::from_slice(json)
            .map_err(|why| Error::new(Kind::Data, "the title of the repair file cannot be read").because(why))?;
        if units.title.version != VERSION {
            let version = units.title.version;
            return Err(Error::new(
                Kind::Data,
                format!("a repair file of version {version}; this gridtally knows version {VERSION}"),
            ));
        }
        Ok(units)
    }

    /// What the file is about.
    #[must_use]
    pub fn title(&self) -> &Title {
        &self.title
    }

    /// The next row that has a text.
    ///
    /// # Errors
    /// [`Kind::Data`] when a row is longer than can be, [`Kind::Io`] when reading fails.
    pub fn next_unit(&mut self) -> Result<Option<RepairUnit>> {
        loop {
            let Some(control) = self.next.take() else {
                match self.read_line()? {
                    RepairLine::End => return Ok(None),
                    RepairLine::Control(control) => self.next = Some(control),
                    // Before the first control line nothing is data.
                    RepairLine::Note | RepairLine::Data(_) => {}
                }
                continue;
            };
            let (line, byte_offset) = (self.line + 1, self.byte_offset);
            let body = self.body()?;
            match control {
                Control::Header => self.header = Arc::new(body),
                Control::Row(_) if body.trim_ascii().is_empty() => {}
                Control::Row(refused) => {
                    return Ok(Some(RepairUnit {
                        refused,
                        header: Arc::clone(&self.header),
                        body,
                        line,
                        byte_offset,
                    }));
                }
            }
        }
    }

    /// Lines of data up to the next control line.
    fn body(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            match self.read_line()? {
                RepairLine::End => return Ok(body),
                RepairLine::Control(control) => {
                    self.next = Some(control);
                    return Ok(body);
                }
                RepairLine::Note => {}
                RepairLine::Data(mut line) => {
                    if body.len() + line.len() > UNIT_LIMIT {
                        return Err(too_long());
                    }
                    body.append(&mut line);
                }
            }
        }
    }

    fn read_line(&mut self) -> Result<RepairLine> {
        let Some(mut line) = self.raw_line()? else {
            return Ok(RepairLine::End);
        };
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        let Some(rest) = line.strip_prefix(MARK) else {
            let slashes = line.iter().take_while(|byte| **byte == b'\\').count();
            if slashes > 0 && line.get(slashes..).is_some_and(|rest| rest.starts_with(MARK)) {
                line.remove(0);
            }
            return Ok(RepairLine::Data(line));
        };
        let rest = rest.trim_ascii();
        let (word, json) = rest.split_at(rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len()));
        Ok(match word {
            b"header" => RepairLine::Control(Control::Header),
            b"row" => RepairLine::Control(Control::Row(
                serde_json::from_slice(json.trim_ascii()).map_err(|why| why.to_string()),
            )),
            b"note" => RepairLine::Note,
            _ => RepairLine::Control(Control::Row(Err("a control line with an unknown word".to_owned()))),
        })
    }

    fn raw_line(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let limit = count_u64(UNIT_LIMIT);
        let read = self.input.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        if read >= UNIT_LIMIT && line.last() != Some(&b'\n') {
            return Err(too_long());
        }
        self.line += 1;
        self.byte_offset += count_u64(read);
        Ok(Some(line))
    }
}

fn too_long() -> Error {
    Error::new(Kind::Data, "a row of the repair file is longer than 64 MiB")
}

/// Writes a repair file.
#[derive(Debug, Default)]
pub struct RepairWriter {
    bytes: Vec<u8>,
    header: Option<Vec<u8>>,
}

impl RepairWriter {
    /// With its title and notes for those who mend it.
    ///
    /// # Errors
    /// [`Kind::Internal`] when the title has no JSON.
    pub fn new(title: &Title, notes: &[&str]) -> Result<Self> {
        let mut writer = Self::default();
        writer.control("repair", title)?;
        for note in notes {
            writer
                .bytes
                .extend_from_slice(format!("#gridtally note {note}\n").as_bytes());
        }
        Ok(writer)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// As [`RepairWriter::new`].
    pub fn row(&mut self, refused: &RefusedUnit, header: &[u8], body: &[u8]) -> Result<()> {
        if self.header.as_deref() != Some(header) {
            self.bytes.extend_from_slice(b"#gridtally header\n");
            self.data(header);
            self.header = Some(header.to_vec());
        }
        self.control("row", refused)?;
        self.data(body);
        Ok(())
    }

    /// Bytes so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The file.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn control(&mut self, word: &str, content: &impl Serialize) -> Result<()> {
        let json = serde_json::to_string(content).map_err(|why| Error::internal("a control line").because(why))?;
        self.bytes
            .extend_from_slice(format!("#gridtally {word} {json}\n").as_bytes());
        Ok(())
    }

    fn data(&mut self, data: &[u8]) {
        for line in data.split_inclusive(|byte| *byte == b'\n') {
            let slashes = line.iter().take_while(|byte| **byte == b'\\').count();
            if line.get(slashes..).is_some_and(|rest| rest.starts_with(MARK)) {
                self.bytes.push(b'\\');
            }
            self.bytes.extend_from_slice(line);
            if line.last() != Some(&b'\n') {
                self.bytes.push(b'\n');
            }
        }
    }
}
