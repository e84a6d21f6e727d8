//! The first bytes of a file.

use crate::byte_order_mark::without_mark;
use crate::numbers::Part;
use memchr::memmem;

/// The first bytes of a file, unpacked.
#[derive(Clone, Copy, Debug)]
pub struct FileHead<'a> {
    /// All of them.
    pub bytes: &'a [u8],
    /// From the first character that is not a blank, without a byte order mark.
    pub text: &'a [u8],
}

impl<'a> FileHead<'a> {
    /// The head of a file that begins with these bytes.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            text: without_mark(bytes).trim_ascii_start(),
        }
    }

    /// The first character.
    #[must_use]
    pub fn first(&self) -> Option<u8> {
        self.text.first().copied()
    }

    /// The first line that is not blank.
    #[must_use]
    pub fn first_line(&self) -> &'a [u8] {
        first_line_of(self.text)
    }

    /// Whether it is JSON or XML.
    #[must_use]
    pub fn is_markup(&self) -> bool {
        matches!(self.first(), Some(b'{' | b'[' | b'<'))
    }

    /// Whether it is JSON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        matches!(self.first(), Some(b'{' | b'['))
    }

    /// Whether it contains a word.
    #[must_use]
    pub fn has(&self, word: &str) -> bool {
        memmem::find(self.text, word.as_bytes()).is_some()
    }
}

/// The first line of a text, without its end.
pub(super) fn first_line_of(text: &[u8]) -> &[u8] {
    text.part(..memchr::memchr(b'\n', text).unwrap_or(text.len()))
}
