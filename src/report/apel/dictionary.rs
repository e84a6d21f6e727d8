//! `{HEPSPEC: 10.5, HEPscore23: 12.25}`: the benchmarks of a record of version 0.4, and the one the server picks.

use crate::sources::apel::python_scalars;

/// Names of benchmarks in the order in which the server prefers them.
const BY_PREFERENCE: [&str; 3] = ["hepscore23", "hepspec", "si2k"];

/// The benchmark the server picks of a dictionary: its name in lower case and its value. It throws the others away.
///
/// # Errors
/// What is wrong with the text.
pub fn picked(text: &str) -> Result<(&'static str, &str), &'static str> {
    let inside = text.trim().trim_start_matches('{').trim_end_matches('}');
    let mut entries: Vec<(&str, &str)> = Vec::new();
    for entry in inside.split(',') {
        let mut parts = entry.split(':');
        let (Some(name), Some(value), None) = (parts.next(), parts.next(), parts.next()) else {
            return Err("is not a dictionary such as {hepspec: 10.5}");
        };
        let (name, value) = (name.trim(), value.trim());
        if entries.iter().any(|(known, _)| *known == name) {
            return Err("names a benchmark twice");
        }
        if !is_number(value) {
            return Err("contains a value that is not a number");
        }
        entries.push((name, value));
    }
    let of = |known: &'static str| {
        // Of names that differ in case the server keeps the last.
        let found = entries.iter().rfind(|(name, _)| name.eq_ignore_ascii_case(known));
        found.map(|(_, value)| (known, *value))
    };
    BY_PREFERENCE
        .into_iter()
        .find_map(of)
        .ok_or("names none of hepscore23, hepspec, si2k")
}

/// The names in a dictionary, as they are written; none of a plain number.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    let entries = text.trim_start_matches('{').trim_end_matches('}').split(',');
    entries.filter_map(|entry| Some(entry.split_once(':')?.0.trim()))
}

/// What Python's `float()` takes, single underscores between digits too, without infinities.
pub(super) fn is_number(text: &str) -> bool {
    let Some(text) = python_scalars::without_underscores(text.trim()) else {
        return false;
    };
    let is_digit = text.bytes().any(|b| b.is_ascii_digit());
    let is_plain = text
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    is_digit && is_plain && text.parse::<f64>().is_ok_and(f64::is_finite)
}
