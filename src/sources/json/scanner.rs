//! JSON read in place: values that are not requested are skipped, not decoded.
//!
//! What is accepted is exactly the grammar of RFC 8259 (as `serde_json` skips it), except that text that is not UTF-8
//! and unpaired surrogates are accepted, and written as escapes when the text is requested.

use super::marks::{JsonIndex, MarksLeft};
use super::text::JsonText;
use super::usual_member::{UsualMember, leading_digits};
use crate::numbers::Part;

/// Deepest nesting that is followed, as in `serde_json`.
const DEPTH_LIMIT: usize = 127;

/// Where and why a line is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// 0-based byte within the line.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// A value as far as it is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scalar<'a> {
    /// The key does not occur.
    #[default]
    Absent,
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number as written, all of it ASCII.
    Number(&'a [u8]),
    /// A string.
    Text(JsonText<'a>),
    /// A list or an object, stepped over.
    Nested,
}

impl<'a> Scalar<'a> {
    /// The bytes of a number, and of a text that needs no decoding; they may be anything.
    #[must_use]
    pub fn bytes(&self) -> Option<&'a [u8]> {
        match self {
            Self::Number(ascii) => Some(ascii),
            Self::Text(text) => text.plain(),
            _ => None,
        }
    }
}

/// Reads one line from left to right.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    marks: JsonIndex,
    /// Those behind `at`.
    left: MarksLeft,
}

impl<'a> Scanner<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::with(bytes, JsonIndex::default())
    }

    /// The same in the room of the marks of another line.
    #[must_use]
    pub fn with(bytes: &'a [u8], mut marks: JsonIndex) -> Self {
        marks.read(bytes);
        let left = marks.left();
        Self {
            bytes,
            at: 0,
            marks,
            left,
        }
    }

    /// The marks, for the next line.
    #[must_use]
    pub fn into_marks(self) -> JsonIndex {
        self.marks
    }

    /// The next byte after white space, without taking it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(b) = self.bytes.get(self.at) {
            if !matches!(b, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(*b);
            }
            self.at += 1;
        }
        None
    }

    fn error<T>(&self, what: &'static str) -> Result<T, Malformed> {
        Err(Malformed { at: self.at, what })
    }

    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// How many bytes are read.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Nothing but white space may follow.
    pub fn end(&mut self) -> Result<(), Malformed> {
        if self.peek().is_some() {
            return self.error("something follows the document");
        }
        Ok(())
    }

    /// Reads an object and hands every key to `each`, which must read the value.
    pub fn object<F>(&mut self, mut each: F) -> Result<(), Malformed>
    where
        F: FnMut(&mut Self, JsonText<'a>) -> Result<(), Malformed>,
    {
        if !self.take(b'{') {
            return self.error("an object was expected");
        }
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            each(self, key)?;
            if self.is_last()? {
                return Ok(());
            }
        }
    }

    /// Reads an object of which only some keys are wanted: `of` selects them, `each` receives their values. All other values
    /// are stepped over.
    ///
    /// Nearly every member is a key without escapes and a text or a whole number, without white space between them:
    /// those are read here at once, and whatever is different by [`Self::member`].
    pub fn members<K, O, E>(&mut self, of: O, mut each: E) -> Result<(), Malformed>
    where
        O: Fn(&[u8]) -> Option<K>,
        E: FnMut(K, Scalar<'a>),
    {
        if !self.take(b'{') {
            return self.error("an object was expected");
        }
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            if self.usual_members(&of, &mut each) {
                return Ok(());
            }
            if self.member(&of, &mut each)? {
                return Ok(());
            }
        }
    }

    /// Reads usual members up to one that is none; true at the end of the object.
    #[inline]
    fn usual_members<K>(&mut self, of: &impl Fn(&[u8]) -> Option<K>, each: &mut impl FnMut(K, Scalar<'a>)) -> bool {
        let bytes = self.bytes;
        let mut quotes = self.marks.quotes(self.left);
        let mut at = self.at;
        let mut is_ended = false;
        while !is_ended && let Some(member) = UsualMember::read(bytes, at, quotes) {
            if let Some(key) = of(member.key) {
                each(key, member.value);
            }
            (at, quotes, is_ended) = (member.end, member.quotes, member.is_last);
        }
        (self.at, self.left) = (at, quotes.left());
        is_ended
    }

    /// Reads any member and what is behind it; true at the end of the object.
    #[inline(never)]
    fn member<K>(
        &mut self,
        of: &impl Fn(&[u8]) -> Option<K>,
        each: &mut impl FnMut(K, Scalar<'a>),
    ) -> Result<bool, Malformed> {
        let key = self.key()?;
        let value = self.scalar()?;
        if let Some(key) = key.name(of) {
            each(key, value);
        }
        self.is_last()
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<JsonText<'a>, Malformed> {
        if self.peek() != Some(b'"') {
            return self.error("a key was expected");
        }
        let key = self.string()?;
        if !self.take(b':') {
            return self.error("a colon was expected");
        }
        Ok(key)
    }

    /// What is behind a member: a comma, or the end of the object.
    fn is_last(&mut self) -> Result<bool, Malformed> {
        if self.take(b',') {
            Ok(false)
        } else if self.take(b'}') {
            Ok(true)
        } else {
            self.error("a comma or the end of the object was expected")
        }
    }

    /// Reads any value; lists and objects are stepped over.
    pub fn scalar(&mut self) -> Result<Scalar<'a>, Malformed> {
        self.value(0)
    }

    fn value(&mut self, depth: usize) -> Result<Scalar<'a>, Malformed> {
        match self.peek() {
            Some(b'"') => Ok(Scalar::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Ok(Scalar::Number(self.number()?)),
            Some(b't') => self.word("true").map(|()| Scalar::Bool(true)),
            Some(b'f') => self.word("false").map(|()| Scalar::Bool(false)),
            Some(b'n') => self.word("null").map(|()| Scalar::Null),
            Some(b'{' | b'[') if depth >= DEPTH_LIMIT => self.error("nested too deeply"),
            Some(b'{') => {
                self.object(|inner, _| inner.value(depth + 1).map(|_| ()))?;
                Ok(Scalar::Nested)
            }
            Some(b'[') => {
                self.list(depth)?;
                Ok(Scalar::Nested)
            }
            Some(_) => self.error("a value was expected"),
            None => self.error("the document ends too early"),
        }
    }

    /// Reads a list; `each` must read one value a call.
    pub fn items<F>(&mut self, mut each: F) -> Result<(), Malformed>
    where
        F: FnMut(&mut Self) -> Result<(), Malformed>,
    {
        if !self.take(b'[') {
            return self.error("a list was expected");
        }
        if self.take(b']') {
            return Ok(());
        }
        loop {
            each(self)?;
            if self.take(b',') {
                continue;
            }
            if self.take(b']') {
                return Ok(());
            }
            return self.error("a comma or the end of the list was expected");
        }
    }

    fn list(&mut self, depth: usize) -> Result<(), Malformed> {
        self.at += 1;
        if self.take(b']') {
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            if self.take(b',') {
                continue;
            }
            if self.take(b']') {
                return Ok(());
            }
            return self.error("a comma or the end of the list was expected");
        }
    }

    fn word(&mut self, word: &'static str) -> Result<(), Malformed> {
        let rest = self.bytes.part(self.at..);
        if !rest.starts_with(word.as_bytes()) {
            return self.error("a value was expected");
        }
        self.at += word.len();
        Ok(())
    }

    /// Takes digits; their number.
    #[inline]
    fn digits(&mut self) -> usize {
        let start = self.at;
        loop {
            let rest = self.bytes.part(self.at..);
            let n = match rest.first_chunk() {
                Some(eight) => leading_digits(u64::from_le_bytes(*eight)),
                None => rest.iter().take_while(|b| b.is_ascii_digit()).count(),
            };
            self.at += n;
            if n < 8 {
                return self.at - start;
            }
        }
    }

    #[inline]
    fn number(&mut self) -> Result<&'a [u8], Malformed> {
        let start = self.at;
        let next = |scanner: &Self| scanner.bytes.get(scanner.at).copied();
        if next(self) == Some(b'-') {
            self.at += 1;
        }
        if next(self) == Some(b'0') {
            self.at += 1;
            if matches!(next(self), Some(b'0'..=b'9')) {
                return self.error("a number must not start with 0");
            }
        } else if self.digits() == 0 {
            return self.error("a digit was expected");
        }
        if next(self) == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return self.error("a digit was expected");
            }
        }
        if matches!(next(self), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(next(self), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return self.error("a digit was expected");
            }
        }
        Ok(self.bytes.part(start..self.at))
    }

    /// Reads a string that starts here.
    #[inline]
    fn string(&mut self) -> Result<JsonText<'a>, Malformed> {
        let quotes = self.marks.quotes(self.left);
        if let Some([start, end, ..]) = quotes.next()
            && start == self.at
            && let Some(raw) = self.bytes.get(start + 1..end)
        {
            self.at = end + 1;
            self.left = quotes.behind_string(end).left();
            let has_escapes = quotes.has_escapes(end);
            return Ok(JsonText { raw, has_escapes });
        }
        self.unusual_string()
    }

    /// The same byte by byte, which knows what is wrong.
    #[inline(never)]
    fn unusual_string(&mut self) -> Result<JsonText<'a>, Malformed> {
        self.at += 1;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            let rest = self.bytes.part(self.at..);
            let Some(run) = memchr::memchr2(b'"', b'\\', rest) else {
                self.at = self.bytes.len();
                return self.error("a string has no end");
            };
            if self.marks.has_controls
                && let Some(control) = rest.iter().take(run).position(|&b| b < 0x20)
            {
                self.at += control;
                return self.error("a control character inside a string");
            }
            self.at += run;
            if self.bytes.get(self.at) == Some(&b'"') {
                let raw = self.bytes.part(start..self.at);
                self.at += 1;
                return Ok(JsonText { raw, has_escapes });
            }
            has_escapes = true;
            match self.bytes.get(self.at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
                Some(b'u') => {
                    let hex = self.bytes.get(self.at + 2..self.at + 6);
                    if !hex.is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) {
                        return self.error("four hexadecimal digits were expected");
                    }
                    self.at += 6;
                }
                _ => return self.error("an escape that JSON does not have"),
            }
        }
    }
}
