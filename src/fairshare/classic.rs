//! The classic formula: usage against shares of the whole cluster, level by level.

use super::algorithm::{AssociationScore, LevelFairshare};
use super::association::RawShares;
use super::float::of_integer;
use super::level_shares::{ShareSource, share_sources};
use super::tree::{AssociationId, AssociationTree};

/// What the effective usage of an association depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct UsagePlace<'a> {
    /// Which association it is.
    pub(super) id: AssociationId,
    /// Where its shares come from.
    pub(super) source: &'a ShareSource,
    /// Its fraction of the cluster.
    pub(super) norm_shares: f64,
    /// Its fraction of all usage.
    pub(super) norm_usage: f64,
    /// The scores of the account its shares are taken from.
    pub(super) above: &'a AssociationScore,
}

/// The fraction of all usage that every association has, in the order of the tree.
pub(super) fn usage_fractions(totals_e6: &[i128]) -> Vec<f64> {
    // Fallback: never taken, a tree has a root and usage of it.
    let all_e6 = totals_e6.first().copied().unwrap_or_default();
    totals_e6.iter().map(|usage_e6| fraction(*usage_e6, all_e6)).collect()
}

/// The scores under a formula with effective usage; `norm_usages` are the fractions of all usage that it takes.
pub(super) fn scores(
    tree: &AssociationTree,
    totals_e6: &[i128],
    norm_usages: &[f64],
    dampening: f64,
    effective: impl Fn(&UsagePlace<'_>) -> f64,
) -> Vec<AssociationScore> {
    let sources = share_sources(tree);
    let mut scores: Vec<AssociationScore> = Vec::with_capacity(tree.len());
    let usages = totals_e6.iter().zip(norm_usages);
    for (((id, _), (usage_e6, norm_usage)), source) in tree.iter().zip(usages).zip(&sources) {
        let norm_usage = *norm_usage;
        let above = source.above.and_then(|above| scores.get(above.index()));
        let (norm_shares, effective_usage) = match above {
            None => (1.0, 1.0),
            Some(above) => {
                let norm_shares = match source.shares {
                    RawShares::Parent => above.norm_shares,
                    RawShares::Number(number) => {
                        above.norm_shares * fraction(i128::from(number), i128::from(source.level_shares))
                    }
                };
                let place = UsagePlace {
                    id,
                    source,
                    norm_shares,
                    norm_usage,
                    above,
                };
                let effective_usage = if above.id == tree.root() {
                    norm_usage
                } else if source.shares == RawShares::Parent {
                    above.effective_usage
                } else {
                    effective(&place)
                };
                (norm_shares, effective_usage)
            }
        };
        scores.push(AssociationScore {
            id,
            usage_e6: *usage_e6,
            norm_shares,
            norm_usage,
            effective_usage,
            level_fs: LevelFairshare::Blank,
            factor: Some(factor(effective_usage, norm_shares, dampening)),
        });
    }
    scores
}

/// Its own usage, and of the rest of its account's usage the part of its shares.
pub(super) fn effective_usage(at: &UsagePlace<'_>) -> f64 {
    let of_account = at.above.effective_usage;
    let RawShares::Number(number) = at.source.shares else {
        return of_account;
    };
    if at.source.level_shares == 0 {
        return of_account;
    }
    let part = fraction(i128::from(number), i128::from(at.source.level_shares));
    at.norm_usage + (of_account - at.norm_usage) * part
}

/// `2^(-(usage / shares) / dampening)`; 0 without shares.
pub(super) fn factor(effective_usage: f64, norm_shares: f64, dampening: f64) -> f64 {
    if norm_shares <= 0.0 {
        return 0.0;
    }
    libm::exp2(-(effective_usage / norm_shares / dampening))
}

/// A quotient; 0 where there is nothing to divide by.
pub(super) fn fraction(number: i128, of: i128) -> f64 {
    if of == 0 {
        0.0
    } else {
        of_integer(number) / of_integer(of)
    }
}
