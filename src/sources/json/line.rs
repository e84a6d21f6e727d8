//! A line of JSON as it is read: as bytes, and as text where all of it is.

use std::ops::Range;

use super::marks::BackslashSpan;
use super::text::JsonText;
use crate::numbers::Part;

/// A line, and what is known of all of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonLine<'a> {
    pub(super) bytes: &'a [u8],
    /// The same, unless some of it is not UTF-8: to find that out once costs less than for every string.
    text: Option<&'a str>,
    backslashes: BackslashSpan,
}

impl<'a> JsonLine<'a> {
    /// Of these bytes, outside whose `backslashes` there are none.
    pub(super) fn new(bytes: &'a [u8], backslashes: BackslashSpan) -> Self {
        Self {
            bytes,
            // Fallback: of a line that is not UTF-8 every string is looked at by itself.
            text: simdutf8::basic::from_utf8(bytes).ok(),
            backslashes,
        }
    }

    /// The string between two quotes.
    #[inline]
    pub(super) fn string(&self, between: Range<usize>) -> JsonText<'a> {
        let has_escapes = self.has_escapes(&between);
        if !has_escapes && let Some(text) = self.text.and_then(|text| text.get(between.clone())) {
            return JsonText::plainly(text);
        }
        JsonText::unusual(self.bytes.part(between), has_escapes)
    }

    /// Whether a string has escapes.
    #[inline]
    pub(super) fn has_escapes(&self, between: &Range<usize>) -> bool {
        self.backslashes.may_be_in(between) && memchr::memchr(b'\\', self.bytes.part(between.clone())).is_some()
    }
}
