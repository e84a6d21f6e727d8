//! Sixty-four bytes looked at at once.

use wide::u8x64;

/// Bytes that share a word of bits.
pub(super) const WORD: usize = 64;

/// A bit for every byte that is `byte`, the first byte in the lowest bit.
#[inline]
pub(super) fn bits(lanes: u8x64, byte: u8) -> u64 {
    lanes.simd_eq(u8x64::splat(byte)).to_bitmask()
}

/// A bit for every byte that is one of two.
#[inline]
pub(super) fn bits_of_two(lanes: u8x64, [one, other]: [u8; 2]) -> u64 {
    (lanes.simd_eq(u8x64::splat(one)) | lanes.simd_eq(u8x64::splat(other))).to_bitmask()
}

/// The places of two bytes in a text, in order.
pub(super) struct Places<'a> {
    chunks: std::slice::Iter<'a, [u8; WORD]>,
    rest: &'a [u8],
    wanted: [u8; 2],
    /// Of the chunk that is being looked at.
    hits: u64,
    /// First byte of that chunk.
    from: usize,
    /// First byte of the next one.
    next: usize,
}

impl<'a> Places<'a> {
    /// The places of the bytes `wanted` in `text`; zero is not one of them.
    pub(super) fn new(text: &'a [u8], wanted: [u8; 2]) -> Self {
        let (chunks, rest) = text.as_chunks::<WORD>();
        Self {
            chunks: chunks.iter(),
            rest,
            wanted,
            hits: 0,
            from: 0,
            next: 0,
        }
    }

    #[inline]
    fn look(&mut self, chunk: &[u8; WORD]) {
        self.hits = bits_of_two(u8x64::new(*chunk), self.wanted);
        self.from = self.next;
        self.next += WORD;
    }
}

impl Iterator for Places<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.hits == 0 {
            if let Some(chunk) = self.chunks.next() {
                self.look(chunk);
            } else {
                let rest = std::mem::take(&mut self.rest);
                if rest.is_empty() {
                    return None;
                }
                let mut last = [0; WORD];
                last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                self.look(&last);
            }
        }
        let place = self.from + usize::try_from(self.hits.trailing_zeros()).ok()?;
        self.hits &= self.hits - 1;
        Some(place)
    }
}
