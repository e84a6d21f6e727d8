//! What a person must know of the inputs a run read: rows that were refused and why, files of which nothing was read,
//! files that hold nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use super::first_refusal::{FirstRefusal, SHOWN};
use super::read_file::{LedgerFiles, ReadFile};
use super::seen::SeenFiles;
use super::shrunk_files::{ShrunkFile, shrunk};
use crate::dedupe::ToolMessage;
use crate::ledger::{Book, Outcome, Reason};
use crate::lines::shortened;

/// Files that are named to people; a program gets all of them.
const NAMED: usize = 10;

/// Rows of a file that were refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedReason {
    /// Its code.
    pub reason: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Rows.
    pub row_n: u64,
    /// The first of them; `None` where a later stage than reading refused them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstRefusal>,
}

/// A file with rows that were refused, or with messages of the tool that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedFile {
    /// Source.
    pub source: String,
    /// File.
    pub path: String,
    /// Its rows.
    pub rows_read_n: u64,
    /// Of these, refused.
    pub rejected_n: u64,
    /// Whether none of its rows could be read.
    pub is_unread: bool,
    /// Whether a part of it is cut off or damaged: how many rows were in that is not known.
    pub is_part_lost: bool,
    /// Whether it ends within a row, text of it was lost, or the tool that made it has a message among its rows: rows may be missing,
    /// and how many is not known.
    pub is_incomplete: bool,
    /// The commonest first.
    pub reasons: Vec<RefusedReason>,
}

/// A file without a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EmptyFile {
    /// Source.
    pub source: String,
    /// File.
    pub path: String,
    /// Its bytes: a file may be a header and nothing else.
    pub bytes: u64,
}

/// What a source had in this run, for its limits.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceSums {
    /// Files the lake did not hold before; where files it did hold lose more rows than then, all that were read.
    pub(crate) new_files: u64,
    /// Of these, files of which nothing was read, unless it was so before.
    pub(crate) unread_files: u64,
    /// The same of files of which a part is lost.
    pub(crate) part_lost_files: u64,
    /// Rows of the new files.
    pub(crate) new_rows: u64,
    /// Their refused rows, except those the pipeline is configured to reject, and those of files that lose no more than before.
    pub(crate) new_rejected: u64,
    /// Files and rows that the lake held before.
    known: KnownSums,
    /// Rows of all files that were read.
    pub(crate) rows: u64,
    /// Rows of all files that were read and refused.
    pub(crate) rejected: u64,
}

/// What was read again of a source.
#[derive(Clone, Debug, Default)]
struct KnownSums {
    file_n: u64,
    row_n: u64,
    /// Some of it loses more rows than before, as under another rule of its source.
    is_worse: bool,
}

/// What the lake knew of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing.
    New,
    /// That it lost as many rows, or more.
    AsBefore,
    /// That it lost fewer.
    Worse,
}

/// What is noted while files are read, until it is known where all rows ended.
pub(crate) struct Notes {
    /// Rows refused when the lake took the file, by file id.
    before: BTreeMap<Arc<str>, u64>,
    /// The first refusal for each reason, by file id.
    first: BTreeMap<Arc<str>, BTreeMap<Reason, FirstRefusal>>,
}

/// What a run found out about the files it read.
#[derive(Default)]
pub(crate) struct Findings {
    /// Files with refused rows: those of which nothing was read first, then those of which a part is lost, those that are
    /// incomplete, then those with the most.
    pub(crate) refused: Vec<RefusedFile>,
    /// Files without a row.
    pub(crate) empty: Vec<EmptyFile>,
    /// Files that became a part of what they were.
    pub(crate) shrunk: Vec<ShrunkFile>,
    /// Rows of the files that were read, by outcome.
    pub(crate) outcomes: BTreeMap<String, u64>,
    /// Sums by source.
    pub(crate) sources: BTreeMap<String, SourceSums>,
}

impl Notes {
    /// Before anything is entered: the entries of files in the lake, and the former ones where it is being rebuilt.
    pub(crate) fn begin<'a>(file_ids: impl Iterator<Item = &'a Arc<str>>, book: &Book, former: &Book) -> Self {
        let known = |id: &&Arc<str>| {
            let book = [book, former]
                .into_iter()
                .find(|book| book.inputs().contains_key(&***id))?;
            let rejected = book.outcomes(id).get(&Outcome::Rejected).copied();
            // Fallback: a file without refused rows has a count of none.
            Some((Arc::clone(id), rejected.unwrap_or_default()))
        };
        Self {
            before: file_ids.filter_map(|id| known(&id)).collect(),
            first: BTreeMap::new(),
        }
    }

    /// Keeps the examples of a file that was read.
    pub(crate) fn take(&mut self, file_id: &Arc<str>, read: &mut ReadFile) {
        let mut first = read.rejects.take_first();
        if let Some(ToolMessage { line, text }) = read.tool_message.take() {
            first.insert(
                Reason::ToolMessage,
                FirstRefusal::new(line, &shortened(&text, SHOWN), None),
            );
        }
        if !first.is_empty() {
            self.first.insert(Arc::clone(file_id), first);
        }
    }

    /// What became of the files, now that the ledger knows where each row ended.
    pub(crate) fn settle(mut self, files: LedgerFiles<'_>, seen: &[SeenFiles], book: &Book) -> Findings {
        let mut findings = Findings {
            shrunk: shrunk(files, book),
            ..Findings::default()
        };
        for (reading, file_id) in files.readings.iter().zip(files.ids) {
            // Fallback: a file without refused rows has no first refusals.
            let first = self.first.remove(file_id).unwrap_or_default();
            let outcome = Ended::of(book, file_id, &first);
            let known = match self.before.get(file_id) {
                None => Known::New,
                Some(before) if outcome.rejected_n > *before => Known::Worse,
                Some(_) => Known::AsBefore,
            };
            findings.count(&reading.source.name, &outcome, known);
            for (outcome, rows) in book.outcomes(file_id) {
                *findings.outcomes.entry(outcome.to_string()).or_default() += rows;
            }
            let copies: BTreeSet<&String> = reading.new_copies.iter().chain([&reading.file.path]).collect();
            for path in copies {
                findings.name(&reading.source.name, path, reading.file.bytes, &outcome);
            }
        }
        for seen in seen {
            let Some(input) = book.inputs().get(&*seen.file_id) else {
                continue;
            };
            let outcome = Ended::of(book, &seen.file_id, &BTreeMap::new());
            if outcome.rows_n == 0 || outcome.is_unread {
                // The same refusal as in an earlier run.
                findings.count(&input.source, &outcome, Known::New);
                findings.name(&input.source, &seen.path, input.bytes, &outcome);
            }
        }
        for sums in findings.sources.values_mut() {
            sums.weigh_known();
        }
        findings.refused.sort_by(|a, b| {
            let key = |file: &RefusedFile| {
                let rejected_n = std::cmp::Reverse(file.rejected_n);
                (!file.is_unread, !file.is_part_lost, !file.is_incomplete, rejected_n)
            };
            (key(a), &a.source, &a.path).cmp(&(key(b), &b.source, &b.path))
        });
        findings
            .empty
            .sort_by(|a, b| (&a.source, &a.path).cmp(&(&b.source, &b.path)));
        findings
    }
}

/// Whether the pipeline is configured to reject rows for this reason.
fn is_configured(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::BenchmarkMissing | Reason::SummaryBenchmarkMissing | Reason::OverlapsJobs
    )
}

/// Where the rows of one file ended.
struct Ended {
    rows_n: u64,
    rejected_n: u64,
    /// Refused, and not by configuration.
    unexpected_n: u64,
    is_unread: bool,
    is_part_lost: bool,
    is_incomplete: bool,
    reasons: Vec<RefusedReason>,
}

impl Ended {
    fn of(book: &Book, file_id: &str, first: &BTreeMap<Reason, FirstRefusal>) -> Self {
        let mut rows: BTreeMap<Reason, u64> = BTreeMap::new();
        for (place, n) in book.places(file_id).into_iter().flatten() {
            *rows.entry(place.reason).or_default() += n;
        }
        let rows_n = rows.values().sum();
        let of = |is: &dyn Fn(Reason) -> bool| -> u64 {
            let of = rows.iter().filter(|(reason, _)| is(**reason));
            of.map(|(_, n)| n).sum()
        };
        let is_rejected = |reason: Reason| reason.outcome() == Outcome::Rejected;
        let unexpected_n = of(&|reason| is_rejected(reason) && !is_configured(reason));
        // A repeated header is not a message.
        let has_message = first.contains_key(&Reason::ToolMessage);
        let message_n = of(&|reason| reason == Reason::ToolMessage);
        let is_unread = unexpected_n + message_n == rows_n && (unexpected_n > 0 || has_message);
        let is_part_lost = !is_unread && rows.contains_key(&Reason::UnreadableFile);
        let is_incomplete = !is_unread && (has_message || rows.contains_key(&Reason::Truncated));
        let mut reasons: Vec<RefusedReason> = rows
            .iter()
            .filter(|(reason, _)| is_rejected(**reason) || (has_message && **reason == Reason::ToolMessage))
            .map(|(reason, row_n)| RefusedReason {
                reason: reason.code(),
                meaning: reason.meaning(),
                row_n: *row_n,
                first: first.get(reason).cloned(),
            })
            .collect();
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.row_n));
        Self {
            rows_n,
            rejected_n: of(&is_rejected),
            unexpected_n,
            is_unread,
            is_part_lost,
            is_incomplete,
            reasons,
        }
    }
}

impl SourceSums {
    /// What files lose that were read under another rule before is a share of all that is read by the new one, as in a new lake.
    fn weigh_known(&mut self) {
        if self.known.is_worse {
            self.new_files += self.known.file_n;
            self.new_rows += self.known.row_n;
        }
    }
}

impl Findings {
    fn count(&mut self, source: &str, outcome: &Ended, known: Known) {
        let sums = self.sources.entry(source.to_owned()).or_default();
        sums.rows += outcome.rows_n;
        sums.rejected += outcome.rejected_n;
        if known == Known::New {
            sums.new_files += 1;
            sums.new_rows += outcome.rows_n;
        } else {
            sums.known.file_n += 1;
            sums.known.row_n += outcome.rows_n;
        }
        if known != Known::AsBefore {
            sums.known.is_worse |= known == Known::Worse;
            sums.unread_files += u64::from(outcome.is_unread);
            sums.part_lost_files += u64::from(outcome.is_part_lost);
            sums.new_rejected += outcome.unexpected_n;
        }
    }

    fn name(&mut self, source: &str, path: &str, bytes: u64, outcome: &Ended) {
        let (source, path) = (source.to_owned(), path.to_owned());
        if outcome.rows_n == 0 {
            self.empty.push(EmptyFile { source, path, bytes });
        } else if !outcome.reasons.is_empty() {
            self.refused.push(RefusedFile {
                source,
                path,
                rows_read_n: outcome.rows_n,
                rejected_n: outcome.rejected_n,
                is_unread: outcome.is_unread,
                is_part_lost: outcome.is_part_lost,
                is_incomplete: outcome.is_incomplete,
                reasons: outcome.reasons.clone(),
            });
        }
    }
}

impl RefusedFile {
    /// What happened to it, and the reasons with an example each.
    fn text(&self, is_warned: bool) -> String {
        let Self { path, rejected_n, .. } = self;
        let what = match (self.is_unread, rejected_n) {
            (true, 0) => "nothing was read, it holds messages of the tool and no rows".to_owned(),
            (true, _) => format!("nothing was read, {rejected_n} of {} rows refused", self.rows_read_n),
            (false, _) if self.is_part_lost => {
                format!(
                    "{rejected_n} of {} rows refused, and a part of it is lost",
                    self.rows_read_n
                )
            }
            (false, 0) => "rows may be missing".to_owned(),
            (false, _) if self.is_incomplete => {
                format!(
                    "{rejected_n} of {} rows refused, and rows may be missing",
                    self.rows_read_n
                )
            }
            (false, _) => format!("{rejected_n} of {} rows refused", self.rows_read_n),
        };
        let mark = if is_warned && (self.is_unread || self.is_part_lost || self.is_incomplete) {
            "warning: "
        } else {
            ""
        };
        let mut text = format!("  {mark}{path}: {what}\n");
        for reason in self.reasons.iter().take(SHOWN_REASONS) {
            let _ = write!(text, "    {} {}", reason.row_n, reason.reason);
            match &reason.first {
                None => {
                    let _ = write!(text, ": {}", reason.meaning);
                }
                Some(FirstRefusal { line: 0, detail, .. }) => {
                    let _ = write!(text, ": {detail}");
                }
                Some(FirstRefusal { line, detail, raw }) => {
                    let _ = write!(text, ", first in line {line}: {detail}");
                    if let Some(raw) = raw {
                        let _ = write!(text, "\n      {}", raw.escape_debug());
                    }
                }
            }
            text.push('\n');
        }
        if let Some(more) = self.reasons.len().checked_sub(SHOWN_REASONS).filter(|more| *more > 0) {
            let _ = writeln!(text, "    further reasons: {more}");
        }
        text
    }
}

/// Reasons of one file that are named to people.
const SHOWN_REASONS: usize = 3;

/// The files with refused rows, for people: the first ones, and how many more there are.
pub(crate) fn refused_text<'a>(files: impl Iterator<Item = &'a RefusedFile>, is_warned: bool) -> String {
    let files: Vec<&RefusedFile> = files.collect();
    let mut text = String::new();
    for file in files.iter().take(NAMED) {
        text.push_str(&file.text(is_warned));
    }
    if let Some(rest) = files.get(NAMED..).filter(|rest| !rest.is_empty()) {
        let rows: u64 = rest.iter().map(|file| file.rejected_n).sum();
        let _ = writeln!(text, "  further files with refused rows: {}, rows: {rows}", rest.len());
    }
    text
}

/// The files without a row, for people.
pub(crate) fn empty_text(files: &[EmptyFile]) -> String {
    let mut text = String::new();
    for EmptyFile { path, bytes, .. } in files.iter().take(NAMED) {
        let what = if *bytes == 0 { "is empty" } else { "holds no row" };
        let _ = writeln!(text, "  warning: {path} {what} ({bytes} bytes)");
    }
    if let Some(more) = files.len().checked_sub(NAMED).filter(|more| *more > 0) {
        let _ = writeln!(text, "  warning: further files without a row: {more}");
    }
    text
}
