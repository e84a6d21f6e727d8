//! The keys of the tables of APEL's server. A row with the key of another row replaces that row completely.
//!
//! The only place that decides whether two records are one row there: for records about to be sent, records that a receiver
//! holds, and records in a folder of messages.

use std::borrow::Cow;

use xxhash_rust::xxh3::Xxh3;

use super::dictionary::picked;
use super::kind::MessageKind;
use crate::sources::apel::python_scalars;

/// A table messages are loaded into. Versions of one kind share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServerTable {
    /// Single jobs.
    JobRecords,
    /// Summaries with a benchmark.
    Summaries,
    /// Summaries with work in place of a benchmark.
    NormalisedSummaries,
    /// Counts of jobs.
    SyncRecords,
}

/// How a column of a key compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerComparison {
    /// Text; what is unknown is the word `None`.
    Word,
    /// A whole number, however it is written.
    Int,
    /// An instant, however it is written.
    Instant,
    /// The benchmark a record counts by.
    Benchmark,
    /// Its value, to thousandths.
    Level,
}

use ServerComparison::{Benchmark, Instant, Int, Level, Word};

const JOB_RECORDS: &[(&str, ServerComparison)] = &[("Site", Word), ("LocalJobId", Word), ("EndTime", Instant)];

const SUMMARIES: &[(&str, ServerComparison)] = &[
    ("Site", Word),
    ("Year", Int),
    ("Month", Int),
    ("GlobalUserName", Word),
    ("VO", Word),
    ("VOGroup", Word),
    ("VORole", Word),
    ("SubmitHost", Word),
    ("InfrastructureType", Word),
    ("ServiceLevelType", Benchmark),
    ("ServiceLevel", Level),
    ("NodeCount", Int),
    ("Processors", Int),
];

const NORMALISED_SUMMARIES: &[(&str, ServerComparison)] = &[
    ("Site", Word),
    ("Year", Int),
    ("Month", Int),
    ("GlobalUserName", Word),
    ("VO", Word),
    ("VOGroup", Word),
    ("VORole", Word),
    ("SubmitHost", Word),
    ("Infrastructure", Word),
    ("ServiceLevelType", Benchmark),
    ("NodeCount", Int),
    ("Processors", Int),
];

const SYNC_RECORDS: &[(&str, ServerComparison)] =
    &[("Site", Word), ("Year", Int), ("Month", Int), ("SubmitHost", Word)];

/// What the server's super-summaries call a column of the key of summaries: they have their own word for one.
#[must_use]
pub fn super_summary_column(name: &'static str) -> &'static str {
    match name {
        "InfrastructureType" => "Infrastructure",
        name => name,
    }
}

impl ServerTable {
    fn columns(self) -> &'static [(&'static str, ServerComparison)] {
        match self {
            Self::JobRecords => JOB_RECORDS,
            Self::Summaries => SUMMARIES,
            Self::NormalisedSummaries => NORMALISED_SUMMARIES,
            Self::SyncRecords => SYNC_RECORDS,
        }
    }

    /// Its name in the server's database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JobRecords => "JobRecords",
            Self::Summaries => "Summaries",
            Self::NormalisedSummaries => "NormalisedSummaries",
            Self::SyncRecords => "SyncRecords",
        }
    }

    /// Names of the columns of its key.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        self.columns().iter().map(|(name, _)| *name).collect()
    }
}

/// The key of a row of the server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerKey {
    /// The table.
    pub table: ServerTable,
    /// Values by column, each as it compares.
    pub parts: Vec<String>,
}

impl ServerKey {
    /// The key of a record of some kind, by its fields; null ones are `None`. `benchmark` and `level` are the name
    /// and the value of what it counts by.
    #[must_use]
    pub fn new<'a>(
        kind: MessageKind,
        field: impl Fn(&str) -> Option<Cow<'a, str>>,
        benchmark: Option<&str>,
        level: Option<&str>,
    ) -> Self {
        let table = kind.table();
        let of = |(name, comparison): &(&str, ServerComparison)| match comparison {
            Word => field(name).map_or_else(none, |word| folded(&word).into_owned()),
            Int => field(name).map_or_else(none, |number| whole(&number)),
            Instant => field(name).map_or_else(none, |instant| seconds(&instant)),
            Benchmark => benchmark.map_or_else(none, |word| folded(word).into_owned()),
            Level => level.map_or_else(none, thousandths),
        };
        Self {
            table,
            parts: table.columns().iter().map(of).collect(),
        }
    }
}

/// The value the server writes for a missing text.
fn none() -> String {
    "none".to_owned()
}

/// The benchmark a record counts by, and its value where it is part of the key: of a dictionary what the server picks.
pub fn benchmark_of<'a>(
    kind: MessageKind,
    field: impl Fn(&str) -> Option<&'a str>,
) -> (Option<&'a str>, Option<&'a str>) {
    let stated = (field("ServiceLevelType"), field("ServiceLevel"));
    if !kind.has_dictionary() {
        return stated;
    }
    let name = if kind.is_normalised() {
        "NormalisedWallDuration"
    } else {
        "ServiceLevel"
    };
    match field(name).map(picked) {
        Some(Ok((benchmark, value))) => (Some(benchmark), Some(value)),
        _ => stated,
    }
}

/// A number without its ornaments.
fn whole(text: &str) -> String {
    text.trim()
        .replace('_', "")
        .parse::<i128>()
        .map_or_else(|_| text.to_owned(), |number| number.to_string())
}

/// An instant as Unix seconds.
fn seconds(text: &str) -> String {
    crate::time::instant::parse_instant_s(text).map_or_else(|| whole(text), |second| second.to_string())
}

/// A decimal to thousandths, half up, as the server's column holds it.
fn thousandths(text: &str) -> String {
    python_scalars::thousandths(text).map_or_else(|| text.to_owned(), |e3| e3.to_string())
}

/// A text as the server compares it: without case, blanks at its end, and what the collation of its databases
/// (`latin1_swedish_ci`) takes for one letter, such as `e` and `é`. Letters that encoding does not have compare without
/// case.
#[must_use]
pub fn folded(text: &str) -> Cow<'_, str> {
    let text = text.trim_end();
    if text.is_ascii() {
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Cow::Owned(text.to_ascii_lowercase());
        }
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().flat_map(char::to_lowercase).map(letter).collect())
}

/// The lower-case form of a letter.
fn letter(letter: char) -> char {
    match letter {
        'à'..='ã' => 'a',
        'å' => '[',
        'ä' | 'æ' => '\\',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ð' => 'd',
        'ñ' => 'n',
        'ò'..='õ' => 'o',
        'ö' => ']',
        'ù'..='û' => 'u',
        'ü' | 'ý' => 'y',
        other => other,
    }
}

/// Stands for the key of a job.
#[must_use]
pub fn job_key(site: &str, job_id: &str, end_s: &str) -> u128 {
    let mut hasher = Xxh3::new();
    for word in [site, job_id] {
        hash_folded(&mut hasher, word);
        hasher.update(b"\n");
    }
    hasher.update(end_s.as_bytes());
    hasher.digest128()
}

/// Hashes a text as it compares; one of ASCII without a copy of it.
fn hash_folded(hasher: &mut Xxh3, text: &str) {
    let text = text.trim_end();
    if !text.is_ascii() {
        return hasher.update(folded(text).as_bytes());
    }
    let mut lower = [0; 64];
    for chunk in text.as_bytes().chunks(lower.len()) {
        if let Some(lower) = lower.get_mut(..chunk.len()) {
            lower.copy_from_slice(chunk);
            lower.make_ascii_lowercase();
            hasher.update(lower);
        }
    }
}
