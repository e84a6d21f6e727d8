//! Strings of JSON, decoded on request.

use crate::numbers::Part;
use crate::sources::byte_text::text_of;

use std::borrow::Cow;

/// A string between its quotes, not yet decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonText<'a>(Written<'a>);

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written<'a> {
    /// As it is.
    Plainly(&'a str),
    /// With escapes, or in a line that is not all UTF-8.
    Unusually { raw: &'a [u8], has_escapes: bool },
}

impl<'a> JsonText<'a> {
    /// A text that needs no decoding.
    #[must_use]
    pub fn plainly(text: &'a str) -> Self {
        Self(Written::Plainly(text))
    }

    /// A text of which it is not known that it needs no decoding.
    pub(super) fn unusual(raw: &'a [u8], has_escapes: bool) -> Self {
        Self(Written::Unusually { raw, has_escapes })
    }

    /// The text, and whether something in it is none and is written as an escape (bytes that are not UTF-8, unpaired
    /// surrogates).
    #[inline]
    #[must_use]
    pub fn decode(&self) -> (Cow<'a, str>, bool) {
        match self.0 {
            Written::Plainly(text) => (Cow::Borrowed(text), false),
            Written::Unusually { raw, has_escapes } => decode(raw, has_escapes),
        }
    }

    /// What `of` finds by the text, as bytes.
    #[inline]
    pub fn name<K>(&self, of: impl Fn(&[u8]) -> Option<K>) -> Option<K> {
        match self.plain() {
            Some(bytes) => of(bytes),
            None => of(self.decode().0.as_bytes()),
        }
    }

    /// The bytes between the quotes, when they need no decoding.
    #[inline]
    #[must_use]
    pub fn plain(&self) -> Option<&'a [u8]> {
        match self.0 {
            Written::Plainly(text) => Some(text.as_bytes()),
            Written::Unusually { raw, has_escapes } => (!has_escapes).then_some(raw),
        }
    }
}

/// Text with escapes, or that may not be UTF-8.
#[inline(never)]
fn decode(raw: &[u8], has_escapes: bool) -> (Cow<'_, str>, bool) {
    if has_escapes {
        let (text, is_invalid) = unescape(raw);
        return (Cow::Owned(text), is_invalid);
    }
    let text = text_of(raw);
    let is_invalid = matches!(text, Cow::Owned(_));
    (text, is_invalid)
}

/// Decodes a string whose escapes are known to be well-formed.
fn unescape(raw: &[u8]) -> (String, bool) {
    let mut out = Vec::with_capacity(raw.len());
    let mut is_invalid = false;
    let mut rest = raw;
    while let Some(run) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(run);
        out.extend_from_slice(plain);
        rest = escape.part(2..);
        match escape.get(1) {
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(b'u') => {
                let unit = hex4(rest);
                rest = rest.part(4..);
                let mut code = u32::from(unit);
                if (0xd800..0xdc00).contains(&unit) && rest.starts_with(b"\\u") {
                    let low = hex4(rest.part(2..));
                    if (0xdc00..0xe000).contains(&low) {
                        code = 0x1_0000 + ((u32::from(unit) - 0xd800) << 10) + (u32::from(low) - 0xdc00);
                        rest = rest.part(6..);
                    }
                }
                if let Some(character) = char::from_u32(code) {
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                } else {
                    is_invalid = true;
                    out.extend_from_slice(format!("\\u{unit:04X}").as_bytes());
                }
            }
            Some(&other) => out.push(other),
            None => {}
        }
    }
    out.extend_from_slice(rest);
    match String::from_utf8(out) {
        Ok(text) => (text, is_invalid),
        Err(error) => (text_of(error.as_bytes()).into_owned(), true),
    }
}

fn hex4(bytes: &[u8]) -> u16 {
    bytes.iter().take(4).fold(0, |value, b| {
        let digit = match b {
            b'0'..=b'9' => b - b'0',
            b'a'..=b'f' => b - b'a' + 10,
            b'A'..=b'F' => b - b'A' + 10,
            _ => 0,
        };
        value * 16 + u16::from(digit)
    })
}
