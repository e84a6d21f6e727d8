//! Reading small CSV tables by column name, with every mistake reported by line.

use std::io::{Cursor, Read};
use std::path::Path;

use super::table_columns::{TableColumn, names};
use crate::byte_order_mark::BYTE_ORDER_MARK;
use crate::diagnostics::{Problems, did_you_mean};
use crate::error::Result;
use crate::numbers::index_u64;
use crate::small_file::{self, TABLE_LIMIT_BYTES};

/// The cells of a CSV table in memory. Lines starting with `#` are comments; blanks around cells are cut off.
#[derive(Debug)]
pub(super) struct CsvTable {
    /// The header.
    pub(super) columns: Vec<String>,
    /// Its 1-based line.
    pub(super) header_line: usize,
    /// Each row with its 1-based line; as many cells as the header has.
    pub(super) rows: Vec<(usize, Vec<String>)>,
    /// Whether mistakes in its header were reported.
    pub(super) is_reported: bool,
}

/// Opens the table at `path`, of at most 256 MiB; a failure to read it is reported as a mistake of `file`.
pub(super) fn open(path: &Path, file: &str, problems: &mut Problems) -> Option<Cursor<Vec<u8>>> {
    match small_file::read(path, TABLE_LIMIT_BYTES) {
        Ok(bytes) => Some(Cursor::new(bytes)),
        Err(why) => {
            problems.mistake(file, 0, format!("cannot be read: {why}"));
            None
        }
    }
}

/// Reads the table at `path` by `read`, which gets its name and where to report mistakes.
///
/// # Errors
/// [`crate::error::Kind::Config`] naming file and line of every mistake.
pub(super) fn load<T: Default>(path: &Path, read: impl FnOnce(Cursor<Vec<u8>>, &str, &mut Problems) -> T) -> Result<T> {
    let (file, mut problems) = (path.display().to_string(), Problems::default());
    let input = open(path, &file, &mut problems);
    let table = input.map(|input| read(input, &file, &mut problems));
    problems.finish()?;
    // Fallback: never taken, a table that cannot be opened is a mistake.
    Ok(table.unwrap_or_default())
}

impl CsvTable {
    /// Reads all of it. Rows that do not fit the header are reported and left out.
    pub(super) fn read(mut input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let mut table = Self {
            columns: Vec::new(),
            header_line: 1,
            rows: Vec::new(),
            is_reported: false,
        };
        let mut bytes = Vec::new();
        if let Err(why) = input.read_to_end(&mut bytes) {
            problems.mistake(file, 0, format!("cannot be read: {why}"));
            table.is_reported = true;
            return table;
        }
        let mut lines = RecordLines::new(&bytes);
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .from_reader(bytes.as_slice());
        match reader.headers() {
            Ok(header) => {
                table.header_line = lines.of(header.position());
                table.columns = header.iter().map(str::to_owned).collect();
            }
            Err(why) => {
                problems.mistake(file, lines.of(why.position()), unreadable(&why));
                table.is_reported = true;
                return table;
            }
        }
        if let Some(other) = OtherSeparator::of(&table.columns) {
            problems.mistake(file, table.header_line, other.message());
            table.columns.clear();
            table.is_reported = true;
            return table;
        }
        for (nth, column) in table.columns.iter().enumerate() {
            if table.columns.iter().take(nth).any(|earlier| earlier == column) {
                let message = format!("the column \"{column}\" occurs twice in the header");
                problems.mistake(file, table.header_line, message);
            }
        }
        for record in reader.into_records() {
            match record {
                Ok(record) => {
                    let line = lines.of(record.position());
                    if record.len() == table.columns.len() {
                        table.rows.push((line, record.iter().map(str::to_owned).collect()));
                    } else {
                        let (found, wanted) = (record.len(), table.columns.len());
                        problems.mistake(file, line, format!("{found} cells where the header has {wanted}"));
                    }
                }
                Err(why) => problems.mistake(file, lines.of(why.position()), unreadable(&why)),
            }
        }
        table
    }

    /// The place of a column, or a mistake.
    pub(super) fn column(&self, name: &str, file: &str, problems: &mut Problems) -> Option<usize> {
        let place = self.columns.iter().position(|column| column == name);
        if place.is_none() && !self.is_reported {
            problems.mistake(file, self.header_line, format!("the header has no column \"{name}\""));
        }
        place
    }

    /// Whether the header has every column that must be there; those that are missing or unknown are reported.
    pub(super) fn has_header(&self, columns: &[TableColumn], file: &str, problems: &mut Problems) -> bool {
        self.refuse_unknown(&names(columns), file, problems);
        let needed = columns.iter().filter(|column| column.is_required);
        let missing = needed.filter(|column| self.column(column.name, file, problems).is_none());
        missing.count() == 0
    }

    /// A cell of a row by its column; empty when there is no such column.
    pub(super) fn cell<'c>(&self, cells: &'c [String], name: &str) -> &'c str {
        let place = self.columns.iter().position(|column| column == name);
        place.and_then(|place| cells.get(place)).map_or("", String::as_str)
    }

    /// Reports every column that is not in `known`.
    pub(super) fn refuse_unknown(&self, known: &[&str], file: &str, problems: &mut Problems) {
        for column in &self.columns {
            if !known.contains(&column.as_str()) {
                let hint = did_you_mean(column, known.iter().copied());
                let message = format!("unknown column \"{column}\" in the header{hint}");
                problems.mistake(file, self.header_line, message);
            }
        }
    }
}

/// Why a record cannot be read.
fn unreadable(why: &csv::Error) -> String {
    match why.kind() {
        csv::ErrorKind::Utf8 { err, .. } => format!("cell {} is not in UTF-8", err.field() + 1),
        _ => format!("cannot be read: {why}"),
    }
}

/// The lines on which records begin. The position of a record is where its reader was before it skipped comments and
/// empty lines, and the second half of the line end before.
struct RecordLines<'a> {
    bytes: &'a [u8],
    /// The place up to which lines are counted.
    at: usize,
    /// Its 1-based line.
    line: usize,
}

impl<'a> RecordLines<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        Self { bytes, at, line: 1 }
    }

    /// The line on which the record at a position begins; records are in the order of the file.
    fn of(&mut self, position: Option<&csv::Position>) -> usize {
        let from = position.map_or(self.at, |position| index_u64(position.byte()));
        while self.at < from {
            self.step();
        }
        loop {
            match self.bytes.get(self.at) {
                Some(b'\r' | b'\n') => self.step(),
                Some(b'#') => {
                    while self.bytes.get(self.at).is_some_and(|byte| *byte != b'\n') {
                        self.step();
                    }
                }
                _ => return self.line,
            }
        }
    }

    /// Passes one byte. Lines end with LF, CR LF or CR.
    fn step(&mut self) {
        let next = self.at + 1;
        self.line += match self.bytes.get(self.at) {
            Some(b'\n') => 1,
            Some(b'\r') => usize::from(self.bytes.get(next) != Some(&b'\n')),
            _ => 0,
        };
        self.at = next;
    }
}

/// A header whose columns are separated by something else than commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtherSeparator {
    /// What separates them.
    name: &'static str,
    /// The header with commas.
    pub(crate) commas: String,
}

impl OtherSeparator {
    /// What separates the columns of a header that seems to have one alone.
    pub(crate) fn of(header: &[String]) -> Option<Self> {
        let [only] = header else { return None };
        let (separator, name) = [(';', "semicolons"), ('\t', "tabs"), ('|', "bars")]
            .into_iter()
            .find(|(separator, _)| only.contains(*separator))?;
        Some(Self {
            name,
            commas: only.replace(separator, ","),
        })
    }

    /// What to do about it.
    pub(crate) fn message(&self) -> String {
        let Self { name, commas } = self;
        format!("the columns are separated by {name}, commas are needed: {commas}")
    }
}

/// A cell that matches anything: empty or `*`.
pub(super) fn is_any(cell: &str) -> bool {
    cell.is_empty() || cell == "*"
}
