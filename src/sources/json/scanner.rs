//! JSON read in place: values that are not requested are skipped, not decoded.
//!
//! What is accepted is exactly the grammar of RFC 8259 (as `serde_json` skips it), except that text that is not UTF-8
//! and unpaired surrogates are accepted, and written as escapes when the text is requested.

use super::line::JsonLine;
use super::marks::JsonIndex;
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

/// A member of an object, as it is found.
pub enum Member<'s, 'a, K> {
    /// A wanted one.
    Value(K, Scalar<'a>),
    /// One whose value is an object, which must be read; without a key if it is not wanted.
    Object(Option<K>, &'s mut Scanner<'a>),
}

/// Reads one line from left to right.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    line: JsonLine<'a>,
    at: usize,
    marks: JsonIndex,
    /// The first quote that is not before `at`.
    nth_quote: usize,
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
        Self {
            line: JsonLine::new(bytes, marks.backslashes),
            at: 0,
            marks,
            nth_quote: 0,
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
        while let Some(b) = self.line.bytes.get(self.at) {
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
    pub fn members<K, O, E>(&mut self, of: O, mut each: E) -> Result<(), Malformed>
    where
        O: Fn(&[u8]) -> Option<K>,
        E: FnMut(K, Scalar<'a>),
    {
        self.members_and_objects(of, |member| {
            match member {
                Member::Value(key, value) => each(key, value),
                Member::Object(key, scanner) => {
                    let value = scanner.scalar()?;
                    if let Some(key) = key {
                        each(key, value);
                    }
                }
            }
            Ok(())
        })
    }

    /// The same, with objects among the values given to `each` before they are read.
    ///
    /// Nearly every member is a key without escapes and a text or a short number, without white space between them:
    /// those are read here at once, and whatever is different by [`Self::member`].
    pub fn members_and_objects<K, O, E>(&mut self, of: O, mut each: E) -> Result<(), Malformed>
    where
        O: Fn(&[u8]) -> Option<K>,
        E: FnMut(Member<'_, 'a, K>) -> Result<(), Malformed>,
    {
        if !self.take(b'{') {
            return self.error("an object was expected");
        }
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            if self.usual_members(&of, &mut each)? {
                return Ok(());
            }
            if self.member(&of, &mut each)? {
                return Ok(());
            }
        }
    }

    /// Reads usual members up to one that is none; true at the end of the object.
    #[inline]
    fn usual_members<K>(
        &mut self,
        of: &impl Fn(&[u8]) -> Option<K>,
        each: &mut impl FnMut(Member<'_, 'a, K>) -> Result<(), Malformed>,
    ) -> Result<bool, Malformed> {
        let line = self.line;
        let quotes = self.marks.quotes();
        let (mut at, mut nth_quote) = (self.at, self.nth_quote);
        let mut is_ended = false;
        while !is_ended && let Some(member) = UsualMember::read(&line, at, quotes, nth_quote) {
            if let Some(key) = of(member.key) {
                each(Member::Value(key, member.value.of(&line)))?;
            }
            (at, nth_quote, is_ended) = (member.end, member.nth_quote, member.is_last);
        }
        (self.at, self.nth_quote) = (at, nth_quote);
        Ok(is_ended)
    }

    /// Reads any member and what is behind it; true at the end of the object.
    #[inline(never)]
    fn member<K>(
        &mut self,
        of: &impl Fn(&[u8]) -> Option<K>,
        each: &mut impl FnMut(Member<'_, 'a, K>) -> Result<(), Malformed>,
    ) -> Result<bool, Malformed> {
        let key = self.key()?.name(of);
        if self.peek() == Some(b'{') {
            each(Member::Object(key, self))?;
        } else {
            let value = self.scalar()?;
            if let Some(key) = key {
                each(Member::Value(key, value))?;
            }
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
        let rest = self.line.bytes.part(self.at..);
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
            let rest = self.line.bytes.part(self.at..);
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
        let next = |scanner: &Self| scanner.line.bytes.get(scanner.at).copied();
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
        Ok(self.line.bytes.part(start..self.at))
    }

    /// Reads a string that starts here.
    #[inline]
    fn string(&mut self) -> Result<JsonText<'a>, Malformed> {
        if let Some([start, end, ..]) = self.marks.quotes().next(self.nth_quote)
            && start == self.at
            && end < self.line.bytes.len()
        {
            self.at = end + 1;
            self.nth_quote += 2;
            return Ok(self.line.string(start + 1..end));
        }
        self.unusual_string()
    }

    /// The same byte by byte, which knows what is wrong.
    #[inline(never)]
    fn unusual_string(&mut self) -> Result<JsonText<'a>, Malformed> {
        self.at += 1;
        let start = self.at;
        loop {
            let rest = self.line.bytes.part(self.at..);
            let Some(run) = memchr::memchr2(b'"', b'\\', rest) else {
                self.at = self.line.bytes.len();
                return self.error("a string has no end");
            };
            if self.marks.has_controls
                && let Some(control) = rest.iter().take(run).position(|&b| b < 0x20)
            {
                self.at += control;
                return self.error("a control character inside a string");
            }
            self.at += run;
            if self.line.bytes.get(self.at) == Some(&b'"') {
                let between = start..self.at;
                self.at += 1;
                return Ok(self.line.string(between));
            }
            match self.line.bytes.get(self.at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
                Some(b'u') => {
                    let hex = self.line.bytes.get(self.at + 2..self.at + 6);
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
