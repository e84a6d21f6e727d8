//! The mark some programs write before UTF-8.

/// The UTF-8 byte order mark.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes from the beginning of a file, without a UTF-8 byte order mark.
pub(crate) fn without_mark(head: &[u8]) -> &[u8] {
    // Fallback: a file without a mark begins with its text.
    head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head)
}
