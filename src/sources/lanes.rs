//! Sixty-four bytes looked at at once.

use wide::u8x16;

/// Bytes that share a word of bits.
pub(super) const WORD: usize = 64;

/// The bytes in four lanes.
#[inline]
pub(super) fn lanes(bytes: &[u8; WORD]) -> [u8x16; 4] {
    let (lanes, _) = bytes.as_chunks::<16>();
    let lane = |at: usize| lanes.get(at).map_or(u8x16::splat(b' '), |lane| u8x16::new(*lane));
    [lane(0), lane(1), lane(2), lane(3)]
}

/// Which bytes of a lane are `byte`.
#[inline]
pub(super) fn equal(lane: u8x16, byte: u8) -> u8x16 {
    lane.simd_eq(u8x16::splat(byte))
}

/// A bit for every byte that is picked, the first byte in the lowest bit.
#[inline]
pub(super) fn bits(lanes: [u8x16; 4], pick: impl Fn(u8x16) -> u8x16) -> u64 {
    // Not `lanes.map`, which is not always unrolled.
    let [a, b, c, d] = lanes;
    let word = |lane| u64::from(pick(lane).to_bitmask());
    word(a) | word(b) << 16 | word(c) << 32 | word(d) << 48
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
        let [one, other] = self.wanted;
        self.hits = bits(lanes(chunk), |lane| equal(lane, one) | equal(lane, other));
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
