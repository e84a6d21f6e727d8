//! A slice of time: which jobs held what on which node.

use ahash::RandomState;
use hashbrown::HashTable;

/// Shapes that are found without hashing, at most: nearly all that jobs ask for.
const NEAR_N: usize = 1024;

/// A job on a node, in seconds from the beginning of the slice, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// First second.
    pub start_s: u32,
    /// The second after the last.
    pub end_s: u32,
    /// What it holds; see [`Shapes`].
    pub shape: u32,
    /// What the caller knows it by.
    pub tag: u32,
}

/// Different amounts held by jobs, each kept once: millions of jobs ask for the same few things.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    /// Numbers by what they stand for.
    numbers: HashTable<u32>,
    hasher: RandomState,
    /// One shape behind the other.
    amounts: Vec<i64>,
    width: usize,
    /// What was asked for last.
    key: Vec<i64>,
    /// Numbers of the shapes that were asked for last, each in a place its amounts give.
    near: Vec<u32>,
}

impl Shapes {
    /// For as many resources.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            // The job that has a node to itself is counted like a resource.
            width: width + 1,
            near: vec![u32::MAX; NEAR_N],
            ..Self::default()
        }
    }

    /// The number of a shape: amounts in the order of the resources followed, and whether the job has the node to itself.
    /// `None` when there are more different shapes than numbers.
    pub fn number(&mut self, amounts: &[i64], is_exclusive: bool) -> Option<u32> {
        let exclusive = i64::from(is_exclusive);
        let place = place(amounts, exclusive);
        if let Some(near) = self.near.get(place)
            && shape(&self.amounts, self.width, *near).split_last() == Some((&exclusive, amounts))
        {
            return Some(*near);
        }
        let number = self.look_up(amounts, exclusive)?;
        if let Some(near) = self.near.get_mut(place) {
            *near = number;
        }
        Some(number)
    }

    fn look_up(&mut self, amounts: &[i64], exclusive: i64) -> Option<u32> {
        self.key.clear();
        self.key.extend_from_slice(amounts);
        self.key.resize(self.width.saturating_sub(1), 0);
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
    let at = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(width);
    amounts.get(at..at.saturating_add(width)).unwrap_or_default()
}

/// The second after the last of a slice: seconds of a slice have 31 bits.
pub(super) fn end(from_s: i64, until_s: i64) -> i64 {
    until_s.clamp(from_s, from_s.saturating_add(i64::from(i32::MAX)))
}

/// Jobs on nodes from one second to another.
#[derive(Clone, Debug)]
pub struct Slice {
    from_s: i64,
    until_s: i64,
    /// By node.
    pub(super) nodes: Vec<Vec<Interval>>,
    interval_n: usize,
}

impl Slice {
    /// An empty one for as many nodes. It spans at most 68 years; what lies behind is cut off.
    #[must_use]
    pub fn new(from_s: i64, until_s: i64, node_n: usize) -> Self {
        Self {
            from_s,
            until_s: end(from_s, until_s),
            nodes: vec![Vec::new(); node_n],
            interval_n: 0,
        }
    }

    /// Makes room for what will be pushed: so many on every node.
    pub(super) fn reserve(&mut self, interval_n: &[u32]) {
        for (node, interval_n) in self.nodes.iter_mut().zip(interval_n) {
            node.reserve_exact(usize::try_from(*interval_n).unwrap_or(0));
        }
    }

    /// First second.
    #[must_use]
    pub fn from_s(&self) -> i64 {
        self.from_s
    }

    /// The second after the last.
    #[must_use]
    pub fn until_s(&self) -> i64 {
        self.until_s
    }

    /// Jobs on nodes in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.interval_n
    }

    /// Whether nothing runs in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.interval_n == 0
    }

    /// The jobs by node.
    #[must_use]
    pub fn into_nodes(self) -> Vec<Vec<Interval>> {
        self.nodes
    }

    /// Adds what lies in this slice of a job on a node, in Unix seconds; nothing when nothing does. A node that is not
    /// there is none.
    pub fn push(&mut self, node: u32, (start_s, end_s): (i64, i64), shape: u32, tag: u32) {
        let (start_s, end_s) = (start_s.max(self.from_s), end_s.min(self.until_s));
        if start_s >= end_s {
            return;
        }
        let relative = |s: i64| u32::try_from(s - self.from_s).unwrap_or(u32::MAX);
        let interval = Interval {
            start_s: relative(start_s),
            end_s: relative(end_s),
            shape,
            tag,
        };
        self.add(node, interval);
    }

    /// The same for what begins and ends in this slice, and not at once.
    pub(super) fn add(&mut self, node: u32, interval: Interval) {
        if let Some(node) = usize::try_from(node).ok().and_then(|node| self.nodes.get_mut(node)) {
            node.push(interval);
            self.interval_n += 1;
        }
    }
}
