//! When the intervals of a node begin and end, in the order of time.

use super::slice::Interval;
use crate::numbers::index_u64;

/// A key is the second, whether an interval begins, and a word: ends come before beginnings of the same second.
const SECOND_AT: u32 = 33;
const IS_START: u64 = 1 << 32;
/// Bits sorted by at once: as many counters as the nearest cache holds.
const DIGIT_BITS: u32 = 12;
const DIGIT_N: usize = 1 << DIGIT_BITS;
/// Fewer keys are sorted sooner by comparing them.
const FEW_N: usize = 256;

/// An interval begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    key: u64,
}

impl Event {
    /// Second of the slice.
    pub(super) fn second(self) -> i64 {
        (self.key >> SECOND_AT).cast_signed()
    }

    /// 1 where the interval begins, -1 where it ends.
    pub(super) fn sign(self) -> i64 {
        (self.key >> 31 & 2).cast_signed() - 1
    }

    /// What it is known by.
    pub(super) fn word(self) -> u32 {
        let [a, b, c, d, ..] = self.key.to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }
}

/// Both events of every interval in their order, each known by the word of its interval. Those of the same second are in
/// no order but that of ends and beginnings.
pub(super) fn events(intervals: &[Interval], word: impl Fn(usize, &Interval) -> u32) -> Vec<Event> {
    let mut events = Vec::with_capacity(2 * intervals.len());
    for (nth, interval) in intervals.iter().enumerate() {
        let word = u64::from(word(nth, interval));
        let (start_s, end_s) = (u64::from(interval.start_s), u64::from(interval.end_s));
        events.push(Event {
            key: start_s << SECOND_AT | IS_START | word,
        });
        events.push(Event {
            key: end_s << SECOND_AT | word,
        });
    }
    if events.len() < FEW_N {
        events.sort_unstable_by_key(|event| event.key);
    } else {
        sort(&mut events);
    }
    events
}

/// Sorts by all but the word: digit by digit from the lowest, each time by counting.
fn sort(events: &mut Vec<Event>) {
    let top = u64::BITS - events.iter().fold(0, |all, event| all | event.key).leading_zeros();
    let mut sorted = vec![Event { key: 0 }; events.len()];
    let mut places = [0_u32; DIGIT_N];
    let mut at = IS_START.trailing_zeros();
    while at < top {
        let digit = |event: Event| index_u64(event.key >> at) % DIGIT_N;
        places.fill(0);
        for event in events.iter() {
            if let Some(count) = places.get_mut(digit(*event)) {
                *count += 1;
            }
        }
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for event in events.iter() {
            if let Some(place) = places.get_mut(digit(*event)) {
                if let Some(slot) = usize::try_from(*place).ok().and_then(|place| sorted.get_mut(place)) {
                    *slot = *event;
                }
                *place += 1;
            }
        }
        std::mem::swap(events, &mut sorted);
        at += DIGIT_BITS;
    }
}
