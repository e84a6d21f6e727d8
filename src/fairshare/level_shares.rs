//! Shares among siblings, with associations that have none of their own left out.

use super::association::RawShares;
use super::tree::{AssociationId, AssociationTree};

/// Where the shares of one association come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShareSource {
    /// Its own number, if it has one.
    pub(super) shares: RawShares,
    /// The nearest account above it that has a number of its own, or the root; none for the root itself.
    pub(super) above: Option<AssociationId>,
    /// The sum over its level: its siblings with a number, and in place of siblings without one what is in them.
    pub(super) level_shares: u64,
}

/// The source of every association, in the order of the tree.
pub(super) fn share_sources(tree: &AssociationTree) -> Vec<ShareSource> {
    let mut sources: Vec<ShareSource> = Vec::with_capacity(tree.len());
    let mut sums: Vec<u64> = vec![0; tree.len()];
    for (_, association) in tree.iter() {
        let above = association.parent.map(|parent| match sources.get(parent.index()) {
            // Of the root nothing is inherited from further up.
            Some(ShareSource {
                shares: RawShares::Parent,
                above: Some(above),
                ..
            }) => *above,
            _ => parent,
        });
        if let Some(number) = association.shares.number()
            && let Some(sum) = above.and_then(|above| sums.get_mut(above.index()))
        {
            *sum += u64::from(number);
        }
        sources.push(ShareSource {
            shares: association.shares,
            above,
            level_shares: 0,
        });
    }
    for source in &mut sources {
        if let Some(sum) = source.above.and_then(|above| sums.get(above.index())) {
            source.level_shares = *sum;
        }
    }
    sources
}
