//! When the intervals of a node begin and end, in the order of time.

use super::slice::Interval;

/// A key is the second, whether an interval begins, and its number: ends come before beginnings of the same second.
const SECOND_AT: u32 = 33;
const IS_START: u64 = 1 << 32;
/// Bits sorted by at once: as many counters as the nearest cache holds.
const DIGIT_BITS: u32 = 12;
const DIGIT_N: usize = 1 << DIGIT_BITS;
/// Fewer keys are sorted sooner by comparing them.
const FEW_N: usize = 1024;

/// An interval begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    key: u64,
}

impl Event {
    /// Second of the slice.
    pub(super) fn second(self) -> i64 {
        i64::try_from(self.key >> SECOND_AT).unwrap_or(i64::MAX)
    }

    /// Whether the interval begins.
    pub(super) fn is_start(self) -> bool {
        self.key & IS_START != 0
    }

    /// Which interval.
    pub(super) fn nth(self) -> usize {
        usize::try_from(self.key & (IS_START - 1)).unwrap_or(usize::MAX)
    }
}

/// Both events of every interval in their order.
pub(super) fn events(intervals: &[Interval]) -> Vec<Event> {
    let mut keys = Vec::with_capacity(2 * intervals.len());
    for (nth, interval) in (0_u64..).zip(intervals) {
        keys.push(u64::from(interval.start_s) << SECOND_AT | IS_START | nth);
        keys.push(u64::from(interval.end_s) << SECOND_AT | nth);
    }
    if keys.len() < FEW_N {
        keys.sort_unstable();
    } else {
        sort(&mut keys);
    }
    keys.into_iter().map(|key| Event { key }).collect()
}

/// Sorts by all but the number, which the keys begin in the order of: digit by digit from the lowest, each time by
/// counting.
fn sort(keys: &mut Vec<u64>) {
    let top = u64::BITS - keys.iter().fold(0, |all, key| all | key).leading_zeros();
    let mut sorted = vec![0; keys.len()];
    let mut places = vec![0_usize; DIGIT_N];
    let mut at = IS_START.trailing_zeros();
    while at < top {
        let digit = |key: u64| usize::try_from(key >> at).unwrap_or(0) % DIGIT_N;
        places.fill(0);
        for key in keys.iter() {
            if let Some(count) = places.get_mut(digit(*key)) {
                *count += 1;
            }
        }
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for key in keys.iter() {
            if let Some(place) = places.get_mut(digit(*key)) {
                if let Some(slot) = sorted.get_mut(*place) {
                    *slot = *key;
                }
                *place += 1;
            }
        }
        std::mem::swap(keys, &mut sorted);
        at += DIGIT_BITS;
    }
}
