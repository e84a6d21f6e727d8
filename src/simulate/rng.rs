//! Random numbers that depend on a seed alone: `SplitMix64`.

use crate::numbers::index_u64;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The stream of one of many things under a seed, such as a job: others do not change it.
    #[must_use]
    pub fn of(seed: u64, thing: u64) -> Self {
        Self(Self(seed).number() ^ Self(thing).number())
    }

    /// The next 64 bits.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, all equally likely up to 2^-64; 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let product = u128::from(self.number()) * u128::from(n);
        // Fallback: never taken, the upper half of the product has 64 bits.
        u64::try_from(product >> 64).unwrap_or(0)
    }

    /// An index below `n`.
    pub fn index(&mut self, n: usize) -> usize {
        index_u64(self.below(crate::numbers::count_u64(n)))
    }

    /// A number from `low` to `high`, both included; `low` where `high` is below it.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        let span = high.checked_sub(low).and_then(|span| u64::try_from(span).ok());
        let more = span.map_or(0, |span| self.below(span + 1));
        i64::try_from(more).map_or(low, |more| low + more)
    }

    /// Whether something of so many in a million happens.
    pub fn happens(&mut self, per_million: u32) -> bool {
        self.below(1_000_000) < u64::from(per_million)
    }
}
