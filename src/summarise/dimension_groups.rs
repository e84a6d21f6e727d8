//! The groups of the rows of a batch by the combinations of their texts.

use ahash::RandomState;
use hashbrown::HashTable;

use crate::numbers::scattered;

/// Groups that are at hand are two to the power of this.
const NEAR_BITS: u32 = 8;

/// A combination, and the instant at which a period begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupPart {
    combination: u64,
    from_ms: i64,
}

/// The group of each combination of a batch in each period.
pub(super) struct KnownGroups {
    /// Those that came last, each in a place of its own: few combinations make up most of a batch.
    near: [Option<(GroupPart, usize)>; 1 << NEAR_BITS],
    table: HashTable<(GroupPart, usize)>,
    hasher: RandomState,
}

impl Default for KnownGroups {
    fn default() -> Self {
        Self {
            near: [None; 1 << NEAR_BITS],
            table: HashTable::new(),
            hasher: RandomState::default(),
        }
    }
}

impl KnownGroups {
    /// Forgets: codes of another batch stand for other texts.
    pub(super) fn clear(&mut self) {
        self.near.fill(None);
        self.table.clear();
    }

    /// The group of a combination in the period that begins at `from_ms`; `find` is asked the first time.
    #[inline]
    pub(super) fn group(&mut self, combination: u64, from_ms: i64, find: impl FnOnce() -> usize) -> usize {
        let part = GroupPart { combination, from_ms };
        // Days begin at multiples of powers of two.
        let place = scattered(combination ^ (from_ms.cast_unsigned() >> 10), NEAR_BITS);
        if let Some(Some((near, group))) = self.near.get(place)
            && *near == part
        {
            return *group;
        }
        let group = self.look_up(part, find);
        if let Some(near) = self.near.get_mut(place) {
            *near = Some((part, group));
        }
        group
    }

    fn look_up(&mut self, part: GroupPart, find: impl FnOnce() -> usize) -> usize {
        let hash = self.hasher.hash_one(part);
        if let Some((_, group)) = self.table.find(hash, |(known, _)| *known == part) {
            return *group;
        }
        let group = find();
        let hasher = &self.hasher;
        self.table
            .insert_unique(hash, (part, group), |(known, _)| hasher.hash_one(known));
        group
    }
}
