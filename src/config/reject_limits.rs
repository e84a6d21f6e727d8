//! How much a source or a pipeline may refuse.

use toml::de::DeValue;

use crate::diagnostics::Problems;
use crate::diagnostics::section::Section;

/// What `max_rejected` states.
pub(crate) const MAX_REJECTED_DOC: &str =
    "Rows that may be refused before the run fails: a whole number of them, or a fraction from 0.0 to 1.0.";
/// What `max_unread` states.
pub(crate) const MAX_UNREAD_DOC: &str =
    "New files that need not be read, or not to their end: a whole number of them, or a fraction.";

/// What may be refused of a source, or of all of them.
pub(crate) fn reject_limits(section: &Section<'_>, problems: &mut Problems) -> RejectLimits {
    RejectLimits {
        max_rejected: reject_limit(section, "max_rejected", "rows", problems),
        max_unread: reject_limit(section, "max_unread", "files", problems),
    }
}

/// One of them, if it is there.
pub(crate) fn reject_limit(
    section: &Section<'_>,
    key: &str,
    unit: &str,
    problems: &mut Problems,
) -> Option<RejectLimit> {
    let (value, line) = section.get(key)?;
    let limit = match value {
        DeValue::Integer(number) => u64::from_str_radix(&number.as_str().replace('_', ""), number.radix())
            .ok()
            .map(RejectLimit::Count),
        DeValue::Float(number) => number
            .as_str()
            .replace('_', "")
            .parse()
            .ok()
            .filter(|fraction| (0.0..=1.0).contains(fraction))
            .map(RejectLimit::Fraction),
        _ => None,
    };
    if limit.is_none() {
        let message =
            format!("{key} must be a number of {unit} (0, 1, 2, ..) or a fraction of them (0.0 to 1.0; 1.0 is any)");
        section.wrong(line, message, problems);
    }
    limit
}

/// How much may be refused before the run fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RejectLimit {
    /// At most this many.
    Count(u64),
    /// At most this fraction of what was read; 1.0 means any.
    Fraction(f64),
}

/// The rows a source, or the complete pipeline, may refuse; `None` where the pipeline does not set it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RejectLimits {
    /// `max_rejected`: rows that may be refused.
    pub max_rejected: Option<RejectLimit>,
    /// `max_unread`: files that need not be read, or not to their end.
    pub max_unread: Option<RejectLimit>,
}
