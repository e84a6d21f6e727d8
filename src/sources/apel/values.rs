//! The lines of an individual job record: keys, and values that are still text.
//!
//! Records of one message are much alike: nearly every one has the keys of the one before it in the same order, and half
//! of its lines are the same to the byte. Such a record is *followed*: its lines are held against those of the last one,
//! and only what changed is looked at. Every other record is read line by line, and so is one with anything wrong in it.

use super::acceptance::Acceptance;
use super::python_scalars;
use crate::ledger::Reason;
use crate::numbers::Part;
use crate::sources::decimal;
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;

macro_rules! fields {
    ($($name:ident,)+) => {
        /// The keys of an individual job record. Case matters.
        #[derive(Clone, Copy)]
        #[expect(clippy::upper_case_acronyms, reason = "the names are the keys of the format")]
        pub(super) enum Field { $($name,)+ }

        const FIELD_N: usize = [$(stringify!($name)),+].len();

        impl Field {
            fn of(key: &str) -> Option<Self> {
                match key { $(stringify!($name) => Some(Self::$name),)+ _ => None }
            }

            /// The keys of messages before v0.2, which the server no longer knows.
            fn of_old(key: &str) -> Option<Self> {
                match key {
                    "LocalJobID" => Some(Self::LocalJobId),
                    "LocalUserID" => Some(Self::LocalUserId),
                    "UserFQAN" => Some(Self::FQAN),
                    "ScalingFactorUnit" => Some(Self::ServiceLevelType),
                    "ScalingFactor" => Some(Self::ServiceLevel),
                    _ => None,
                }
            }

            /// Its place in a set of fields.
            pub(super) const fn bit(self) -> u32 {
                1 << self as u32
            }

            fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }
        }
    };
}

fields! {
    Site, SubmitHost, MachineName, Queue, LocalJobId, LocalUserId, GlobalUserName, FQAN, VO, VOGroup, VORole,
    WallDuration, CpuDuration, Processors, NodeCount, StartTime, EndTime, InfrastructureDescription,
    InfrastructureType, MemoryReal, MemoryVirtual, ServiceLevelType, ServiceLevel, UpdateTime, SubmitHostType,
}

/// The text of one record, without the `%%` and without blanks around it.
#[derive(Clone, Copy)]
pub(super) struct ApelText<'a> {
    /// All of it.
    pub(super) whole: &'a str,
    /// Where its lines end, but for the last one, counted from a place `from` bytes before it. `None` where it was not
    /// looked yet.
    pub(super) line_ends: Option<(&'a [usize], usize)>,
}

/// The values of one record; null words are already gone, of a repeated key the last holds.
#[derive(Default)]
pub(super) struct ApelValues<'a> {
    texts: [Option<&'a str>; FIELD_N],
    /// Fields that may not be as in the record before, a bit each.
    changed: u32,
}

impl<'a> ApelValues<'a> {
    fn set(&mut self, field: Field, value: &'a str) {
        if let Some(slot) = self.texts.get_mut(field as usize) {
            *slot = (!python_scalars::is_null(value)).then_some(value);
        }
    }

    #[inline]
    pub(super) fn get(&self, field: Field) -> Option<&'a str> {
        self.texts.get(field as usize).copied().flatten()
    }

    /// Fields that may not be as in the record before, a bit each.
    pub(super) fn changed(&self) -> u32 {
        self.changed
    }

    #[inline]
    pub(super) fn required(&self, field: Field) -> Result<&'a str, Refusal> {
        self.get(field)
            .ok_or_else(|| Refusal::new(Reason::MissingField, format!("{} is missing", field.name())))
    }

    /// A 32-bit integer, as the parameters of the server's procedures are.
    #[inline]
    pub(super) fn int(&self, field: Field, reason: Reason) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.get(field) else { return Ok(None) };
        // Nearly every one has so few digits that it fits.
        match decimal::digits::<8>(text.as_bytes()) {
            Some(value) => Ok(Some(value)),
            None => Self::int_of(text, field, reason).map(Some),
        }
    }

    #[inline(never)]
    fn int_of(text: &str, field: Field, reason: Reason) -> Result<i64, Refusal> {
        match python_scalars::int(text).filter(|value| i32::try_from(*value).is_ok()) {
            Some(value) => Ok(value),
            None if python_scalars::is_int(text) => Err(Refusal::new(
                reason,
                format!(
                    "{} {:?} does not fit 32 bits, as the server requires",
                    field.name(),
                    clip(text)
                ),
            )),
            None => Err(Refusal::new(
                reason,
                format!("{} {:?} is not an integer", field.name(), clip(text)),
            )),
        }
    }

    #[inline]
    pub(super) fn duration_s(&self, field: Field) -> Result<i64, Refusal> {
        let text = self.required(field)?;
        match self.int(field, Reason::BadDuration)? {
            Some(value) if value >= 0 => Ok(value),
            _ => Err(Refusal::new(
                Reason::BadDuration,
                format!("{} {:?} is negative", field.name(), clip(text)),
            )),
        }
    }

    #[inline]
    pub(super) fn time_s(&self, field: Field) -> Result<i64, Refusal> {
        let text = self.required(field)?;
        python_scalars::datetime_s(text).ok_or_else(|| {
            Refusal::new(
                Reason::BadTime,
                format!(
                    "{} {:?} is neither Unix seconds nor YYYY-MM-DDTHH:MM:SSZ",
                    field.name(),
                    clip(text)
                ),
            )
        })
    }
}

/// Reads the records of one message, one after another.
#[derive(Default)]
pub(super) struct ApelReader<'a> {
    /// The lines of the last record.
    lines: Vec<ApelLine<'a>>,
    /// Whether the next record may follow: the last one had only keys that are known, and none of them twice.
    is_followed: bool,
    /// What the last record came to.
    values: ApelValues<'a>,
}

/// One line of the last record.
struct ApelLine<'a> {
    text: &'a [u8],
    field: Field,
    /// Bytes before the value: key, colon, and a blank if there is one.
    head: usize,
    /// The first of them, as one number, and which bits of it count.
    word: u128,
    mask: u128,
    /// For so many records it is taken for granted that the value has changed.
    changing_n: u8,
}

/// A line that changed once mostly changes again.
const CHANGING_N: u8 = 16;

impl<'a> ApelLine<'a> {
    fn new(text: &'a str, field: Field) -> Self {
        // Fallback: never taken, the text of a field has its colon.
        let colon = memchr::memchr(b':', text.as_bytes()).unwrap_or(0);
        let head = colon + 1 + usize::from(text.as_bytes().get(colon + 1) == Some(&b' '));
        let mut word = [0; 16];
        let mut mask = [0; 16];
        let bytes = text.as_bytes().iter().take(head);
        for ((to, is_counted), from) in word.iter_mut().zip(&mut mask).zip(bytes) {
            (*to, *is_counted) = (*from, u8::MAX);
        }
        Self {
            text: text.as_bytes(),
            field,
            head,
            word: u128::from_le_bytes(word),
            mask: u128::from_le_bytes(mask),
            changing_n: 0,
        }
    }

    /// Whether a line begins with the same key; `rest` is the record from that line on.
    #[inline]
    fn is_begun(&self, rest: &[u8]) -> bool {
        // No byte of a head ends a line, so that a line which begins with it is as long at least.
        match rest.first_chunk() {
            Some(start) if (u128::from_le_bytes(*start) ^ self.word) & self.mask != 0 => false,
            Some(_) if self.head <= 16 => true,
            _ => self.text.get(..self.head).is_some_and(|head| rest.starts_with(head)),
        }
    }
}

impl<'a> ApelReader<'a> {
    /// The values of a record.
    pub(super) fn read(&mut self, text: ApelText<'a>, acceptance: Acceptance) -> Result<&ApelValues<'a>, Refusal> {
        if !self.is_followed || !self.follow(text) {
            // Until it is known that all is well.
            self.is_followed = false;
            self.is_followed = self.read_lines(text.whole, acceptance)?;
        }
        Ok(&self.values)
    }

    /// Takes over what changed since the last record. False, with the values in disorder, where this one has other keys.
    fn follow(&mut self, text: ApelText<'a>) -> bool {
        let Some((line_ends, before)) = text.line_ends else {
            return false;
        };
        if line_ends.len() + 1 != self.lines.len() {
            return false;
        }
        let whole = text.whole;
        let mut changed = 0;
        let mut from = 0;
        let line_ends = line_ends.iter().map(|end| end - before).chain([whole.len()]);
        for (line, end) in self.lines.iter_mut().zip(line_ends) {
            let start = from;
            from = end + 1;
            let Some(now) = whole.as_bytes().get(start..end) else {
                return false;
            };
            if line.changing_n > 0 {
                line.changing_n -= 1;
            } else if now == line.text {
                continue;
            } else {
                line.changing_n = CHANGING_N;
            }
            if !line.is_begun(whole.as_bytes().part(start..)) {
                return false;
            }
            let Some(value) = whole.get(start + line.head..end) else {
                return false;
            };
            line.text = now;
            changed |= line.field.bit();
            self.values.set(line.field, python_scalars::strip(value));
        }
        self.values.changed = changed;
        true
    }

    /// Reads a record line by line; whether the next one may follow it.
    fn read_lines(&mut self, text: &'a str, acceptance: Acceptance) -> Result<bool, Refusal> {
        self.values = ApelValues {
            changed: u32::MAX,
            ..ApelValues::default()
        };
        let mut seen = 0_u32;
        let mut line_n = 0;
        let mut is_followed = true;
        for line in lines(text) {
            let (field, value) = if let Some(known) = self.known(line_n, line) {
                known
            } else {
                let (key, value) = pair(line)?;
                let old = || Field::of_old(key).filter(|_| acceptance == Acceptance::Salvage);
                let field = Field::of(key).or_else(old).ok_or_else(|| {
                    let detail = format!("{:?} is not a key of an individual job record", clip(key));
                    Refusal::new(Reason::UnknownField, detail)
                })?;
                self.note(line_n, ApelLine::new(line, field));
                (field, value)
            };
            self.values.set(field, value);
            is_followed &= seen & field.bit() == 0;
            seen |= field.bit();
            line_n += 1;
        }
        self.lines.truncate(line_n);
        Ok(is_followed)
    }

    /// Key and value of line number `nth`, when it has the key it had in the last record, or that of the line after.
    fn known(&mut self, nth: usize, line: &'a str) -> Option<(Field, &'a str)> {
        let value = |known: &ApelLine<'a>| {
            let value = known.is_begun(line.as_bytes()).then(|| line.get(known.head..))?;
            value.map(python_scalars::strip)
        };
        let value = self.lines.get(nth).and_then(value).or_else(|| {
            let value = self.lines.get(nth + 1).and_then(value)?;
            self.lines.remove(nth);
            Some(value)
        })?;
        let known = self.lines.get_mut(nth)?;
        known.text = line.as_bytes();
        Some((known.field, value))
    }

    /// Line number `nth` has a key that was not there in the last record.
    fn note(&mut self, nth: usize, line: ApelLine<'a>) {
        // A record of more lines has a key twice.
        if nth < FIELD_N && nth <= self.lines.len() {
            self.lines.insert(nth, line);
            self.lines.truncate(FIELD_N);
        }
    }
}

/// Key and value of a line, without blanks around them.
pub(super) fn pair(line: &str) -> Result<(&str, &str), Refusal> {
    let parts =
        memchr::memchr(b':', line.as_bytes()).and_then(|colon| Some((line.get(..colon)?, line.get(colon + 1..)?)));
    let Some((key, value)) = parts else {
        let detail = if line.trim().is_empty() {
            "a blank line inside the record".to_owned()
        } else {
            format!("line {:?} has no colon", clip(line.trim()))
        };
        return Err(Refusal::new(Reason::FieldCount, detail));
    };
    Ok((python_scalars::strip(key), python_scalars::strip(value)))
}

/// Lines ended by LF, CR or both; a last line end starts no further line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut ends = memchr::memchr2_iter(b'\n', b'\r', text.as_bytes());
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let Some(end) = ends.next() else {
            start = None;
            return text.get(from..);
        };
        let mut next = end + 1;
        if text.as_bytes().get(end) == Some(&b'\r') && text.as_bytes().get(next) == Some(&b'\n') {
            ends.next();
            next += 1;
        }
        start = (next < text.len()).then_some(next);
        text.get(from..end)
    })
}
