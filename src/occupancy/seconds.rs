//! Seconds by place, a place being three whole numbers.

use crate::numbers::{Extent, count_u64};

use std::collections::HashMap;

/// Slots of a table, 8 bytes each, at most; places that need a larger one are listed.
const TABLE_N: u64 = 1 << 20;
/// Slots of a table for every place of the list it takes over: about what the list took.
const SLOT_N: u64 = 8;

/// How many seconds at which place. What was added in which order does not matter. Places are listed until there are so
/// many that a table takes no more memory, and then counted there: what is kept of nodes grows with the number of
/// different places, however many groups of nodes there are.
#[derive(Clone, Debug, Default)]
pub struct Seconds {
    /// The table holds places below these, if there is one.
    room: [u64; 3],
    table: Vec<i64>,
    listed: HashMap<[i64; 3], i64, ahash::RandomState>,
}

impl Seconds {
    /// Prepares for places up to `most`. Others are counted, too, and take longer.
    pub(super) fn make_room(&mut self, most: [i64; 3]) {
        let mut room = self.room;
        for (room, most) in room.iter_mut().zip(most) {
            *room = (*room).max(u64::try_from(most).map_or(1, |most| most.further(1)));
        }
        if room == self.room {
            return;
        }
        let before = std::mem::take(self);
        self.room = room;
        self.merge(&before);
    }

    /// Adds seconds at a place.
    #[inline]
    pub(super) fn add(&mut self, place: [i64; 3], span_s: i64) {
        match self.slot(place).and_then(|slot| self.table.get_mut(slot)) {
            Some(seconds) => *seconds += span_s,
            None => self.list(place, span_s),
        }
    }

    #[inline]
    fn slot(&self, place: [i64; 3]) -> Option<usize> {
        // Numbers below zero are above all room.
        let [a, b, c] = place.map(i64::cast_unsigned);
        let [room_a, room_b, room_c] = self.room;
        if a >= room_a || b >= room_b || c >= room_c {
            return None;
        }
        usize::try_from(
            (a.wrapping_mul(room_b).wrapping_add(b))
                .wrapping_mul(room_c)
                .wrapping_add(c),
        )
        .ok()
    }

    #[inline(never)]
    fn list(&mut self, place: [i64; 3], span_s: i64) {
        *self.listed.entry(place).or_default() += span_s;
        if !self.table.is_empty() {
            return;
        }
        let size = self.room.iter().try_fold(1_u64, |size, n| size.checked_mul(*n));
        let listed_n = count_u64(self.listed.len());
        let size = size.filter(|size| *size <= TABLE_N && *size <= listed_n.times(SLOT_N));
        if let Some(size) = size
            .and_then(|size| usize::try_from(size).ok())
            .filter(|size| *size > 0)
        {
            self.table = vec![0; size];
            for (place, span_s) in std::mem::take(&mut self.listed) {
                self.add(place, span_s);
            }
        }
    }

    /// Adds what another counted.
    pub fn merge(&mut self, other: &Self) {
        for (place, span_s) in other.iter() {
            self.add(place, span_s);
        }
    }

    /// Places that have any, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = ([i64; 3], i64)> {
        let [_, room_b, room_c] = self.room.map(|n| n.max(1));
        let place = move |at: usize| {
            let at = count_u64(at);
            let place = [at / (room_b * room_c), at / room_c % room_b, at % room_c];
            place.map(u64::cast_signed)
        };
        let table = self.table.iter().enumerate().filter(|(_, span_s)| **span_s != 0);
        let listed = self.listed.iter().map(|(place, span_s)| (*place, *span_s));
        table.map(move |(at, span_s)| (place(at), *span_s)).chain(listed)
    }

    /// Slots and listed places that memory is kept for.
    #[must_use]
    pub fn kept_n(&self) -> usize {
        self.table.len() + self.listed.capacity()
    }
}
