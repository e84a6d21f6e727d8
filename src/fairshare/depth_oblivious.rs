//! Effective usage that does not depend on how deep an association is.

use super::classic::{UsagePlace, fraction};
use super::tree::{AssociationId, AssociationTree};

/// How strongly the usage of an account that is far from its share hides differences within it; a constant of Slurm.
const STRENGTH: f64 = 5.0;

/// The fraction of all usage that the children of each account with shares of their own have, in the order of the tree.
pub(super) fn usage_of_children(tree: &AssociationTree, totals_e6: &[i128]) -> Vec<f64> {
    // Fallback: never taken, a tree has a root and usage of it.
    let all_e6 = totals_e6.first().copied().unwrap_or_default();
    // Fallback: never taken, there is usage of every association of the tree.
    let norm_usage = |id: &AssociationId| fraction(totals_e6.get(id.index()).copied().unwrap_or_default(), all_e6);
    let has_shares = |id: &&AssociationId| tree.get(**id).is_some_and(|child| child.shares.number().is_some());
    let sum = |children: &[AssociationId]| children.iter().filter(has_shares).map(norm_usage).sum();
    tree.iter().map(|(_, association)| sum(&association.children)).collect()
}

/// The ratio of usage to shares of the account, times the ratio of the association within it, which counts less the
/// further the two point in opposite directions.
pub(super) fn effective_usage(at: &UsagePlace<'_>, usage_of_children: &[f64]) -> f64 {
    let (of_account, shares_of_account) = (at.above.effective_usage, at.above.norm_shares);
    // Fallback: never taken, the sums are of every association of the tree.
    let siblings = usage_of_children.get(at.above.id.index()).copied().unwrap_or_default();
    let factors = [at.norm_shares, shares_of_account, of_account, at.norm_usage, siblings];
    if factors.iter().any(|factor| *factor <= 0.0) {
        return at.norm_usage;
    }
    let of_parent = of_account / shares_of_account;
    let within = at.norm_usage / at.norm_shares / (siblings / shares_of_account);
    let (log_parent, log_within) = (libm::log(of_parent), libm::log(within));
    let exponent = if log_parent * log_within >= 0.0 {
        1.0
    } else {
        let distance = STRENGTH * log_parent;
        1.0 / (1.0 + distance * distance)
    };
    of_parent * libm::pow(within, exponent) * at.norm_shares
}
