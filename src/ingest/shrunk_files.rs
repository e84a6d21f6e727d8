//! Files that became a part of what they were: the rows that are no longer in them still count.

use std::fmt::Write as _;

use ahash::AHashMap;
use serde::Serialize;

use super::read_file::LedgerFiles;
use crate::ledger::book::InputEntry;
use crate::ledger::path_contents::SourcePath;
use crate::ledger::{Book, Outcome};

/// Files that are named to people; a program gets all of them.
const NAMED: usize = 10;

/// A file with fewer rows than the content that was under its path before, and no new one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ShrunkFile {
    /// Source.
    pub source: String,
    /// File.
    pub path: String,
    /// Its rows.
    pub rows_read_n: u64,
    /// Rows of the content before.
    pub former_rows_read_n: u64,
    /// Of these, rows that are no longer in the file and count all the same.
    pub kept_n: u64,
}

/// The content that a path has now.
struct PathContent<'a> {
    content_n: u32,
    file_id: &'a str,
    input: &'a InputEntry,
}

/// Those among the files that were read, now that the ledger knows where each row ended. A file that holds other rows than before, as
/// a log that was rotated or a dump that is written over each day, is none.
pub(crate) fn shrunk(files: LedgerFiles<'_>, book: &Book) -> Vec<ShrunkFile> {
    let mut replacing: AHashMap<SourcePath<'_>, PathContent<'_>> = AHashMap::new();
    for (reading, file_id) in files.readings.iter().zip(files.ids) {
        let Some(input) = book.inputs().get(file_id).filter(|_| !reading.source.is_inventory()) else {
            continue;
        };
        for of in reading.found_paths() {
            if let Some(content_n) = input.paths.content_n(of.path).filter(|content_n| *content_n > 1) {
                let content = PathContent {
                    content_n,
                    file_id: file_id.as_ref(),
                    input,
                };
                replacing.insert(of, content);
            }
        }
    }
    if replacing.is_empty() {
        return Vec::new();
    }
    let mut shrunk = Vec::new();
    for (file_id, former) in book.inputs() {
        for former_path in &former.paths {
            let of = SourcePath {
                source: &former.source,
                path: &former_path.path,
            };
            let now = replacing.get(&of);
            let is_less = |now: &&PathContent<'_>| {
                now.content_n == former_path.content_n + 1 && now.input.rows_read < former.rows_read
            };
            if let Some(now) = now.filter(is_less)
                && let Some(kept_n) = kept(book, file_id, now)
            {
                shrunk.push(ShrunkFile {
                    source: of.source.to_owned(),
                    path: of.path.to_owned(),
                    rows_read_n: now.input.rows_read,
                    former_rows_read_n: former.rows_read,
                    kept_n,
                });
            }
        }
    }
    shrunk.sort();
    shrunk
}

/// Rows of a former content that count although the content `now` lacks them; `None` where that one has new rows, or none that
/// counts.
fn kept(book: &Book, former_id: &str, now: &PathContent<'_>) -> Option<u64> {
    let count = |file_id: &str, outcome| {
        // Fallback: an outcome that no row of a file has is that of none.
        book.outcomes(file_id).get(&outcome).copied().unwrap_or_default()
    };
    let accepted_n = count(now.file_id, Outcome::Accepted);
    let is_part = accepted_n > 0 && accepted_n <= count(former_id, Outcome::Duplicate);
    let kept_n = count(former_id, Outcome::Accepted);
    (is_part && kept_n > 0).then_some(kept_n)
}

/// A line for each, for people.
pub(crate) fn shrunk_text(files: &[ShrunkFile]) -> String {
    let mut text = String::new();
    for file in files.iter().take(NAMED) {
        let _ = writeln!(
            text,
            "  {} has {} rows, none of them new, and had {}: those that are no longer in it still count ({})",
            file.path, file.rows_read_n, file.former_rows_read_n, file.kept_n
        );
    }
    if let Some(more) = files.len().checked_sub(NAMED).filter(|more| *more > 0) {
        let _ = writeln!(text, "  further files with fewer rows than before: {more}");
    }
    text
}
