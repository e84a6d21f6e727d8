//! Trees with other shares than their listings state.

use super::listing::DatedTrees;
use crate::diagnostics::did_you_mean;
use crate::error::{Error, Kind, Result};
use crate::fairshare::{AssociationId, AssociationKey, AssociationTree, RawShares};
use crate::reference::share_change::{ShareAmount, ShareChange};

/// The shares of one association before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedShares {
    /// `ACCOUNT`, `ACCOUNT/USER` or `ACCOUNT/USER/PARTITION`.
    pub name: String,
    /// Those of the listing.
    pub before: RawShares,
    /// Those that are assumed.
    pub after: RawShares,
}

impl DatedTrees {
    /// The trees with changed shares, all of them, and what changes in the tree in force at an instant. Later changes of an
    /// association follow earlier ones. A tree of another time that does not have an association stays as it is.
    ///
    /// # Errors
    /// [`Kind::Config`] for an association that the tree at the instant does not have, with the nearest name, and for numbers
    /// of shares that are impossible; every mistake with its place. [`Kind::Usage`] when all of them are of the command line.
    pub fn with_shares(&self, changes: &[ShareChange], at_s: i64) -> Result<(Self, Vec<ChangedShares>)> {
        // Fallback: an instant beyond all milliseconds has the last tree.
        let instant_ms = at_s.saturating_mul(1000);
        let now = self
            .at(instant_ms)
            .ok_or_else(|| Error::internal("a cluster without a tree"))?;
        let mut mistakes = Vec::new();
        let mut kind = Kind::Usage;
        let mut mistake = |change: &ShareChange, why: String| {
            if !change.is_of_command_line() {
                kind = Kind::Config;
            }
            if !mistakes.contains(&why) {
                mistakes.push(why);
            }
        };
        let mut known = Vec::new();
        for change in changes {
            match now.find(&key_of(change)) {
                Some(id) if id == now.root() => mistake(change, format!("{}: the root has no shares", change.place)),
                Some(_) => known.push(change),
                None => mistake(change, unlisted(change, now)),
            }
        }
        let mut assumed = self.clone();
        assumed.each_mut(|tree| {
            for change in &known {
                let Some(id) = tree.find(&key_of(change)) else {
                    continue;
                };
                match shares_after(tree, id, change.amount) {
                    Ok(shares) => tree.set_shares(id, shares),
                    Err(why) => mistake(change, format!("{}: {}: {why}", change.place, change.name())),
                }
            }
        });
        if !mistakes.is_empty() {
            return Err(Error::new(kind, mistakes.join("\n")));
        }
        let after = assumed
            .at(instant_ms)
            .ok_or_else(|| Error::internal("a cluster without a tree"))?;
        let pairs = now
            .iter()
            .zip(after.iter())
            .map(|((_, before), (_, after))| ChangedShares {
                name: name_of(&before.key),
                before: before.shares,
                after: after.shares,
            });
        let of_now = pairs.filter(|of| of.before != of.after).collect();
        Ok((assumed, of_now))
    }
}

/// The name of an association as changes write it.
#[must_use]
pub fn name_of(key: &AssociationKey) -> String {
    let parts = [Some(&key.account), key.user.as_ref(), key.partition.as_ref()];
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    parts.join("/")
}

fn key_of(change: &ShareChange) -> AssociationKey {
    AssociationKey {
        account: change.account.clone(),
        user: change.user.clone(),
        partition: change.partition.clone(),
    }
}

fn unlisted(change: &ShareChange, tree: &AssociationTree) -> String {
    let name = change.name();
    let is_alike = |key: &AssociationKey| key.is_user() == change.user.is_some();
    let known: Vec<String> = (tree.iter())
        .filter(|(_, association)| is_alike(&association.key))
        .map(|(_, association)| name_of(&association.key))
        .collect();
    let hint = did_you_mean(&name, known.iter().map(String::as_str));
    format!(
        "{}: the listing of associations has no {} called \"{name}\"{hint}",
        change.place,
        if change.user.is_some() { "user" } else { "account" }
    )
}

fn shares_after(tree: &AssociationTree, id: AssociationId, amount: ShareAmount) -> Result<RawShares, String> {
    let more = match amount {
        ShareAmount::Number(number) => return Ok(RawShares::Number(number)),
        ShareAmount::Parent => return Ok(RawShares::Parent),
        ShareAmount::More(more) => more,
    };
    let listed = tree.get(id).and_then(|association| association.shares.number());
    let listed = listed.ok_or_else(|| format!("{amount} of parent is no number: state one"))?;
    let sum = i64::from(listed)
        .checked_add(more)
        .and_then(|sum| u32::try_from(sum).ok());
    sum.map(RawShares::Number)
        .ok_or_else(|| format!("{listed} {amount} is not a number of shares"))
}
