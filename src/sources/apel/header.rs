//! The first line of a message decides what its records are.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::acceptance::Acceptance;
use super::summary::SummaryLayout;
use crate::numbers::{Extent, Part};
use crate::sources::truncate::clip;

/// Longest header name searched for; real ones have at most 32 bytes.
const NAME_LIMIT: usize = 64;
const PREFIX_LEN: usize = 5;
static PREFIX: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"APEL-"));
static SUFFIX: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"-message"));

/// What the records of a message are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeaderKind {
    /// Individual jobs; `is_v04` has the benchmark as a dictionary. Any version but v0.4 takes the v0.3 rules, as the
    /// server's record factory does.
    Job {
        /// v0.4
        is_v04: bool,
    },
    /// Usage that arrives aggregated, and counts of it.
    Summary(SummaryLayout),
    /// Cloud and cloud-summary records.
    Other,
    /// A header the server refuses; holds it.
    Unknown(String),
    /// No header at all.
    Missing,
}

impl HeaderKind {
    /// The kind a header line announces. Summaries of v0.1 are those of v0.2; the server knows no such header.
    pub(super) fn of(line: &[u8], acceptance: Acceptance) -> Self {
        let line = String::from_utf8_lossy(line);
        let (name, version) = line.split_once(':').unwrap_or((&line, ""));
        match (name.trim(), version.trim()) {
            ("APEL-individual-job-message", version) => Self::Job {
                is_v04: version == "v0.4",
            },
            ("APEL-summary-job-message", "v0.1") if acceptance == Acceptance::Salvage => {
                Self::Summary(SummaryLayout::Levelled)
            }
            ("APEL-summary-job-message", "v0.2") => Self::Summary(SummaryLayout::Levelled),
            ("APEL-summary-job-message", "v0.3") => Self::Summary(SummaryLayout::Normalised),
            ("APEL-summary-job-message", "v0.4") => Self::Summary(SummaryLayout::LevelledV04),
            ("APEL-normalised-summary-message", "v0.4") => Self::Summary(SummaryLayout::NormalisedV04),
            ("APEL-sync-message", _) => Self::Summary(SummaryLayout::Sync),
            ("APEL-cloud-message" | "APEL-cloud-summary-message", _) => Self::Other,
            _ => Self::Unknown(clip(line.trim()).to_owned()),
        }
    }
}

/// What a search for the next header found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderSearch {
    /// A header starts here (after any blanks of its line).
    Found(usize),
    /// None starts before this byte; from here on more input is needed.
    Pending(usize),
}

/// The first header at or after `from`, as [`search`] finds it. Most of the input is passed over at once: records hold
/// words that begin like a header (`APEL-HTCONDORCE-CONDOR`), and hardly ever one that ends like its name.
pub(super) fn next_header(bytes: &[u8], from: usize, starts_line: bool, is_ended: bool) -> HeaderSearch {
    let mut from = from;
    while let Some(at) = SUFFIX.find(bytes.part(from..)) {
        let suffix = from + at;
        let near = from.max(suffix.less(NAME_LIMIT));
        // The last byte of the prefix may be the first of the suffix.
        if let Some(found) = search(bytes, near, suffix + 1, starts_line, is_ended) {
            return found;
        }
        from = suffix + 1;
    }
    // Without one, a header can only be where the end of the input cuts its name off.
    let near = from.max(bytes.len().less(NAME_LIMIT));
    search(bytes, near, bytes.len(), starts_line, is_ended).unwrap_or_else(|| {
        let pending = bytes.len().less(PREFIX_LEN - 1).max(near);
        HeaderSearch::Pending(if is_ended { bytes.len() } else { pending })
    })
}

/// The first header whose prefix is within these bytes. A header is a line `APEL-...-message: ...`; no key of a record
/// looks like one. `starts_line` is whether the first byte starts a line, `is_ended` that no more input follows.
fn search(bytes: &[u8], from: usize, until: usize, starts_line: bool, is_ended: bool) -> Option<HeaderSearch> {
    let mut from = from;
    loop {
        let found = PREFIX.find(bytes.part(from..until))?;
        let start = from + found;
        from = start + PREFIX_LEN;
        let before = bytes.part(..start);
        let opens_line = match before.iter().rev().find(|b| !matches!(b, b' ' | b'\t')) {
            None => starts_line,
            Some(b) => matches!(b, b'\n' | b'\r'),
        };
        if !opens_line {
            continue;
        }
        let window = bytes.part(start..bytes.len().min(start + NAME_LIMIT));
        let name = window
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || *b == b'-'))
            .unwrap_or(window.len());
        let blanks = window
            .iter()
            .skip(name)
            .position(|b| !matches!(b, b' ' | b'\t'))
            .map_or(window.len(), |n| name + n);
        match window.get(blanks) {
            Some(b':') if window.get(..name).is_some_and(|n| n.ends_with(b"-message")) => {
                return Some(HeaderSearch::Found(start));
            }
            None if window.len() < NAME_LIMIT && !is_ended => return Some(HeaderSearch::Pending(start)),
            _ => {}
        }
    }
}
