//! Items dealt out to groups.

use crate::numbers::Part;

/// Items, those of a group one behind the other in the order in which they came.
pub(super) struct Dealt<T> {
    items: Vec<T>,
    /// Behind the items of each group.
    ends: Vec<usize>,
}

impl<T: Copy> Dealt<T> {
    /// Of items and the group of each, of which there are so many.
    pub(super) fn new(items: &[T], groups: impl Iterator<Item = usize> + Clone, group_n: usize) -> Self {
        let mut ends = vec![0_usize; group_n];
        for group in groups.clone() {
            if let Some(n) = ends.get_mut(group) {
                *n += 1;
            }
        }
        // How many there are, then where the next of them goes, and in the end where they end.
        let mut first = 0;
        for end in &mut ends {
            first += std::mem::replace(end, first);
        }
        let mut dealt = items.to_vec();
        for (item, group) in items.iter().zip(groups) {
            if let Some(end) = ends.get_mut(group)
                && let Some(slot) = dealt.get_mut(*end)
            {
                *slot = *item;
                *end += 1;
            }
        }
        Self { items: dealt, ends }
    }

    /// All items, group by group.
    pub(super) fn into_items(self) -> Vec<T> {
        self.items
    }

    /// The items of a group.
    pub(super) fn group(&self, nth: usize) -> &[T] {
        let first = nth.checked_sub(1).and_then(|before| self.ends.get(before));
        // Fallback: the first group begins with the first item.
        let first = first.copied().unwrap_or_default();
        self.ends.get(nth).map_or(&[], |end| self.items.part(first..*end))
    }

    /// Whether groups before this one have items.
    pub(super) fn has_any_before(&self, nth: usize) -> bool {
        let before = nth.checked_sub(1).and_then(|before| self.ends.get(before));
        before.is_some_and(|end| *end > 0)
    }

    /// Whether groups behind this one have items.
    pub(super) fn has_any_behind(&self, nth: usize) -> bool {
        self.ends.get(nth).is_some_and(|end| *end < self.items.len())
    }

    /// The items of each group that has several.
    pub(super) fn each_several(&mut self, mut with: impl FnMut(&mut [T])) {
        let mut first = 0;
        for end in &self.ends {
            if *end > first + 1
                && let Some(together) = self.items.get_mut(first..*end)
            {
                with(together);
            }
            first = *end;
        }
    }
}
