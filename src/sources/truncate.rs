//! Values quoted in the detail of a reject, kept short.

/// The first 80 characters of `text`, so that a detail stays one readable sentence.
pub(crate) fn clip(text: &str) -> &str {
    text.char_indices()
        .nth(80)
        .map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}
