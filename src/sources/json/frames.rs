//! Cuts the objects of named lists out of a stream of JSON, so that no more than a few of them are held at once.
//!
//! `{ .., "jobs": [ {..}, {..} ], .. }`: only strings, brackets and the names of the outermost keys are looked at;
//! whether an object is sound JSON is decided by its reader. Damage stays local. A string cannot hold a line break, so
//! a line break ends a string whose quote was lost; and in indented output, which is what people have, a line that
//! looks like the first line of the first object begins the next object, whatever brackets were lost before it.

use crate::numbers::{Extent, Part};

/// More bytes than a line break and the blanks people indent a list by.
const WIDEST_MARGIN: usize = 64;

/// No key of a list is longer.
const LONGEST_KEY: usize = 16;

/// One object of the list, or the text in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) struct JsonFrame {
    /// First byte in the buffer.
    pub(in crate::sources) start: usize,
    /// Behind the last byte.
    pub(in crate::sources) end: usize,
    /// How it ended.
    pub(in crate::sources) ending: JsonEnding,
    /// The place of the key of its list among those that are framed.
    pub(in crate::sources) list: usize,
}

/// How a frame ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) enum JsonEnding {
    /// With its bracket.
    Closed,
    /// Its brackets do not match: it was given up where the next object begins.
    Broken,
}

/// The state of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonState {
    /// Outside the list.
    Outside,
    /// In the list, between two objects.
    Between,
    /// In an object that begins here.
    Within(usize),
    /// Behind an object, which nothing but a comma or the end of the list may follow.
    Behind(usize, usize),
    /// After an object and its comma. If a key follows, a bracket was lost and the object continues.
    Comma(usize, usize),
    /// In a number or a word that begins here.
    Bare(usize),
    /// In something that is not an object and begins here.
    Lost(usize),
}

/// Reads a stream in a buffer that grows at its end and is cut off at its front.
#[derive(Debug)]
pub(in crate::sources) struct JsonFramer {
    /// The keys of the lists; the first one is that of the rows.
    keys: &'static [&'static str],
    /// The place of the key of the list the stream is in, or was in last.
    list: usize,
    state: JsonState,
    /// Up to here the buffer was looked at.
    at: usize,
    /// Brackets open: of the document while outside, of the object while within.
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// The last string directly in the document, as far as it can matter.
    word: Vec<u8>,
    /// The key of a list and its colon were just read.
    due: Option<usize>,
    /// Whether the document has had a list of rows.
    has_rows: bool,
    /// Characters outside of documents.
    stray_n: u64,
    /// The line break and the blanks before the first object, empty when it has none; `None` until it was seen.
    margin: Option<Vec<u8>>,
    list_n: u64,
}

impl JsonFramer {
    /// Frames the objects of the lists with these keys.
    pub(in crate::sources) fn new(keys: &'static [&'static str]) -> Self {
        Self {
            keys,
            list: 0,
            state: JsonState::Outside,
            at: 0,
            depth: 0,
            is_in_string: false,
            is_escaped: false,
            word: Vec::new(),
            due: None,
            has_rows: false,
            stray_n: 0,
            margin: None,
            list_n: 0,
        }
    }

    /// How many lists of rows have begun.
    pub(in crate::sources) fn list_n(&self) -> u64 {
        self.list_n
    }

    /// Whether the stream is in the list: if it ends here, it was cut off.
    pub(in crate::sources) fn is_in_list(&self) -> bool {
        self.state != JsonState::Outside
    }

    /// The place of the key of the list the stream is in, or was in last.
    pub(in crate::sources) fn list(&self) -> usize {
        self.list
    }

    /// Whether the stream is in a document whose rows have not begun: if it ends here, it was cut off.
    pub(in crate::sources) fn is_before_rows(&self) -> bool {
        self.state == JsonState::Outside && self.depth > 0 && !self.has_rows
    }

    /// Whether there was text outside of documents.
    pub(in crate::sources) fn has_stray_text(&self) -> bool {
        self.stray_n > 0
    }

    /// The first byte that must stay in the buffer.
    pub(in crate::sources) fn kept_from(&self) -> usize {
        match self.state {
            // The margin of the first object precedes it.
            JsonState::Outside | JsonState::Between if self.margin.is_none() => self.at.less(WIDEST_MARGIN),
            JsonState::Outside | JsonState::Between => self.at,
            JsonState::Within(start)
            | JsonState::Behind(start, _)
            | JsonState::Comma(start, _)
            | JsonState::Bare(start)
            | JsonState::Lost(start) => start,
        }
    }

    /// The object the stream is in, if it is not closed yet.
    pub(in crate::sources) fn open(&self) -> Option<usize> {
        match self.state {
            JsonState::Within(start) | JsonState::Bare(start) | JsonState::Lost(start) => Some(start),
            JsonState::Outside | JsonState::Between | JsonState::Behind(..) | JsonState::Comma(..) => None,
        }
    }

    /// Up to here the buffer was looked at: what is open ends here or later.
    pub(in crate::sources) fn at(&self) -> usize {
        self.at
    }

    /// The closed object nothing is known to follow.
    pub(in crate::sources) fn last(&self) -> Option<JsonFrame> {
        match self.state {
            JsonState::Behind(start, end) | JsonState::Comma(start, end) => Some(JsonFrame {
                start,
                end,
                ending: JsonEnding::Closed,
                list: self.list,
            }),
            _ => None,
        }
    }

    /// The first `n` bytes of the buffer are gone.
    pub(in crate::sources) fn cut(&mut self, n: usize) {
        let moved = |at: usize| at.less(n);
        self.at = moved(self.at);
        self.state = match self.state {
            JsonState::Within(start) => JsonState::Within(moved(start)),
            JsonState::Behind(start, end) => JsonState::Behind(moved(start), moved(end)),
            JsonState::Comma(start, end) => JsonState::Comma(moved(start), moved(end)),
            JsonState::Bare(start) => JsonState::Bare(moved(start)),
            JsonState::Lost(start) => JsonState::Lost(moved(start)),
            state => state,
        };
    }

    /// All that was looked at may go: the rest of an object that is too long is only followed to its end.
    pub(in crate::sources) fn let_go(&mut self) -> usize {
        let at = self.at;
        self.cut(at);
        at
    }

    /// Looks at the buffer from where it stopped and adds what is complete. `is_last` means that nothing more will come.
    pub(in crate::sources) fn scan(&mut self, buffer: &[u8], is_last: bool, frames: &mut Vec<JsonFrame>) {
        // A margin at the end of the buffer is only recognised with what follows it.
        let held = if is_last { 0 } else { WIDEST_MARGIN + 8 };
        let until = buffer.len().less(held);
        while self.at < until {
            match self.state {
                JsonState::Outside => self.outside(buffer, until),
                JsonState::Between => self.between(buffer),
                JsonState::Within(start) => self.within(buffer, until, start, frames),
                JsonState::Behind(start, end) => self.behind(buffer, start, end, frames),
                JsonState::Comma(start, end) => self.comma(buffer, start, end, frames),
                JsonState::Bare(start) => self.bare(buffer, start, frames),
                JsonState::Lost(start) => self.lost(buffer, until, start, frames),
            }
        }
    }

    fn outside(&mut self, buffer: &[u8], until: usize) {
        for &byte in buffer.part(self.at..until) {
            self.at += 1;
            if self.is_in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' | b'\n' => self.is_in_string = false,
                    _ => {}
                }
                // One byte more than a key is enough to detect another key.
                if self.is_in_string && self.depth == 1 && self.word.len() <= LONGEST_KEY {
                    self.word.push(byte);
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.is_in_string = true;
                    self.due = None;
                    self.stray_n += u64::from(self.depth == 0);
                    if self.depth == 1 {
                        self.word.clear();
                    }
                }
                b':' if self.depth == 1 => self.due = self.keys.iter().position(|key| key.as_bytes() == self.word),
                b'[' if let Some(list) = self.due.take() => {
                    self.word.clear();
                    self.list = list;
                    if list == 0 {
                        self.list_n += 1;
                        self.has_rows = true;
                    }
                    self.margin = None;
                    self.state = JsonState::Between;
                    return;
                }
                b'{' | b'[' => {
                    self.due = None;
                    self.has_rows &= self.depth > 0;
                    self.depth += 1;
                }
                b'}' | b']' => self.depth = self.depth.less(1),
                b',' => self.due = None,
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => self.stray_n += u64::from(self.depth == 0),
            }
        }
    }

    fn between(&mut self, buffer: &[u8]) {
        match buffer.get(self.at) {
            Some(b'{') => self.begin(buffer),
            Some(b']') => {
                self.at += 1;
                self.depth = 1;
                self.state = JsonState::Outside;
            }
            Some(b',' | b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
            Some(byte) if is_bare(*byte) => self.state = JsonState::Bare(self.at),
            _ => self.state = JsonState::Lost(self.at),
        }
    }

    /// A number or a word in place of an object ends where another character follows.
    fn bare(&mut self, buffer: &[u8], start: usize, frames: &mut Vec<JsonFrame>) {
        match buffer.get(self.at) {
            Some(byte) if is_bare(*byte) => self.at += 1,
            Some(b',' | b']') => {
                frames.push(JsonFrame {
                    start,
                    end: self.at,
                    ending: JsonEnding::Closed,
                    list: self.list,
                });
                self.state = JsonState::Between;
            }
            _ => self.state = JsonState::Lost(start),
        }
    }

    /// An object begins here.
    fn begin(&mut self, buffer: &[u8]) {
        let start = self.at;
        self.margin.get_or_insert_with(|| margin(buffer, start));
        self.at += 1;
        self.depth = 1;
        self.is_in_string = false;
        self.is_escaped = false;
        self.state = JsonState::Within(start);
    }

    fn within(&mut self, buffer: &[u8], until: usize, start: usize, frames: &mut Vec<JsonFrame>) {
        while self.at < until {
            if self.is_in_string {
                if self.is_escaped {
                    self.is_escaped = false;
                    // A line break cannot be escaped either.
                    self.at += usize::from(buffer.get(self.at) != Some(&b'\n'));
                    continue;
                }
                let rest = buffer.part(self.at..until);
                let Some(run) = memchr::memchr3(b'"', b'\\', b'\n', rest) else {
                    self.at = until;
                    return;
                };
                self.at += run;
                match buffer.get(self.at) {
                    Some(b'\\') => self.is_escaped = true,
                    Some(b'\n') => {
                        self.is_in_string = false;
                        continue;
                    }
                    _ => self.is_in_string = false,
                }
                self.at += 1;
                continue;
            }
            match buffer.get(self.at) {
                Some(b'"') => self.is_in_string = true,
                Some(b'{' | b'[') => self.depth += 1,
                Some(b'}' | b']') => {
                    self.depth = self.depth.less(1);
                    if self.depth == 0 {
                        self.at += 1;
                        self.state = JsonState::Behind(start, self.at);
                        return;
                    }
                }
                Some(b'\n') if self.is_at_margin(buffer) => return self.give_up(start, frames),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Whether the line break at `at` precedes an object of the list.
    fn is_at_margin(&self, buffer: &[u8]) -> bool {
        let Some(margin) = self.margin.as_deref() else {
            return false;
        };
        !margin.is_empty()
            && buffer
                .get(self.at..)
                .and_then(|rest| rest.strip_prefix(margin))
                .is_some_and(|rest| rest.first() == Some(&b'{'))
    }

    /// What began at `start` ends at this line break without having been closed.
    fn give_up(&mut self, start: usize, frames: &mut Vec<JsonFrame>) {
        frames.push(JsonFrame {
            start,
            end: self.at,
            ending: JsonEnding::Broken,
            list: self.list,
        });
        self.is_in_string = false;
        self.is_escaped = false;
        self.at += self.margin.as_ref().map_or(0, Vec::len);
        self.state = JsonState::Between;
    }

    fn behind(&mut self, buffer: &[u8], start: usize, end: usize, frames: &mut Vec<JsonFrame>) {
        match buffer.get(self.at) {
            Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
            Some(b',') => {
                self.at += 1;
                self.state = JsonState::Comma(start, end);
            }
            Some(b']') => self.comma(buffer, start, end, frames),
            _ => self.state = JsonState::Lost(start),
        }
    }

    fn comma(&mut self, buffer: &[u8], start: usize, end: usize, frames: &mut Vec<JsonFrame>) {
        match buffer.get(self.at) {
            Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
            // A key: a bracket closed the object too early.
            Some(b'"') => self.state = JsonState::Lost(start),
            _ => {
                frames.push(JsonFrame {
                    start,
                    end,
                    ending: JsonEnding::Closed,
                    list: self.list,
                });
                self.state = JsonState::Between;
            }
        }
    }

    fn lost(&mut self, buffer: &[u8], until: usize, start: usize, frames: &mut Vec<JsonFrame>) {
        while let Some(run) = memchr::memchr(b'\n', buffer.part(self.at..until)) {
            self.at += run;
            if self.is_at_margin(buffer) {
                return self.give_up(start, frames);
            }
            self.at += 1;
        }
        self.at = until;
    }
}

/// Whether a character can be of a number or of `null`, `true` and `false`.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

/// The line break and the blanks before the object at `start`, if its own lines are indented more.
fn margin(buffer: &[u8], start: usize) -> Vec<u8> {
    let before = buffer.part(start.less(WIDEST_MARGIN)..start);
    let Some(at) = memchr::memrchr(b'\n', before) else {
        return Vec::new();
    };
    let margin = before.part(at..);
    let inner = buffer.part(start + 1..);
    let inner = inner.strip_prefix(b"\r").unwrap_or(inner);
    let is_blank = |bytes: &[u8]| bytes.iter().all(|b| matches!(b, b' ' | b'\t'));
    let is_deeper = inner
        .strip_prefix(margin)
        .is_some_and(|rest| matches!(rest.first(), Some(b' ' | b'\t')));
    if margin.len() > 1 && is_blank(margin.part(1..)) && is_deeper {
        margin.to_vec()
    } else {
        Vec::new()
    }
}
