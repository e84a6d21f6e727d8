//! Which shard reads which file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::numbers::Extent;

/// Shares files out by their bytes: the largest first, each to the shard that has the fewest bytes so far, the lowest number of
/// equal ones. Gives the number of each file's shard, from 1 on; there are no more shards than files.
#[must_use]
pub(crate) fn balanced(bytes: &[u64], shard_n: u32) -> Vec<u32> {
    let mut order: Vec<usize> = (0..bytes.len()).collect();
    let size = |at: usize| bytes.get(at).copied();
    // The sort is stable: files of equal size stay in the order of the list.
    order.sort_by_key(|at| Reverse(size(*at)));
    let mut shards: BinaryHeap<Reverse<(u64, u32)>> = (1..=shard_n).map(|shard| Reverse((0, shard))).collect();
    let mut of_file = vec![0; bytes.len()];
    for at in order {
        if let (Some(Reverse((held, shard))), Some(slot), Some(more)) = (shards.pop(), of_file.get_mut(at), size(at)) {
            *slot = shard;
            // An empty file costs its opening.
            shards.push(Reverse((held.further(more.max(1)), shard)));
        }
    }
    of_file
}
