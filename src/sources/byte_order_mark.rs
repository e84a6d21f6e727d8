//! The mark some programs write before UTF-8.

/// Takes a UTF-8 byte order mark off.
pub(crate) fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head)
}
