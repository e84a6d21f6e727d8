//! What is hashed of a row, written down in room that is used again.

use crate::numbers::{Extent, count_u64};
use crate::short_texts::wide_word;

/// Bytes that are copied together.
const WORD: usize = 16;

/// Bytes to be hashed, one part behind the other.
///
/// Parts are written in whole words, whatever their length: to copy a few bytes at a time costs more than to hash them.
#[derive(Debug, Default)]
pub struct HashedBytes {
    /// What is behind the first `len` bytes is left from before.
    room: Vec<u8>,
    len: usize,
}

impl HashedBytes {
    /// All of them.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // Fallback: never taken, there is room for all of them.
        self.room.get(..self.len).unwrap_or_default()
    }

    /// Removes all of them.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds bytes.
    #[inline]
    pub fn push<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(into) = self.more(N).first_chunk_mut() {
            *into = bytes;
        }
    }

    /// Adds a number.
    #[inline]
    pub fn number(&mut self, number: i64) {
        self.push(number.to_le_bytes());
    }

    /// Adds a text behind its length: different texts are never written alike.
    #[inline]
    pub fn text(&mut self, text: &str) {
        let text = text.as_bytes();
        let len = count_u64(text.len()).to_le_bytes();
        let room = self.more(len.len() + text.len().max(WORD));
        let Some((into, room)) = room.split_first_chunk_mut() else {
            return;
        };
        *into = len;
        if let Some(word) = wide_word(text) {
            if let Some(into) = room.first_chunk_mut() {
                *into = word.to_le_bytes();
            }
            // What comes next is written over the rest of the word.
            self.len = self.len.less(WORD - text.len());
            return;
        }
        let ((into, _), (words, _)) = (room.as_chunks_mut::<WORD>(), text.as_chunks::<WORD>());
        for (into, word) in into.iter_mut().zip(words) {
            *into = *word;
        }
        // The last word overlaps the one before.
        if let (Some(into), Some(last)) = (room.last_chunk_mut::<WORD>(), text.last_chunk::<WORD>()) {
            *into = *last;
        }
    }

    /// Puts numbers in place of the first bytes; where there are none yet, they are the first.
    #[inline]
    pub fn put_first<const N: usize>(&mut self, numbers: [[u8; size_of::<i64>()]; N]) {
        self.more(numbers.as_flattened().len().less(self.len));
        let (words, _) = self.room.as_chunks_mut();
        if let Some(first) = words.first_chunk_mut() {
            *first = numbers;
        }
    }

    /// Room for so many bytes more, which belong to them from now on.
    #[inline]
    fn more(&mut self, n: usize) -> &mut [u8] {
        let from = self.len;
        self.len = from.further(n);
        if self.room.len() < self.len {
            self.grow();
        }
        // Fallback: never taken, the room has grown.
        self.room.get_mut(from..self.len).unwrap_or_default()
    }

    /// At least doubles the room.
    #[cold]
    fn grow(&mut self) {
        self.room.resize(self.len.times(2), 0);
    }
}
