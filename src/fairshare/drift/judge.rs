//! The order of the rules: users first, then accounts.

use super::cause::{DriftCause, DriftFinding};
use super::facts::{AmountPair, DriftFacts, billing_s};
use super::{factor, past, reset};
use crate::error::Result;
use crate::fairshare::AssociationId;

impl DriftFacts<'_> {
    /// The cause of every association, in the order of the tree.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when usage does not fit.
    pub fn findings(&self) -> Result<Vec<DriftFinding>> {
        let mut found: Vec<Option<DriftFinding>> = vec![None; self.tree.len()];
        let mut put = |pair: &AmountPair, finding: DriftFinding| {
            if let Some(place) = found.get_mut(pair.id.index()) {
                *place = Some(finding);
            }
        };
        let mut pairs = Vec::new();
        for pair in self.users() {
            if let Some(finding) = self.of_itself(pair) {
                put(&pair, finding);
            } else {
                pairs.push(pair);
            }
        }
        let differing =
            |pairs: &[AmountPair]| -> Vec<AmountPair> { pairs.iter().copied().filter(|pair| !pair.agrees()).collect() };
        if let Some(evidence) = factor::factor_of_all(self, &pairs)? {
            for pair in differing(&pairs) {
                put(&pair, DriftFinding::new(DriftCause::FactorChange, evidence.clone()));
            }
        } else {
            let less: Vec<AmountPair> = pairs.iter().copied().filter(|pair| pair.is_less()).collect();
            for found in reset::resets(self, &less)? {
                put(&found.pair, DriftFinding::new(DriftCause::Reset, found.evidence));
            }
            for (pair, finding) in past::past(self, &pairs)? {
                put(&pair, finding);
            }
        }
        for pair in &pairs {
            let is_open = found.get(pair.id.index()).is_some_and(Option::is_none);
            if let Some(place) = found.get_mut(pair.id.index()).filter(|_| is_open) {
                *place = Some(DriftFinding::plain(if pair.agrees() {
                    DriftCause::Agrees
                } else {
                    DriftCause::Unknown
                }));
            }
        }
        self.accounts(&mut found)?;
        let not_compared = || DriftFinding::new(DriftCause::NotCompared, "the listing does not state it".to_owned());
        Ok(found
            .into_iter()
            .map(|finding| finding.unwrap_or_else(not_compared))
            .collect())
    }

    /// What one user alone shows, whatever the others have.
    fn of_itself(&self, pair: AmountPair) -> Option<DriftFinding> {
        let counter = self.counter(pair.id)?;
        if pair.agrees() {
            return None;
        }
        let running = billing_s(counter.running_e6);
        if pair.excess().abs() <= pair.tolerance + running {
            let evidence = format!("running jobs may have used {running:.0} billing seconds that are not computed");
            return Some(DriftFinding::new(DriftCause::Running, evidence));
        }
        if counter.uncounted_n > 0 && pair.is_more() {
            let evidence = format!("{} jobs of it are not counted", counter.uncounted_n);
            return Some(DriftFinding::new(DriftCause::Uncounted, evidence));
        }
        None
    }

    /// An account differs as the user in it that differs most.
    fn accounts(&self, found: &mut [Option<DriftFinding>]) -> Result<()> {
        let totals_e6 = self.usage.totals_e6(self.tree)?;
        for (id, association) in self.tree.iter() {
            if association.key.is_user() {
                continue;
            }
            let Some(stated_e6) = self.counter(id).and_then(|counter| counter.stated_e6) else {
                continue;
            };
            let Some(own_and_below) = totals_e6.get(id.index()) else {
                continue;
            };
            let pair = self.pair(id, billing_s(stated_e6), billing_s(*own_and_below));
            let finding = self.of_account(pair, found)?;
            if let Some(place) = found.get_mut(id.index()) {
                *place = Some(finding);
            }
        }
        Ok(())
    }

    fn of_account(&self, pair: AmountPair, found: &[Option<DriftFinding>]) -> Result<DriftFinding> {
        if pair.agrees() {
            return Ok(DriftFinding::plain(DriftCause::Agrees));
        }
        let mut most: Option<(f64, &DriftFinding)> = None;
        let mut explained = 0.0;
        for user in self.users() {
            if !self.tree.is_within(user.id, pair.id) {
                continue;
            }
            explained += user.excess();
            let Some(finding) = found.get(user.id.index()).and_then(Option::as_ref) else {
                continue;
            };
            let size = user.excess().abs();
            let is_more = most.is_none_or(|(known, _)| size > known);
            if finding.cause != DriftCause::Agrees && is_more {
                most = Some((size, finding));
            }
        }
        let rest = pair.excess() - explained;
        match most {
            Some((_, finding)) if rest.abs() <= pair.excess().abs() / 2.0 => {
                let evidence = match finding.evidence.as_str() {
                    "" => String::new(),
                    evidence => format!("of the user in it that differs most: {evidence}"),
                };
                Ok(DriftFinding::new(finding.cause, evidence))
            }
            _ => self.of_unlisted(pair, rest),
        }
    }

    /// What the users of an account do not explain.
    fn of_unlisted(&self, pair: AmountPair, rest: f64) -> Result<DriftFinding> {
        let own_e6 = self.own_below(pair.id);
        if rest < -pair.tolerance && billing_s(own_e6) >= -rest - pair.tolerance {
            let evidence = "jobs of associations that are not listed are computed for the account".to_owned();
            return Ok(DriftFinding::new(DriftCause::Unlisted, evidence));
        }
        if self.has_unstated_users(pair.id) {
            let evidence = "the listing does not state users in it, and what they have is in the difference".to_owned();
            return Ok(DriftFinding::new(DriftCause::NotCompared, evidence));
        }
        let truncated_s = self.truncated_below_s(pair.id)?;
        if rest > pair.tolerance && rest <= pair.tolerance + truncated_s {
            return Ok(DriftFinding::new(
                DriftCause::Truncated,
                past::truncated_words(truncated_s),
            ));
        }
        if rest > pair.tolerance {
            let evidence = "the account holds usage of none of its listed users".to_owned();
            return Ok(DriftFinding::new(DriftCause::Unlisted, evidence));
        }
        Ok(DriftFinding::plain(DriftCause::Unknown))
    }

    /// Whether the scheduler does not state what some users in an account have.
    fn has_unstated_users(&self, account: AssociationId) -> bool {
        let mut users = self.tree.iter().filter(|(_, association)| association.key.is_user());
        users.any(|(id, _)| {
            let is_stated = self.counter(id).is_some_and(|counter| counter.stated_e6.is_some());
            !is_stated && self.tree.is_within(id, account)
        })
    }

    /// The most that the jobs of accounts themselves in an account may lack.
    fn truncated_below_s(&self, account: AssociationId) -> Result<f64> {
        let accounts = self.tree.iter().filter(|(_, association)| !association.key.is_user());
        let within = accounts.filter(|(id, _)| self.tree.is_within(*id, account));
        within.map(|(id, _)| self.truncated_s(id)).sum()
    }

    /// Usage of accounts themselves in an account: of jobs whose user is not listed.
    fn own_below(&self, account: AssociationId) -> i128 {
        let accounts = self.tree.iter().filter(|(_, association)| !association.key.is_user());
        accounts
            .filter(|(id, _)| self.tree.is_within(*id, account))
            .filter_map(|(id, _)| self.usage.own_e6(id))
            .sum()
    }
}
