//! The days on which shares change, because something was bought or given back, or because a listing has another machine.

use std::collections::{BTreeMap, BTreeSet};

use super::day::{DayShares, GrantedAccount, ShareSources};
use crate::error::{Error, Kind, Result};
use crate::time::{Day, DaySpan};

/// What changed on one day.
#[derive(Clone, Debug)]
pub struct ShareDay {
    /// The day.
    pub day: Day,
    /// Accounts with other shares than before, parents first; on the first day all of them.
    pub changed: Vec<GrantedAccount>,
    /// Accounts that are no longer granted shares.
    pub gone: Vec<String>,
}

/// The history of a span.
#[derive(Clone, Debug)]
pub struct ShareHistory {
    /// The days on which something changes; the first day first.
    pub days: Vec<ShareDay>,
    /// What people have to know of it, each once.
    pub notes: BTreeSet<String>,
}

impl ShareSources {
    /// The days of a span on which shares change. Without a first day it begins with the first change of ownership, without
    /// a last one it ends with the last.
    ///
    /// # Errors
    /// [`Kind::Usage`] when there is no such day; as [`Self::on`].
    pub fn history(&self, span: DaySpan) -> Result<ShareHistory> {
        let mut days = self.tables.owners.changes();
        days.extend(self.tables.tres.changes());
        days.extend(self.machine.days(&self.zone));
        days.extend(self.associations.days(&self.zone));
        let none = || Error::new(Kind::Usage, "nothing has a day: state --from and --to");
        let first = span.from.or(days.first().copied()).ok_or_else(none)?;
        let last = span.to.or(days.last().copied()).ok_or_else(none)?.max(first);
        days.insert(first);
        let mut history = ShareHistory {
            days: Vec::new(),
            notes: BTreeSet::new(),
        };
        let mut before: Option<DayShares> = None;
        for day in days.range(first..=last) {
            let shares = self.on(*day)?;
            history.notes.extend(shares.notes.iter().cloned());
            let change = difference(before.as_ref(), &shares);
            if before.is_none() || !change.changed.is_empty() || !change.gone.is_empty() {
                history.days.push(change);
            }
            before = Some(shares);
        }
        Ok(history)
    }
}

fn difference(before: Option<&DayShares>, after: &DayShares) -> ShareDay {
    let accounts = before.map_or(&[][..], |before| &before.accounts);
    let known: BTreeMap<&str, &GrantedAccount> = accounts.iter().map(|of| (of.account.as_str(), of)).collect();
    let is_other = |of: &&GrantedAccount| {
        let former = known.get(of.account.as_str());
        former.is_none_or(|former| (former.shares, former.whole) != (of.shares, of.whole))
    };
    let now: BTreeSet<&str> = after.accounts.iter().map(|of| of.account.as_str()).collect();
    let gone = known.keys().filter(|account| !now.contains(**account));
    ShareDay {
        day: after.day,
        changed: after.accounts.iter().filter(is_other).cloned().collect(),
        gone: gone.map(|account| (*account).to_owned()).collect(),
    }
}
