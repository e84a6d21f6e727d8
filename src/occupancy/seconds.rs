//! Seconds by place, a place being three whole numbers.

use std::collections::HashMap;

/// Places of small numbers are counted in a table of at most this size, 8 bytes each; all others by hash.
const TABLE_N: usize = 1 << 18;

/// How many seconds at which place. What was added in which order does not matter.
#[derive(Clone, Debug, Default)]
pub struct Seconds {
    /// The table holds places below these.
    room: [usize; 3],
    table: Vec<i64>,
    beyond: HashMap<[i64; 3], i64, ahash::RandomState>,
}

impl Seconds {
    /// Prepares for places up to `most`. Others are counted, too, and take longer.
    pub(super) fn make_room(&mut self, most: [i64; 3]) {
        let mut room = self.room;
        for (room, most) in room.iter_mut().zip(most) {
            *room = (*room).max(usize::try_from(most).map_or(1, |most| most.saturating_add(1)));
        }
        let size = room.iter().try_fold(1_usize, |size, n| size.checked_mul(*n));
        let Some(size) = size.filter(|size| *size <= TABLE_N && room != self.room) else {
            return;
        };
        let larger = Self {
            room,
            table: vec![0; size],
            beyond: HashMap::default(),
        };
        let before = std::mem::replace(self, larger);
        self.merge(&before);
    }

    /// Adds seconds at a place.
    #[inline]
    pub(super) fn add(&mut self, place: [i64; 3], span_s: i64) {
        match self.slot(place) {
            Some(slot) => *slot += span_s,
            None => *self.beyond.entry(place).or_default() += span_s,
        }
    }

    #[inline]
    fn slot(&mut self, place: [i64; 3]) -> Option<&mut i64> {
        let [_, room_b, room_c] = self.room;
        let [a, b, c] = place.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        if b >= room_b || c >= room_c {
            return None;
        }
        self.table.get_mut(a.checked_mul(room_b * room_c)? + b * room_c + c)
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
            let place = [at / (room_b * room_c), at / room_c % room_b, at % room_c];
            place.map(|n| i64::try_from(n).unwrap_or(i64::MAX))
        };
        let table = self.table.iter().enumerate().filter(|(_, span_s)| **span_s != 0);
        let beyond = self.beyond.iter().map(|(place, span_s)| (*place, *span_s));
        table.map(move |(at, span_s)| (place(at), *span_s)).chain(beyond)
    }
}
