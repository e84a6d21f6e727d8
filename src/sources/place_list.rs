//! Places that are found in a text sixty-four bytes at a time.

use fearless_simd::Simd;

use super::simd_scan::{WORD, count, places};
use crate::numbers::Part;

/// Places that were found, in order. The list is used again for other texts, because it keeps its room.
#[derive(Clone, Debug, Default)]
pub struct PlaceList {
    /// As many as were found, and room for more.
    places: Vec<u32>,
    found: usize,
}

impl PlaceList {
    /// No place, and no room.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            places: Vec::new(),
            found: 0,
        }
    }

    /// Makes room for `n` places, unless there is.
    pub fn make_room(&mut self, n: usize) {
        self.places.resize(self.places.len().max(self.found + n + WORD), 0);
    }

    /// How many places there is room for.
    #[must_use]
    pub fn room(&self) -> usize {
        self.places.len()
    }

    /// Forgets all places.
    pub fn clear(&mut self) {
        self.found = 0;
    }

    /// The places.
    #[inline]
    #[must_use]
    pub fn places(&self) -> &[u32] {
        self.places.part(..self.found)
    }

    /// Adds one place.
    pub fn push(&mut self, place: u32) {
        match self.places.get_mut(self.found) {
            Some(room) => *room = place,
            None => self.places.push(place),
        }
        self.found += 1;
    }

    /// Adds where the bits of `hits` are, counted from `from`.
    #[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
    #[inline(always)]
    pub fn add<S: Simd>(&mut self, simd: S, hits: u64, from: u32) {
        if let Some(room) = self.places.get_mut(self.found..).and_then(<[u32]>::first_chunk_mut) {
            // What is too much is written over by the next word.
            places(simd, hits, from, room);
            self.found += count(hits);
        } else {
            self.add_in_more_room(simd, hits, from);
        }
    }

    /// The same where there is no room for as many as there may be.
    #[cold]
    fn add_in_more_room<S: Simd>(&mut self, simd: S, hits: u64, from: u32) {
        self.make_room(self.found + WORD);
        self.add(simd, hits, from);
    }
}
