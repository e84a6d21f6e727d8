//! What is granted against what the newest listing of associations has.

use std::collections::BTreeMap;

use super::day::DayShares;
use super::table::listed_text;
use crate::diagnostics::{Problems, did_you_mean};
use crate::error::Result;
use crate::fairshare::RawShares;
use crate::reference::minute_limit::MinuteLimitTable;

/// A limit of minutes that is another one than the listing has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinutesChange {
    /// The resource.
    pub tres: String,
    /// The limit of the listing; `None` where there is none.
    pub from: Option<String>,
    /// The limit that is stated.
    pub to: u64,
}

/// What has to become of one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountChange {
    /// The account.
    pub account: String,
    /// Its shares in the listing, where they are to change.
    pub from: Option<RawShares>,
    /// Its new shares; `None` where they stay.
    pub to: Option<u32>,
    /// Limits that change.
    pub minutes: Vec<MinutesChange>,
}

/// The difference of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareChanges {
    /// Accounts with another number of shares, or with other limits; parents first.
    pub accounts: Vec<AccountChange>,
    /// Accounts whose shares and limits are those of the listing.
    pub unchanged_n: usize,
}

impl AccountChange {
    /// Whether it had no number of its own.
    #[must_use]
    pub fn is_added(&self) -> bool {
        self.to.is_some() && self.from.and_then(RawShares::number).is_none()
    }

    /// As a line for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        if let Some(to) = self.to {
            let from = self.from.map_or_else(|| "not stated".to_owned(), listed_text);
            parts.push(format!("fairshare {from} -> {to}"));
        }
        for minutes in &self.minutes {
            let from = minutes.from.as_deref().unwrap_or("none");
            parts.push(format!("minutes of {} {from} -> {}", minutes.tres, minutes.to));
        }
        format!("{}: {}", self.account, parts.join(", "))
    }
}

impl ShareChanges {
    /// Compares a day with its listing; limits of accounts that are not in it are mistakes of `file`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] with the mistakes.
    pub fn of(shares: &DayShares, limits: &MinuteLimitTable, file: &str) -> Result<Self> {
        let mut problems = Problems::default();
        for row in limits.rows.iter().filter(|row| row.is_good_on(shares.day)) {
            if !shares.listing.accounts.contains_key(&row.account) {
                let hint = did_you_mean(&row.account, shares.listing.accounts.keys().map(String::as_str));
                problems.mistake(
                    file,
                    row.line,
                    format!("account \"{}\" is not in Slurm{hint}", row.account),
                );
            }
        }
        problems.finish()?;
        let stated = limits.on(shares.day);
        let granted: BTreeMap<&str, u32> = shares
            .accounts
            .iter()
            .map(|of| (of.account.as_str(), of.whole))
            .collect();
        let mut changes = Self::default();
        for (_, association) in shares.listing.tree.iter() {
            let account = association.key.account.as_str();
            let listed = shares.listing.accounts.get(account);
            let from = listed.and_then(|row| row.shares);
            let is_same = |to: &&u32| from == Some(RawShares::Number(**to));
            let to = granted.get(account).filter(|to| !is_same(to)).copied();
            let limits = listed.and_then(|row| row.fields.get("grp_tres_mins"));
            let limits = tres_limits(limits.map_or("", String::as_str));
            let minutes = stated.get(account).into_iter().flatten().filter_map(|(tres, to)| {
                let limit = limits.iter().find(|limit| limit.tres.eq_ignore_ascii_case(tres));
                let from = limit.map(|limit| limit.amount.to_owned());
                let is_same = from.as_deref() == Some(to.to_string().as_str());
                (!is_same).then(|| MinutesChange {
                    tres: (*tres).to_owned(),
                    from,
                    to: *to,
                })
            });
            let minutes: Vec<MinutesChange> = minutes.collect();
            if to.is_some() || !minutes.is_empty() {
                changes.accounts.push(AccountChange {
                    account: account.to_owned(),
                    from,
                    to,
                    minutes,
                });
            } else if granted.contains_key(account) || stated.contains_key(account) {
                changes.unchanged_n += 1;
            }
        }
        Ok(changes)
    }

    /// The change of an account.
    pub(super) fn of_account(&self, account: &str) -> Option<&AccountChange> {
        self.accounts.iter().find(|change| change.account == account)
    }
}

/// One limit of a list such as `cpu=100,gres/gpu=5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TresLimit<'a> {
    pub(super) tres: &'a str,
    pub(super) amount: &'a str,
}

/// The limits of a list.
pub(super) fn tres_limits(list: &str) -> Vec<TresLimit<'_>> {
    let limits = list.split(',').filter_map(|limit| limit.split_once('='));
    limits
        .map(|(tres, amount)| TresLimit {
            tres: tres.trim(),
            amount: amount.trim(),
        })
        .collect()
}
