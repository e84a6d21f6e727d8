//! What jobs hold, by number.

use crate::numbers::{Extent, Part, index};
use ahash::RandomState;
use hashbrown::HashTable;

/// Places in which shapes are found without hashing, two in each: nearly all that jobs request.
const NEAR_N: usize = 1024;

/// Different amounts held by jobs, each kept once: millions of jobs request the same few things.
#[derive(Clone, Debug, Default)]
pub struct AllocationShapes {
    /// Numbers by the amounts they represent.
    numbers: HashTable<u32>,
    hasher: RandomState,
    /// One shape behind the other.
    amounts: Vec<i64>,
    width: usize,
    /// The shape requested last.
    key: Vec<i64>,
    /// Numbers of the shapes that were requested last, each in a place its amounts give.
    near: Vec<[u32; 2]>,
}

impl AllocationShapes {
    /// For as many resources.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            // The job that has a node to itself is counted like a resource.
            width: width + 1,
            near: vec![[u32::MAX; 2]; NEAR_N],
            ..Self::default()
        }
    }

    /// The number of a shape: amounts in the order of the resources followed, and whether the job has the node to itself.
    /// `None` when there are more different shapes than numbers.
    #[inline]
    pub fn number(&mut self, amounts: &[i64], is_exclusive: bool) -> Option<u32> {
        let exclusive = i64::from(is_exclusive);
        let place = place(amounts, exclusive);
        for near in self.near.get(place).into_iter().flatten() {
            if self.is(*near, amounts, exclusive) {
                return Some(*near);
            }
        }
        let number = self.look_up(amounts, exclusive)?;
        if let Some(near) = self.near.get_mut(place) {
            let [last, _] = *near;
            *near = [number, last];
        }
        Some(number)
    }

    /// Whether a number represents these amounts.
    #[inline]
    fn is(&self, number: u32, amounts: &[i64], exclusive: i64) -> bool {
        let Some((of_exclusive, of_amounts)) = self.amounts(number).split_last() else {
            return false;
        };
        // One by one: they were written just now, and cannot be read in other pieces before they have arrived.
        *of_exclusive == exclusive
            && of_amounts.len() == amounts.len()
            && of_amounts.iter().zip(amounts).all(|(of, amount)| of == amount)
    }

    #[inline(never)]
    fn look_up(&mut self, amounts: &[i64], exclusive: i64) -> Option<u32> {
        self.key.clear();
        self.key.extend_from_slice(amounts);
        self.key.resize(self.width.less(1), 0);
        self.key.push(exclusive);
        let (key, hasher, width) = (self.key.as_slice(), &self.hasher, self.width);
        let hash = hasher.hash_one(key);
        let is_same = |number: &u32| shape(&self.amounts, width, *number).iter().eq(key);
        if let Some(number) = self.numbers.find(hash, is_same) {
            return Some(*number);
        }
        let number = u32::try_from(self.numbers.len()).ok()?;
        self.amounts.extend_from_slice(key);
        let hash_of = |number: &u32| hasher.hash_one(shape(&self.amounts, width, *number));
        self.numbers.insert_unique(hash, number, hash_of);
        Some(number)
    }

    /// The amounts of a shape, and behind them 1 if the job has the node to itself.
    #[must_use]
    pub fn amounts(&self, number: u32) -> &[i64] {
        shape(&self.amounts, self.width, number)
    }

    /// The same of shapes that have so many.
    #[inline]
    pub(super) fn array<const N: usize>(&self, number: u32) -> Option<&[i64; N]> {
        self.amounts.as_chunks::<N>().0.get(usize::try_from(number).ok()?)
    }

    /// Amounts of a shape, the last of them included.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }
}

/// Where a shape is looked for first. The golden ratio spreads neighbours and multiples of anything.
fn place(amounts: &[i64], exclusive: i64) -> usize {
    let mix = |sum: i64, amount: &i64| (sum.rotate_left(29) ^ amount).wrapping_mul(-7_046_029_254_386_353_131);
    let [.., low, high] = amounts.iter().fold(exclusive, mix).to_le_bytes();
    usize::from(u16::from_le_bytes([low, high])) % NEAR_N
}

fn shape(amounts: &[i64], width: usize, number: u32) -> &[i64] {
    let at = index(number).times(width);
    amounts.part(at..at.further(width))
}
