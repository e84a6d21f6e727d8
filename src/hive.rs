//! Hive partition folders: `site=CERN-PROD`, spelled so that every reader gives the value back unchanged.
//!
//! Rule of the spelling: the UTF-8 bytes of a value are percent-encoded once, upper-case hexadecimal, except the
//! letters, digits, `_`, `.` and `-` of ASCII. Found by experiment with `DuckDB` 2.0, Polars 2.1 and `PyArrow` 26.0: all
//! three decode percent sequences once and only once, none turns `+` into a space, and a value with `/`, space, `%`,
//! `%2F`, `=`, `+`, `#`, `?`, quotes, `*`, `[`, `{`, `\`, control characters, a leading dot, `..` or any Unicode comes
//! back as it was, also through their filters. Raw Unicode would be read back as well, but file systems disagree about
//! its normal form, and URLs would spell it differently from the disk. A leading dot is safe because the key precedes
//! it.
//!
//! What the spelling cannot decide is the type a reader guesses: `2024`, `007`, `true`, `NaN`, `inf`, `1e5`, `0x10` and
//! `2024-01-01` are read as numbers, Booleans or dates by at least one of the three unless the reader is given that the column is
//! text (`hive_types` in `DuckDB`, `hive_schema` in Polars, a schema for `partitioning` in `PyArrow`). The views in
//! `gridtally.sql` should set it.
//!
//! Unknown is [`UNKNOWN`], a word like any other to these readers, and null to [`parse`] and to the views in
//! `gridtally.sql`. Hive's own name for it, [`HIVE_NULL`], is read as null by all three, and a null key of a dictionary,
//! which is what `PyArrow` makes of a partition, is what pandas cannot open. [`parse`] takes it for unknown all the same:
//! earlier versions wrote it. A value that happens to be spelled like one of the two gets its first byte escaped: [`parse`]
//! gives it back, while readers that decode first take it for the other.

use crate::numbers::Part;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// How a partition value that is unknown is spelled.
pub const UNKNOWN: &str = crate::schema::UNKNOWN_PARTITION;

/// How Hive spells it.
pub const HIVE_NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Longest file or folder name, in bytes, that the usual file systems take. A longer one is refused when it is used.
pub const MAX_SEGMENT_BYTES: usize = 255;

/// Longest value, in bytes once it is encoded, that is taken for a name. What else is in the name (a key, a month,
/// an ending) needs fewer bytes than remain of [`MAX_SEGMENT_BYTES`].
pub const MAX_VALUE_BYTES: usize = 200;

const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'.').remove(b'-');

/// The folder name of one partition value: `site=A%2FB`. `None` is unknown; callers give it for the empty text too.
#[must_use]
pub fn segment(key: &str, value: Option<&str>) -> String {
    let key = utf8_percent_encode(key, ESCAPED);
    match value {
        Some(word @ (UNKNOWN | HIVE_NULL)) => format!("{key}=%5F{}", word.part(1..)),
        Some(value) => format!("{key}={}", utf8_percent_encode(value, ESCAPED)),
        None => format!("{key}={UNKNOWN}"),
    }
}

/// Bytes of a value once it is encoded.
fn encoded_byte_n(value: &str) -> usize {
    utf8_percent_encode(value, ESCAPED).map(str::len).sum()
}

/// Whether a value can be part of a folder or file name in the lake.
#[must_use]
pub fn is_nameable(value: &str) -> bool {
    // An encoded byte takes three.
    value.len() <= MAX_VALUE_BYTES / 3 || (value.len() <= MAX_VALUE_BYTES && encoded_byte_n(value) <= MAX_VALUE_BYTES)
}

/// The message about a configured value that cannot be part of a folder name.
///
/// # Errors
/// The sentence, where it cannot.
pub fn check_value(noun: &str, value: &str) -> Result<(), String> {
    const SHOWN_CHARS: usize = 40;
    if is_nameable(value) {
        return Ok(());
    }
    let shown: String = value.chars().take(SHOWN_CHARS).collect();
    Err(format!(
        "the {noun} \"{shown}...\" is too long to name a folder of the lake: {} bytes once encoded, {MAX_VALUE_BYTES} are \
         possible; give it a shorter name",
        encoded_byte_n(value)
    ))
}

/// Key and value of a folder name; `None` when it is not of the form `key=value` or does not decode to UTF-8.
#[must_use]
pub fn parse(segment: &str) -> Option<(String, Option<String>)> {
    let (key, value) = segment.split_once('=')?;
    if key.is_empty() {
        return None;
    }
    let decode = |text: &str| {
        percent_decode_str(text)
            .decode_utf8()
            .ok()
            .map(std::borrow::Cow::into_owned)
    };
    let key = decode(key)?;
    if matches!(value, UNKNOWN | HIVE_NULL) {
        return Some((key, None));
    }
    Some((key, Some(decode(value)?)))
}
