//! What a verification finds, for people and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::recompute::Recomputed;
use crate::numbers::count_u64;
use crate::store::Heads;

/// Leftovers that are named to people.
const SHOWN_LEFTOVERS: usize = 5;

/// What was checked and what was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct VerifyReport {
    /// Lake.
    pub output: String,
    /// Whether the content of the files was verified; files that are not those of the manifest prove nothing, and nothing is
    /// counted then.
    pub is_content_verified: bool,
    /// Files checked.
    pub files_n: u64,
    /// Records counted.
    pub records_n: u64,
    /// Input rows accounted for.
    pub rows_n: u64,
    /// Where each book ends.
    pub books: Heads,
    /// What was computed again from what it is made of, and compared value by value.
    pub recomputed: Vec<Recomputed>,
    /// What could not be computed again, and why.
    pub not_recomputed: Vec<String>,
    /// What interrupted writes left behind, as (path, what it is): no part of what is published.
    pub leftovers: Vec<(String, String)>,
    /// Everything that is not as it should be, as (path, problem).
    pub findings: Vec<(String, String)>,
    /// How many of these are of a commit that was cut off, which the next run finishes.
    pub unfinished_n: u64,
}

impl VerifyReport {
    /// Whether all is well.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether a commit was cut off, and nothing else is wrong.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.unfinished_n > 0 && self.unfinished_n == count_u64(self.findings.len())
    }

    /// The report for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (path, problem) in &self.findings {
            let _ = writeln!(text, "{path}: {problem}");
        }
        for (book, head) in self.books.iter().filter(|(_, head)| head.page_n > 0) {
            let _ = writeln!(text, "{book}: {} pages, head {}", head.page_n, head.blake3);
        }
        for recomputed in &self.recomputed {
            let _ = writeln!(text, "recomputed: {recomputed}");
        }
        for left in &self.not_recomputed {
            let _ = writeln!(text, "not recomputed: {left}");
        }
        for (path, what) in self.leftovers.iter().take(SHOWN_LEFTOVERS) {
            let _ = writeln!(text, "{path}: {what}");
        }
        if let Some(more) = self
            .leftovers
            .len()
            .checked_sub(SHOWN_LEFTOVERS)
            .filter(|more| *more > 0)
        {
            let _ = writeln!(text, "further files left over: {more}");
        }
        let verdict = if self.is_sound() {
            "sound"
        } else if self.is_content_verified {
            "NOT sound"
        } else {
            "NOT sound; what the files hold was not verified"
        };
        let _ = write!(text, "{}: {verdict}", self.output);
        if self.is_content_verified {
            let (files_n, records_n, rows_n) = (self.files_n, self.records_n, self.rows_n);
            let _ = write!(
                text,
                "; {files_n} files, {records_n} records, {rows_n} input rows accounted for"
            );
        }
        text.push('\n');
        text
    }

    /// Adds what is not as it should be.
    pub(super) fn find(&mut self, path: &str, problem: impl Into<String>) {
        self.findings.push((path.to_owned(), problem.into()));
    }
}
