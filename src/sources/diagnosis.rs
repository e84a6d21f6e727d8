//! What the first bytes of a file state about it.

use memchr::memmem;

use super::dialect::Dialect;
use super::hints::Hints;

/// Looks at the first bytes (unpacked) of a file.
#[must_use]
pub fn of(dialect: Option<Dialect>, head: &[u8]) -> Hints {
    dialect.map_or_else(
        || Hints {
            problems: vec![super::unsupported_files::problem(head).to_owned()],
            ..Hints::default()
        },
        |dialect| (dialect.row().hints)(head),
    )
}

/// The quoted text that follows a key.
pub(super) fn quoted_after(head: &[u8], key: &str) -> Option<String> {
    let at = memmem::find(head, key.as_bytes())?;
    quoted(head.get(at + key.len()..)?)
}

/// The text between the first two quotes.
pub(super) fn quoted(text: &[u8]) -> Option<String> {
    let open = memchr::memchr(b'"', text)?;
    let inner = text.get(open + 1..)?;
    let inner = inner.get(..memchr::memchr(b'"', inner)?)?;
    Some(String::from_utf8_lossy(inner).into_owned())
}
