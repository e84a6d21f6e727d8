//! Printed instants in every format `SLURM_TIME_FORMAT` gives that can be read back.

use super::hms;
use super::scalar::{self, Int};
use crate::sources::instant::LAST_S;
use crate::time::month::day_number;
use crate::time::{Local, Zone};

const DAY_S: i64 = 86_400;

/// An instant, or the two a printed local time can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Unix second; the earlier of two.
    pub(super) earlier_s: i64,
    /// The later of two, or the same.
    pub(super) later_s: i64,
    /// The time does not exist in its zone: clocks were turned forward.
    pub(super) is_skipped: bool,
}

impl Stamp {
    fn at(unix_s: i64) -> Self {
        Self {
            earlier_s: unix_s,
            later_s: unix_s,
            is_skipped: false,
        }
    }

    /// The later of two alone, where the earlier is before an instant and the later is not.
    #[inline]
    pub(super) fn not_before(self, from_s: Option<i64>) -> Self {
        match from_s {
            Some(from_s) if self.earlier_s < from_s && from_s <= self.later_s => Self::at(self.later_s),
            _ => self,
        }
    }

    /// It can mean two instants.
    pub(super) fn is_double(self) -> bool {
        self.earlier_s != self.later_s
    }
}

/// Why a text is not an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClockTrouble {
    /// None of the formats.
    NoTime,
    /// It is local, and the source names no zone.
    NoZone,
    /// `SLURM_TIME_FORMAT=relative`.
    Relative,
}

impl ClockTrouble {
    /// The sentence after column and value.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::NoTime => {
                "is not a time (YYYY-MM-DDTHH:MM:SS with or without an offset, Unix seconds, Unknown or None)"
            }
            Self::NoZone => "is a local time and the source has no `timezone`",
            Self::Relative => {
                "is a relative time, which cannot be read back: write the dump with SLURM_TIME_FORMAT=standard or %s"
            }
        }
    }
}

/// Days whose offsets are remembered: jobs of neighbouring rows begin and end on a few days.
const DAY_SLOTS: usize = 32;

/// Reads instants; remembers the last date, and the offsets of days, because neighbouring rows share them.
pub(super) struct Clock<'z> {
    zone: Option<&'z Zone>,
    date: [u8; 10],
    day: i64,
    offsets: [OffsetOfDay; DAY_SLOTS],
}

/// The offset that is in force all day, if there is one, seconds.
#[derive(Clone, Copy)]
struct OffsetOfDay {
    day: i64,
    offset_s: Option<i64>,
}

impl<'z> Clock<'z> {
    /// A clock for times of `zone`.
    pub(super) fn new(zone: Option<&'z Zone>) -> Self {
        Self {
            zone,
            date: [0; 10],
            day: 0,
            offsets: [OffsetOfDay {
                day: i64::MIN,
                offset_s: None,
            }; DAY_SLOTS],
        }
    }

    /// The offset of `zone` that is in force all of a local day, seconds.
    #[inline]
    fn offset_of(&mut self, zone: &Zone, day: i64) -> Option<i64> {
        // Fallback: days before 1970 share a slot, which is filled again where its day differs.
        let slot = usize::try_from(day).unwrap_or(0) % DAY_SLOTS;
        let slot = self.offsets.get_mut(slot)?;
        if slot.day != day {
            let before = zone.offset_at((day - 1) * DAY_S);
            let after = zone.offset_at((day + 2) * DAY_S);
            *slot = OffsetOfDay {
                day,
                offset_s: (before == after).then_some(before),
            };
        }
        slot.offset_s
    }

    /// The instant `text` means; `Ok(None)` for the words and values that mean none.
    pub(super) fn read(&mut self, text: &[u8]) -> Result<Option<Stamp>, ClockTrouble> {
        let Some((date, clock, rest)) = civil(text) else {
            return other_format(text);
        };
        if *date != self.date {
            self.day = day_of(date).ok_or(ClockTrouble::NoTime)?;
            self.date = *date;
        }
        let local_s = self.day * DAY_S + second_of_day(*clock).ok_or(ClockTrouble::NoTime)?;
        if !rest.is_empty() {
            let offset_s = offset(rest).ok_or(ClockTrouble::NoTime)?;
            return Ok(Some(Stamp::at(local_s - offset_s)));
        }
        let zone = self.zone.ok_or(ClockTrouble::NoZone)?;
        if let Some(offset_s) = self.offset_of(zone, self.day) {
            return Ok(Some(Stamp::at(local_s - offset_s)));
        }
        Ok(Some(match zone.resolve(local_s) {
            Local::Unique(unix_s) => Stamp::at(unix_s),
            Local::Fold { earlier, later } => Stamp {
                earlier_s: earlier,
                later_s: later,
                is_skipped: false,
            },
            Local::Gap(unix_s) => Stamp {
                is_skipped: true,
                ..Stamp::at(unix_s)
            },
        }))
    }
}

/// Date, time of day and what follows, when `text` has the shape of `YYYY-MM-DDTHH:MM:SS...`.
fn civil(text: &[u8]) -> Option<(&[u8; 10], &[u8; 8], &[u8])> {
    let (date, rest) = text.split_first_chunk::<10>()?;
    let (separator, rest) = rest.split_first()?;
    let (clock, rest) = rest.split_first_chunk::<8>()?;
    (matches!(separator, b'T' | b' ') && date[4] == b'-' && date[7] == b'-').then_some((date, clock, rest))
}

fn other_format(text: &[u8]) -> Result<Option<Stamp>, ClockTrouble> {
    match text {
        b"" | b"Unknown" | b"None" | b"N/A" | b"0" => Ok(None),
        [b'0'..=b'9', ..] if text.iter().all(u8::is_ascii_digit) => match scalar::int(text) {
            Some(Int::Value(unix_s)) if unix_s <= LAST_S => Ok(Some(Stamp::at(unix_s))),
            Some(Int::Dropped) => Ok(None),
            _ => Err(ClockTrouble::NoTime),
        },
        _ if is_relative(text) => Err(ClockTrouble::Relative),
        _ => Err(ClockTrouble::NoTime),
    }
}

/// `Ystday 12:00`, `Tomorr 08:15`, `Fri 12:00`, `21 Nov 12:00`, a bare `12:00:03`: before the clock are words, and the
/// number of a day. A date of another format has other characters.
fn is_relative(text: &[u8]) -> bool {
    let is_clock = |word: &[u8]| word.contains(&b':') && word.iter().all(|b| b.is_ascii_digit() || *b == b':');
    let is_day = |word: &[u8]| word.len() <= 2 && word.iter().all(u8::is_ascii_digit);
    // Names of days and months are those of the language of who printed them.
    let is_name = |word: &[u8]| word.iter().all(|b| b.is_ascii_alphabetic() || !b.is_ascii());
    let mut words = text.rsplit(|&b| b == b' ');
    words.next().is_some_and(is_clock) && words.all(|word| is_day(word) || is_name(word))
}

/// Days since 1970-01-01 of `YYYY-MM-DD` in the Gregorian calendar.
fn day_of(&[y0, y1, y2, y3, _, m0, m1, _, d0, d1]: &[u8; 10]) -> Option<i64> {
    let (year, month, day) = (pair(y0, y1)? * 100 + pair(y2, y3)?, pair(m0, m1)?, pair(d0, d1)?);
    day_number(year, month, day).map(i64::from)
}

fn second_of_day(clock: [u8; 8]) -> Option<i64> {
    let [hour, minute, second] = hms::parse(clock)?;
    (hour < 24).then(|| (hour * 60 + minute) * 60 + second)
}

/// Seconds east of UTC of `Z`, `+0200`, `+02:00` or `+02`.
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text {
        b"Z" | b"z" => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hour, minute) = match *digits {
        [a, b, c, d] | [a, b, b':', c, d] => (pair(a, b)?, pair(c, d)?),
        [a, b] => (pair(a, b)?, 0),
        _ => return None,
    };
    (hour < 24 && minute < 60).then(|| i64::from(sign * (hour * 3600 + minute * 60)))
}

fn pair(tens: u8, ones: u8) -> Option<i32> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| i32::from(tens * 10 + ones))
}

/// Start and end with the folds decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClockSpan {
    /// Unix second of the start.
    pub(super) start_s: Option<i64>,
    /// Unix second of the end.
    pub(super) end_s: Option<i64>,
    /// A fold stayed undecided; the earlier instant that fits was taken.
    pub(super) is_ambiguous: bool,
}

/// Decides the folds of start and end: end minus start must be what elapsed and suspended add up to, and a job starts after
/// its submission unless its length contradicts that.
pub(super) fn span(
    start: Option<Stamp>,
    end: Option<Stamp>,
    length_s: Option<i64>,
    submit_s: Option<i64>,
) -> ClockSpan {
    // Slurm takes start, end and suspension from different readings of the clock; folds differ by half an hour or more.
    const TOLERANCE_S: u64 = 2;
    let is_double = |start: Option<Stamp>, end: Option<Stamp>| [start, end].into_iter().flatten().any(Stamp::is_double);
    let start_later = start.map(|start| start.not_before(submit_s));
    let start_s = start_later.map(|start| start.earlier_s);
    let end_later = end.map(|end| end.not_before(start_s));
    let undecided = ClockSpan {
        start_s,
        end_s: end_later.map(|end| end.earlier_s),
        is_ambiguous: is_double(start_later, end_later),
    };
    let (Some(start), Some(end), Some(length_s), true) = (start, end, length_s, is_double(start, end)) else {
        return undecided;
    };
    let pass = |stamp: Stamp| [Some(stamp.earlier_s), Some(stamp.later_s).filter(|_| stamp.is_double())];
    let decided = |start: Stamp| {
        let mut fitting = pass(start)
            .into_iter()
            .flatten()
            .flat_map(|from_s| pass(end).into_iter().flatten().map(move |until_s| (from_s, until_s)))
            .filter(|(from_s, until_s)| (until_s - from_s).abs_diff(length_s) <= TOLERANCE_S);
        let (from_s, until_s) = fitting.next()?;
        // When two fit, the first at least keeps the length right.
        Some(ClockSpan {
            start_s: Some(from_s),
            end_s: Some(until_s),
            is_ambiguous: fitting.next().is_some(),
        })
    };
    decided(start.not_before(submit_s))
        .or_else(|| decided(start))
        // Fallback: where no instants fit the length, it decides nothing.
        .unwrap_or(undecided)
}
