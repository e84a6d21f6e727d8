//! The published form of the book: the rows of `inputs` and of `ledger`.

use arrow_array::RecordBatch;

use super::book::{Book, InputEntry};
use super::reason::{Outcome, Reason};
use crate::error::Result;
use crate::schema;
use crate::schema::batch::{counts, dates, texts};
use crate::time::Month;

/// A dataset that the book fills, whole.
pub struct BookTable {
    /// Its name.
    pub dataset: &'static str,
    /// Makes its rows, sorted as it declares.
    pub batch: fn(&Book) -> Result<RecordBatch>,
}

/// The datasets the book fills, to be made one after the other: with many files each takes much memory.
pub const BOOK_TABLES: &[BookTable] = &[
    BookTable {
        dataset: "inputs",
        batch: Book::inputs_batch,
    },
    BookTable {
        dataset: "ledger",
        batch: Book::ledger_batch,
    },
];

/// A file under one of its paths: a row of `inputs`.
#[derive(Clone, Copy)]
struct FileRow<'a> {
    file_id: &'a str,
    path: &'a str,
    /// Which content of the path it is.
    content_n: u32,
    input: &'a InputEntry,
    /// Whether it is the path its rows are accounted to. Under all others its rows are duplicates.
    is_first_path: bool,
}

impl<'a> FileRow<'a> {
    /// By what the rows are sorted.
    fn key(&self) -> [&'a str; 3] {
        [&self.input.source, self.path, self.file_id]
    }

    /// The sample of its jobs, where it has one.
    fn sample(&self) -> Option<String> {
        let sample = &self.input.sample;
        (!sample.is_empty()).then(|| sample.to_string())
    }

    /// How many of its rows ended with an outcome.
    fn row_n(&self, book: &Book, outcome: Outcome) -> u64 {
        match (self.is_first_path, outcome) {
            (true, outcome) => book.outcome_n(self.file_id, outcome),
            (false, Outcome::Duplicate) => self.input.rows_read,
            (false, _) => 0,
        }
    }
}

/// Rows of a file with one site, month and reason: a row of `ledger`.
struct LedgerRow<'a> {
    file: FileRow<'a>,
    site: Option<&'a str>,
    month: Option<Month>,
    reason: Reason,
    row_n: u64,
}

impl Book {
    fn file_rows(&self) -> impl Iterator<Item = FileRow<'_>> {
        self.inputs().iter().flat_map(|(file_id, input)| {
            input.paths.iter().enumerate().map(move |(nth, of)| FileRow {
                file_id,
                path: &of.path,
                content_n: of.content_n,
                input,
                is_first_path: nth == 0,
            })
        })
    }

    /// The published `inputs`. A file found under several paths is accounted to the first; under the others all its rows
    /// are duplicates.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not what the schema declares.
    pub fn inputs_batch(&self) -> Result<RecordBatch> {
        let mut rows: Vec<FileRow<'_>> = self.file_rows().collect();
        rows.sort_by_key(FileRow::key);
        let outcome = |outcome: Outcome| counts(rows.iter().map(|row| row.row_n(self, outcome)));
        schema::dataset("inputs")?.batch(vec![
            texts(rows.iter().map(|row| Some(&row.input.source))),
            texts(rows.iter().map(|row| Some(row.path))),
            texts(rows.iter().map(|row| Some(row.file_id))),
            counts(rows.iter().map(|row| u64::from(row.content_n))),
            texts(rows.iter().map(|row| Some(&row.input.format))),
            counts(rows.iter().map(|row| row.input.bytes)),
            texts(rows.iter().map(|row| Some(&row.input.blake3))),
            counts(rows.iter().map(|row| row.input.rows_read)),
            outcome(Outcome::Accepted),
            outcome(Outcome::Duplicate),
            outcome(Outcome::Superseded),
            outcome(Outcome::Rejected),
            outcome(Outcome::OutOfScope),
            texts(rows.iter().map(FileRow::sample)),
        ])
    }

    /// The published `ledger`. Under every path but its first, all rows of a file have the reason `same_file`.
    ///
    /// # Errors
    /// As [`Book::inputs_batch`].
    pub fn ledger_batch(&self) -> Result<RecordBatch> {
        let mut rows: Vec<LedgerRow<'_>> = Vec::new();
        for file in self.file_rows() {
            if !file.is_first_path {
                rows.push(LedgerRow {
                    row_n: file.input.rows_read,
                    file,
                    site: None,
                    month: None,
                    reason: Reason::SameFile,
                });
                continue;
            }
            for (place, row_n) in self.places(file.file_id).into_iter().flatten() {
                rows.push(LedgerRow {
                    file,
                    site: place.site.as_deref(),
                    month: place.month,
                    reason: place.reason,
                    row_n: *row_n,
                });
            }
        }
        rows.sort_by_key(|row| {
            let reason = (row.reason.outcome().as_str(), row.reason.code());
            (row.file.key(), row.site, row.month, reason)
        });
        schema::dataset("ledger")?.batch(vec![
            texts(rows.iter().map(|row| Some(&row.file.input.source))),
            texts(rows.iter().map(|row| Some(row.file.path))),
            texts(rows.iter().map(|row| Some(row.file.file_id))),
            texts(rows.iter().map(|row| row.site)),
            dates(rows.iter().map(|row| row.month.map(Month::first_day))),
            texts(rows.iter().map(|row| Some(row.reason.outcome().as_str()))),
            texts(rows.iter().map(|row| Some(row.reason.code()))),
            counts(rows.iter().map(|row| row.row_n)),
        ])
    }
}
