//! A tiny random number generator whose numbers are the same everywhere and for ever (`SplitMix64`).

/// The generator.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// One whose numbers follow from `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `low..high`.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = u64::try_from(high - low).expect("a range runs upwards").max(1);
        low + i64::try_from(self.bits() % width).expect("smaller than an i64 range")
    }

    /// One of `items`.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        let n = i64::try_from(items.len()).expect("a short list");
        let at = usize::try_from(self.between(0, n)).expect("not negative");
        *items.get(at).expect("within the list")
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: i64) -> bool {
        self.between(0, n) == 0
    }
}
