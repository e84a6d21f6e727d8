//! A slice of time: which jobs held what on which node.

use std::collections::HashMap;

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
    places: HashMap<Box<[i64]>, u32, ahash::RandomState>,
    amounts: Vec<i64>,
    width: usize,
}

impl Shapes {
    /// For as many resources.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            // The job that has a node to itself is counted like a resource.
            width: width + 1,
            ..Self::default()
        }
    }

    /// The number of a shape: amounts in the order of the resources followed, and whether the job has the node to itself.
    /// `None` when there are more different shapes than numbers.
    pub fn number(&mut self, amounts: &[i64], is_exclusive: bool) -> Option<u32> {
        let mut key = amounts.to_vec();
        key.resize(self.width.saturating_sub(1), 0);
        key.push(i64::from(is_exclusive));
        if let Some(number) = self.places.get(key.as_slice()) {
            return Some(*number);
        }
        let number = u32::try_from(self.places.len()).ok()?;
        self.amounts.extend_from_slice(&key);
        self.places.insert(key.into_boxed_slice(), number);
        Some(number)
    }

    /// The amounts of a shape, and behind them 1 if the job has the node to itself.
    #[must_use]
    pub fn amounts(&self, number: u32) -> &[i64] {
        let at = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(self.width);
        self.amounts.get(at..at + self.width).unwrap_or_default()
    }

    /// Amounts of a shape, the last of them included.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }
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
    /// An empty one for as many nodes. It spans at most 136 years; what lies behind is cut off.
    #[must_use]
    pub fn new(from_s: i64, until_s: i64, node_n: usize) -> Self {
        Self {
            from_s,
            until_s: until_s.clamp(from_s, from_s.saturating_add(i64::from(u32::MAX))),
            nodes: vec![Vec::new(); node_n],
            interval_n: 0,
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
        if let Some(node) = usize::try_from(node).ok().and_then(|node| self.nodes.get_mut(node)) {
            node.push(interval);
            self.interval_n += 1;
        }
    }
}
