//! What is absent, where an empty value states the same.
//!
//! In: what may be there. Out: what is there, or the empty value. Promise: each function is one rule, under which an empty value
//! hides nothing; a call states by its name which of them holds. An amount has no place here: one that is unknown stays
//! `None`.

/// The text of a name or field that may be unknown, for keys, tables and parsers of lists: nothing, as CSV writes null and as
/// a list of nothing is written. Whoever has to distinguish a text that is unknown from one that is empty takes the `Option`.
#[inline]
#[must_use]
pub fn text(text: Option<&str>) -> &str {
    // Fallback: an unknown text is an empty one, as the function states.
    text.unwrap_or_default()
}

/// What a map holds under a key: under one that it does not have, what a new entry would hold.
#[inline]
#[must_use]
pub fn entry<T: Default>(found: Option<T>) -> T {
    // Fallback: a key without an entry has nothing, as a new one.
    found.unwrap_or_default()
}

/// The list that a map holds under a key: nothing was listed under a key that it does not have.
#[inline]
#[must_use]
pub fn list<T>(found: Option<&Vec<T>>) -> &[T] {
    // Fallback: a key without a list has nothing listed under it.
    found.map(Vec::as_slice).unwrap_or_default()
}

/// A part of a sentence or a label that not all of its kind have.
#[inline]
#[must_use]
pub fn phrase(part: Option<String>) -> String {
    // Fallback: a sentence without the part is written without it.
    part.unwrap_or_default()
}
