//! Text of bytes that may not be UTF-8, without making different bytes alike: names are parts of identities.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What readers have in their fingerprint whose identities are made of texts: lakes written when every byte that is not UTF-8 was
/// replaced by the same character are read again. Where jobs are known by numbers, names that were read before stay as they are.
pub(crate) const BYTES_KEPT: &str = "bytes that are not UTF-8 kept";

/// The text of `bytes`: each that is not UTF-8 is written `\xNN`, as OpenSSL writes it in the names of certificates. It is borrowed
/// where none is.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    Cow::Owned(text)
}
