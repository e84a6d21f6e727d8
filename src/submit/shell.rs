//! Words of a shell.

/// A word as a shell takes it, whatever it holds.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Words as a line of a shell.
#[must_use]
pub fn line<'a>(words: impl IntoIterator<Item = &'a String>) -> String {
    let words = words.into_iter().map(|word| quoted(word));
    words.collect::<Vec<_>>().join(" ")
}
