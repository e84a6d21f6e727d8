//! Which dialect a file speaks, judged by its content.

use std::io::Read;
use std::sync::Arc;

use memchr::memmem;

use super::Pieces;
use super::hints::SacctHeader;
use crate::error::Result;
use crate::pipeline::{Format, SourcePlan};

/// A dialect with a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Slurm `sacct` text with a header.
    Sacct,
    /// APEL messages, and the XML and JSON records of that world.
    Apel,
    /// GRACC index dumps: JSON lines.
    Gracc,
}

impl Dialect {
    /// The word of the pipeline file's `format`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.format().as_str()
    }

    /// The dialect with this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::Sacct, Self::Apel, Self::Gracc]
            .into_iter()
            .find(|dialect| dialect.as_str() == word)
    }

    /// The format a source of this dialect declares.
    #[must_use]
    pub fn format(self) -> Format {
        match self {
            Self::Sacct => Format::Sacct,
            Self::Apel => Format::Apel,
            Self::Gracc => Format::Gracc,
        }
    }

    /// The dialect of a declared format; `None` when it is to be recognised.
    #[must_use]
    pub fn of(format: Format) -> Option<Self> {
        match format {
            Format::Sacct => Some(Self::Sacct),
            Format::Apel => Some(Self::Apel),
            Format::Gracc => Some(Self::Gracc),
            Format::Auto => None,
        }
    }
}

/// Bytes of unpacked input that are enough for [`recognise`].
pub const HEAD_BYTES: usize = 64 * 1024;

/// The dialect whose marks the first bytes (unpacked) bear.
#[must_use]
pub fn recognise(head: &[u8]) -> Option<Dialect> {
    let text = without_mark(head).trim_ascii_start();
    let has = |word: &str| memmem::find(text, word.as_bytes()).is_some();
    match text.first()? {
        b'A' if text.starts_with(b"APEL-") => Some(Dialect::Apel),
        b'<' if has("UsageRecord") || has("SummaryRecord") || has("StorageUsageRecord") => Some(Dialect::Apel),
        b'{' | b'[' if has("\"APEL-") || has("\"UsageRecords\"") => Some(Dialect::Apel),
        b'{' if [
            "\"_source\"",
            "\"_index\"",
            "\"ProbeName\"",
            "\"RawXML\"",
            "\"JobUsageRecord\"",
        ]
        .iter()
        .any(|key| has(key)) =>
        {
            Some(Dialect::Gracc)
        }
        b'{' | b'[' | b'<' => None,
        _ => SacctHeader::find(head).map(|_| Dialect::Sacct),
    }
}

/// Cuts unpacked input of a dialect into pieces that can be parsed on any thread.
///
/// # Errors
/// What the reader of the dialect says.
pub fn pieces(dialect: Dialect, input: Box<dyn Read + Send>, plan: Arc<SourcePlan>) -> Result<Pieces> {
    match dialect {
        Dialect::Sacct => super::sacct::pieces(input, plan),
        Dialect::Apel => super::apel::pieces(input, plan),
        Dialect::Gracc => super::gracc::pieces(input, plan),
    }
}

/// Takes a UTF-8 byte order mark off.
pub(super) fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head)
}
