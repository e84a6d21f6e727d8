//! The order of rows by instant and identity.

use std::cmp::Ordering;

use crate::dedupe::dealt::Dealt;
use crate::error::{Error, Result};
use crate::numbers::index_u64;

/// The place of each row in the order by instant and identity, equal ones as they stand; `None` when that is the order
/// they have.
///
/// # Errors
/// [`crate::error::Kind::Internal`] for more than 4 billion rows.
pub fn places(instants: &[i64], ids: &[u128]) -> Result<Option<Vec<u32>>> {
    if instants.iter().zip(ids).is_sorted() {
        return Ok(None);
    }
    // Fallback: without rows there is nothing to sort.
    let first = instants.iter().copied().min().unwrap_or_default();
    let since = |instant: i64| instant.wrapping_sub(first).cast_unsigned();
    // Fallback: as for the first instant, without rows nothing is sorted.
    let span = instants.iter().map(|instant| since(*instant)).max().unwrap_or_default();
    // The instant and the beginning of the identity share a number, which orders nearly all rows.
    let width = u64::BITS - span.leading_zeros();
    let key = |(instant, id): (&i64, &u128)| {
        // Fallback: never taken, a shift by 64 bits leaves 64 of 128.
        let high = u64::try_from(id >> u64::BITS).unwrap_or(u64::MAX);
        since(*instant).unbounded_shl(u64::BITS - width) | high.unbounded_shr(width)
    };
    let numbered = (instants.iter().zip(ids).map(key).zip(0_u32..)).map(|(key, row)| GatherKey { key, row });
    let keys: Vec<GatherKey> = numbered.collect();
    if keys.len() < ids.len() {
        return Err(Error::internal("too many rows at once"));
    }
    let id = |nth: u32| usize::try_from(nth).ok().and_then(|nth| ids.get(nth));
    let sorted = sorted(&keys, |a, b| {
        // Where keys are equal, so are instants.
        let rest = || (id(a.row), a.row).cmp(&(id(b.row), b.row));
        a.key.cmp(&b.key).then_with(rest)
    });
    let mut places = vec![0; keys.len()];
    for (key, place) in sorted.into_iter().zip(0..) {
        if let Some(slot) = usize::try_from(key.row).ok().and_then(|nth| places.get_mut(nth)) {
            *slot = place;
        }
    }
    Ok(Some(places))
}

/// What a row is sorted by, and which row it is.
#[derive(Clone, Copy)]
struct GatherKey {
    key: u64,
    row: u32,
}

/// The keys in order. They are spread about evenly over all numbers: each is first put where its highest bits belong,
/// about one to a place, and only those that fell together are compared.
fn sorted(keys: &[GatherKey], compare: impl Fn(&GatherKey, &GatherKey) -> Ordering) -> Vec<GatherKey> {
    /// No more places than keep near.
    const MOST_BITS: u32 = 16;
    let bits = (usize::BITS - keys.len().leading_zeros()).clamp(1, MOST_BITS);
    let groups = keys.iter().map(|of| index_u64(of.key >> (u64::BITS - bits)));
    let mut dealt = Dealt::new(keys, groups, 1 << bits);
    dealt.each_several(|together| together.sort_unstable_by(&compare));
    dealt.into_items()
}
