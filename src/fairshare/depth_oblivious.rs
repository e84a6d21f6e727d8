//! Effective usage that does not depend on how deep an association is.

use super::classic::UsagePlace;
use super::level_shares::ShareSource;
use super::tree::{AssociationId, AssociationTree};

/// How strongly the usage of an account that is far from its share hides differences within it; a constant of Slurm.
const STRENGTH: f64 = 5.0;

/// The fraction of all usage of one association, in the form that a sum over its level takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SiblingUsage {
    /// When it is computed, and for whatever is computed after it.
    pub(super) computed: f64,
    /// What is left of the computation before, for whatever is computed earlier than it.
    pub(super) former: f64,
}

/// For every association, in the order of the tree, the fraction of all usage that its level has: the children of its account
/// with shares of their own. Accounts are computed before users, each in the order of the tree. Where all is computed at once
/// both fractions of an association are the same.
pub(super) fn usage_of_levels(
    tree: &AssociationTree,
    sources: &[ShareSource],
    usage_of: impl Fn(AssociationId) -> SiblingUsage,
) -> Vec<f64> {
    let mut sums: Vec<f64> = vec![0.0; tree.len()];
    let mut of_accounts: Vec<f64> = vec![0.0; tree.len()];
    for (id, association) in tree.iter() {
        let has_shares = |child: &AssociationId| tree.get(*child).is_some_and(|child| child.shares.number().is_some());
        let is_user = |child: &AssociationId| tree.get(*child).is_some_and(|child| child.key.is_user());
        let level: Vec<AssociationId> = association.children.iter().copied().filter(has_shares).collect();
        let mut sum: f64 = level.iter().map(|child| usage_of(*child).former).sum();
        let (users, accounts): (Vec<AssociationId>, Vec<AssociationId>) = level.into_iter().partition(is_user);
        for child in accounts.into_iter().chain(users) {
            let usage = usage_of(child);
            sum += usage.computed - usage.former;
            if let Some(of_child) = sums.get_mut(child.index()) {
                *of_child = sum;
            }
        }
        if let Some(of_account) = of_accounts.get_mut(id.index()) {
            *of_account = sum;
        }
    }
    // What hangs under an account without shares of its own is a level with the children of the account above that.
    for ((_, association), (source, sum)) in tree.iter().zip(sources.iter().zip(&mut sums)) {
        if let Some(above) = source.above.filter(|above| association.parent != Some(*above)) {
            // Fallback: never taken, there is a sum of every association of the tree.
            *sum = of_accounts.get(above.index()).copied().unwrap_or_default();
        }
    }
    sums
}

/// The ratio of usage to shares of the account, times the ratio of the association within it, which counts less the
/// further the two point in opposite directions.
pub(super) fn effective_usage(at: &UsagePlace<'_>, usage_of_levels: &[f64]) -> f64 {
    let (of_account, shares_of_account) = (at.above.effective_usage, at.above.norm_shares);
    // Fallback: never taken, the sums are of every association of the tree.
    let siblings = usage_of_levels.get(at.id.index()).copied().unwrap_or_default();
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
