//! Entries of the table, made into awards: in the order of their days, each held against what there is at its time.

use std::collections::{BTreeMap, BTreeSet};

use super::award::{Award, AwardChange, AwardLimit};
use super::same_award::{ParentName, ParentNames, is_same_award, overlaps, take_columns};
use super::unit::STORAGE;
use crate::diagnostics::{Problems, did_you_mean};
use crate::reference::allocation::{Allocation, AllocationTable, EntryKind};
use crate::reference::decimal;
use crate::reference::node_type::day_text;
use crate::time::Day;

/// Digits after the point of amounts.
const DIGITS: u32 = 9;

/// All awards of a table, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AwardLedger {
    /// The awards.
    pub awards: Vec<Award>,
    by_account: BTreeMap<String, Vec<usize>>,
}

/// Who used something, where and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwardUser<'u> {
    /// Site.
    pub site: &'u str,
    /// Cluster, where it is known.
    pub cluster: Option<&'u str>,
    /// Account.
    pub account: &'u str,
    /// Who submitted, where it is known.
    pub submitter: Option<&'u str>,
    /// The day of the use.
    pub day: Day,
}

impl AwardLedger {
    /// Makes awards of the entries of a table; `file` is its name in reported mistakes. Every contradiction is reported
    /// with its line: awards named twice, entries about nothing, transfers and adjustments of more than there is on their
    /// day, ends that move nothing, parents that are unknown, of another policy, of other days, or go in a circle.
    ///
    /// How much of an award was used is not known here: what there is at a time is what was granted until then.
    #[must_use]
    pub fn of(table: &AllocationTable, file: &str, problems: &mut Problems) -> Self {
        let mut ledger = Self::default();
        let mut parents = BTreeMap::new();
        for row in table.rows.iter().filter(|row| row.kind == EntryKind::Award) {
            if let Err(why) = ledger.grant(row, &mut parents) {
                problems.mistake(file, row.line, why);
            }
        }
        let mut later: Vec<&Allocation> = table.rows.iter().filter(|row| row.kind != EntryKind::Award).collect();
        later.sort_by_key(|row| (row.from, row.line));
        for row in later {
            if let Err(why) = ledger.change(row) {
                problems.mistake(file, row.line, why);
            }
        }
        for award in &mut ledger.awards {
            award.changes.sort_by_key(|change| (change.day, change.line));
        }
        for overlap in overlaps(&ledger.awards, table) {
            problems.mistake(file, overlap.line, overlap.message);
        }
        ledger.join_parents(&parents, file, problems);
        ledger
    }

    fn grant(&mut self, row: &Allocation, parents: &mut ParentNames) -> Result<(), String> {
        let parent = row.parent.as_ref().map(|id| ParentName {
            id: id.clone(),
            line: row.line,
        });
        let same = self.awards.iter_mut().enumerate();
        if let Some((at, same)) = same.into_iter().find(|(_, award)| is_same_award(award, row)) {
            let known = parents.get(&at).map(|known| known.id.as_str());
            take_columns(same, row, known)?;
            if let Some(parent) = parent {
                parents.entry(at).or_insert(parent);
            }
            // Two awards of the same days add up, as they always did.
            same.changes.push(change(row, row.amount_e9));
            same.users.extend(row.users.iter().cloned());
            return Ok(());
        }
        let id = row.award.clone().unwrap_or_else(|| made_id(row));
        if let Some(other) = self.awards.iter().find(|award| award.id == id) {
            return Err(format!("the award of line {} is also named \"{id}\"", other.line));
        }
        let is_stored = row.policy == STORAGE;
        if is_stored && row.unit.is_none() {
            return Err("unit is missing: a maximum of storage has one, such as TB".to_owned());
        }
        let at = self.awards.len();
        if let Some(parent) = parent {
            parents.insert(at, parent);
        }
        self.by_account.entry(row.account.clone()).or_default().push(at);
        self.awards.push(Award {
            id,
            limit: if is_stored {
                AwardLimit::Maximum
            } else {
                AwardLimit::Average
            },
            site: row.site.clone(),
            cluster: row.cluster.clone(),
            account: row.account.clone(),
            user: row.user.clone(),
            policy: row.policy.clone(),
            unit: row.unit.clone(),
            parent: None,
            level: 0,
            from: row.from,
            reference_until: row.until,
            changes: vec![change(row, row.amount_e9)],
            project: row.project.clone(),
            users: row.users.clone(),
            coldfront_attribute: row.coldfront_attribute,
            period_rule: row.period_rule.clone(),
            line: row.line,
            tariff: None,
            measure: None,
        });
        Ok(())
    }

    /// Applies an entry about an award; those before it, by day, are applied.
    fn change(&mut self, row: &Allocation) -> Result<(), String> {
        let at = self.meant(row)?;
        let award = self.awards.get(at).ok_or_else(|| "there is no such award".to_owned())?;
        if let Some(unit) = &row.unit
            && award.unit.as_ref() != Some(unit)
        {
            let own = award.unit.as_deref().unwrap_or("the unit of its policy");
            return Err(format!("is in {unit}, and the award of line {} in {own}", award.line));
        }
        let there_e9 = award.amount_e9(row.from);
        let until = award.until(row.from);
        if until.is_some_and(|until| until < row.from || (until == row.from && row.kind != EntryKind::Extension)) {
            let end = day_text(until, "");
            return Err(format!(
                "the award of line {} ended on {end}: nothing is there to change",
                award.line
            ));
        }
        let too_much = |more_e9: i128| {
            format!(
                "takes {} of the award of line {}, which has {} on {}",
                decimal::text(more_e9, DIGITS),
                award.line,
                decimal::text(there_e9, DIGITS),
                day_text(Some(row.from), "")
            )
        };
        match row.kind {
            EntryKind::Award => {}
            EntryKind::Supplement => self.push(at, change(row, row.amount_e9)),
            EntryKind::Adjustment => {
                if there_e9 + row.amount_e9 < 0 {
                    return Err(too_much(-row.amount_e9));
                }
                self.push(at, change(row, row.amount_e9));
            }
            EntryKind::Transfer => {
                if there_e9 < row.amount_e9 {
                    return Err(too_much(row.amount_e9));
                }
                let to = self.receiver(row, at)?;
                let mut out = change(row, -row.amount_e9);
                out.counterpart.clone_from(&row.to_account);
                let mut into = change(row, row.amount_e9);
                into.counterpart = Some(row.account.clone());
                self.push(at, out);
                self.push(to, into);
            }
            EntryKind::Extension => {
                let (Some(until), Some(new)) = (until, row.until) else {
                    return Err(format!("the award of line {} has no end to extend", award.line));
                };
                if new <= until {
                    let end = day_text(Some(until), "");
                    return Err(format!(
                        "extends nothing: the award of line {} ends on {end}",
                        award.line
                    ));
                }
                self.fits_next(at, new)?;
                let mut extended = change(row, 0);
                extended.until = Some(new);
                self.push(at, extended);
            }
            EntryKind::Expiry => {
                if row.from <= award.from {
                    return Err(format!(
                        "is not after the first day of the award of line {}",
                        award.line
                    ));
                }
                let mut ended = change(row, 0);
                ended.until = Some(row.from);
                self.push(at, ended);
            }
        }
        Ok(())
    }

    fn push(&mut self, at: usize, change: AwardChange) {
        if let Some(award) = self.awards.get_mut(at) {
            award.changes.push(change);
        }
    }

    /// An extended award must not run into another of the same jobs.
    fn fits_next(&self, at: usize, until: Day) -> Result<(), String> {
        let Some(award) = self.awards.get(at) else {
            return Ok(());
        };
        let is_same = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
        let next = self.awards.iter().enumerate().find(|(nth, other)| {
            *nth != at
                && (&other.account, &other.policy, &other.user) == (&award.account, &award.policy, &award.user)
                && is_same(&other.site, &award.site)
                && is_same(&other.cluster, &award.cluster)
                && other.from < until
                && other.last_until().is_none_or(|end| award.from < end)
        });
        match next {
            Some((_, next)) => Err(format!(
                "the award would run into that of line {}, which begins on {}",
                next.line,
                day_text(Some(next.from), "")
            )),
            None => Ok(()),
        }
    }

    /// The place of the award an entry is about.
    fn meant(&self, row: &Allocation) -> Result<usize, String> {
        let Some(id) = &row.award else {
            return self.standing(row, &row.account, row.user.as_deref()).ok_or_else(|| {
                let what = if row.kind == EntryKind::Extension {
                    "extends nothing: "
                } else {
                    ""
                };
                format!(
                    "{what}no award of the account \"{}\" under {} is good on {} at that place{}",
                    row.account,
                    row.policy,
                    day_text(Some(row.from), ""),
                    self.account_hint(&row.account)
                )
            });
        };
        let at = self.awards.iter().position(|award| award.id == *id);
        let named = at.and_then(|at| self.awards.get(at));
        match (at, named) {
            (Some(at), Some(award)) if award.account == row.account && award.policy == row.policy => Ok(at),
            (_, Some(award)) => Err(format!(
                "the award \"{id}\" of line {} is of the account \"{}\" under {}",
                award.line, award.account, award.policy
            )),
            (..) => {
                let known = self.awards.iter().map(|award| award.id.as_str());
                Err(format!("there is no award \"{id}\"{}", did_you_mean(id, known)))
            }
        }
    }

    /// The award of an account under the policy and at the place of an entry that is good on its day; of an extension, also
    /// the one that ends then. An expiry is not about the award that begins on its day.
    fn standing(&self, row: &Allocation, account: &str, user: Option<&str>) -> Option<usize> {
        let is_at = |own: &Option<String>, stated: &Option<String>| stated.is_none() || own == stated;
        let places = self.by_account.get(account)?.iter().copied();
        let meant = |at: &usize| {
            self.awards.get(*at).is_some_and(|award| {
                let end = award.until(row.from);
                let is_open =
                    end.is_none_or(|end| row.from < end || (row.kind == EntryKind::Extension && row.from == end));
                award.policy == row.policy
                    && award.user.as_deref() == user
                    && is_at(&award.site, &row.site)
                    && is_at(&award.cluster, &row.cluster)
                    && (award.from < row.from || (award.from == row.from && row.kind != EntryKind::Expiry))
                    && is_open
            })
        };
        let found: Vec<usize> = places.filter(meant).collect();
        // One of several would be a guess.
        match found.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    fn receiver(&self, row: &Allocation, from: usize) -> Result<usize, String> {
        // Fallback: a transfer without a receiver is refused when the table is read.
        let to = row.to_account.as_deref().unwrap_or_default();
        let missing = || {
            format!(
                "no award of the account \"{to}\" under {} is good on {} to receive it{}",
                row.policy,
                day_text(Some(row.from), ""),
                self.account_hint(to)
            )
        };
        let at = self.standing(row, to, None).ok_or_else(missing)?;
        if at == from {
            return Err("a transfer goes to another account".to_owned());
        }
        let units = [from, at].map(|at| self.awards.get(at).and_then(|award| award.unit.as_ref()));
        match units {
            [own, other] if own == other => Ok(at),
            _ => Err(format!("the award of \"{to}\" is in another unit")),
        }
    }

    fn account_hint(&self, account: &str) -> String {
        if self.by_account.contains_key(account) {
            return String::new();
        }
        let hint = did_you_mean(account, self.by_account.keys().map(String::as_str));
        format!("; the table has no award of that account{hint}")
    }

    fn join_parents(&mut self, stated: &ParentNames, file: &str, problems: &mut Problems) {
        let mut parents = Vec::with_capacity(self.awards.len());
        for (at, award) in self.awards.iter().enumerate() {
            let stated = stated.get(&at);
            let parent = match stated {
                Some(_) if award.user.is_some() => {
                    Err("parent: a user's part is of the award of the account, which may have a parent".to_owned())
                }
                Some(parent) => self.parent(at, award, &parent.id),
                None => Ok(self.account_award(award)),
            };
            parents.push(parent.unwrap_or_else(|why| {
                problems.mistake(file, stated.map_or(award.line, |parent| parent.line), why);
                None
            }));
        }
        for (award, parent) in self.awards.iter_mut().zip(&parents) {
            award.parent = *parent;
        }
        let mut levels = Vec::with_capacity(self.awards.len());
        for (at, award) in self.awards.iter().enumerate() {
            let above = self.above(at);
            if above.is_none() {
                problems.mistake(file, award.line, "the awards above it go in a circle");
            }
            levels.push(above.map(|above| above.len()));
        }
        for (award, level) in self.awards.iter_mut().zip(levels) {
            match level {
                Some(level) => award.level = level,
                // Whoever reads on after the mistake must not run in it.
                None => award.parent = None,
            }
        }
    }

    fn parent(&self, at: usize, award: &Award, id: &str) -> Result<Option<usize>, String> {
        let place = self.awards.iter().position(|other| other.id == id);
        let Some((place, parent)) = place.and_then(|place| Some((place, self.awards.get(place)?))) else {
            let names = self.awards.iter().map(|award| award.id.as_str());
            return Err(format!("parent: there is no award \"{id}\"{}", did_you_mean(id, names)));
        };
        if place == at {
            return Err("parent: an award is not above itself".to_owned());
        }
        if parent.policy != award.policy {
            return Err(format!(
                "parent: \"{id}\" counts under {}, and this award under {}",
                parent.policy, award.policy
            ));
        }
        let ends = parent
            .last_until()
            .is_none_or(|end| award.last_until().is_some_and(|own| own <= end));
        if award.from < parent.from || !ends {
            return Err(format!(
                "parent: the days of \"{id}\" do not include those of this award"
            ));
        }
        Ok(Some(place))
    }

    /// The award of the account that a user's part is of.
    fn account_award(&self, award: &Award) -> Option<usize> {
        award.user.as_ref()?;
        let is_at = |above: &Option<String>, own: &Option<String>| above.is_none() || above == own;
        let mut same = self.by_account.get(&award.account)?.iter().copied();
        same.find(|at| {
            self.awards.get(*at).is_some_and(|other| {
                other.user.is_none()
                    && other.policy == award.policy
                    && is_at(&other.site, &award.site)
                    && is_at(&other.cluster, &award.cluster)
                    && other.from <= award.from
                    && other.is_good_on(award.from)
            })
        })
    }

    /// The awards above one, the nearest first; `None` when they go in a circle.
    #[must_use]
    pub fn above(&self, at: usize) -> Option<Vec<usize>> {
        let mut above = Vec::new();
        let mut met = BTreeSet::from([at]);
        let mut next = self.awards.get(at)?.parent;
        while let Some(parent) = next {
            if !met.insert(parent) {
                return None;
            }
            above.push(parent);
            next = self.awards.get(parent)?.parent;
        }
        Some(above)
    }

    /// The awards that some use counts for, each once: a user's part before the award of the account, then those above it.
    /// `is_counted` decides whether an award counts the use at all, by its policy.
    #[must_use]
    pub fn counting(&self, user: AwardUser<'_>, is_counted: impl Fn(&Award) -> bool) -> Vec<usize> {
        let Some(places) = self.by_account.get(user.account) else {
            return Vec::new();
        };
        let is_at = |own: &Option<String>, place: Option<&str>| own.is_none() || own.as_deref() == place;
        let direct = places.iter().copied().filter(|at| {
            self.awards.get(*at).is_some_and(|award| {
                award.is_good_on(user.day)
                    && (award.user.is_none() || award.user.as_deref() == user.submitter)
                    && is_at(&award.site, Some(user.site))
                    && is_at(&award.cluster, user.cluster)
                    && is_counted(award)
            })
        });
        let mut counting: BTreeSet<usize> = BTreeSet::new();
        for at in direct {
            counting.insert(at);
            counting.extend(self.above(at).into_iter().flatten());
        }
        let mut counting: Vec<usize> = counting.into_iter().collect();
        counting.sort_by_key(|at| (std::cmp::Reverse(self.awards.get(*at).map(|award| award.level)), *at));
        counting
    }
}

fn change(row: &Allocation, delta_e9: i128) -> AwardChange {
    AwardChange {
        day: row.from,
        line: row.line,
        kind: row.kind,
        delta_e9,
        until: None,
        counterpart: None,
        author: row.author.clone(),
        reason: row.reason.clone(),
    }
}

/// A name made of what distinguishes an award.
fn made_id(row: &Allocation) -> String {
    let user = row.user.iter().map(|user| format!("+{user}"));
    let place = row.site.iter().chain(&row.cluster).map(|place| format!("@{place}"));
    let words: String = user.chain(place).collect();
    format!("{}{words} {} {}", row.account, row.policy, day_text(Some(row.from), ""))
}
