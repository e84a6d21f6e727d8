//! Keys that are looked up before they are owned: most rows find their group, and only the first of a group needs words of
//! its own.

use hashbrown::Equivalent;

/// Texts and numbers that distinguish rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owned<const W: usize, const N: usize> {
    /// The words.
    pub(super) words: [String; W],
    /// The numbers.
    pub(super) numbers: [i64; N],
}

/// The same, of words that belong to somebody else.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct KnownBy<'a, const W: usize, const N: usize> {
    /// The words.
    pub(super) words: [&'a str; W],
    /// The numbers.
    pub(super) numbers: [i64; N],
}

impl<const W: usize, const N: usize> Equivalent<Owned<W, N>> for KnownBy<'_, W, N> {
    fn equivalent(&self, key: &Owned<W, N>) -> bool {
        self.numbers == key.numbers && self.words.iter().zip(&key.words).all(|(a, b)| a == b)
    }
}

impl<const W: usize, const N: usize> From<&KnownBy<'_, W, N>> for Owned<W, N> {
    fn from(key: &KnownBy<'_, W, N>) -> Self {
        Self {
            words: key.words.map(str::to_owned),
            numbers: key.numbers,
        }
    }
}
