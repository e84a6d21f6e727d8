//! How many jobs each policy charged, and why it did not charge the others.

use std::collections::{BTreeMap, BTreeSet};

use super::billing_use::BillingUse;
use super::row::ChargeFigures;
use crate::charge::Tariff;
use crate::charge::scope::{JobKeptOut, KeptOut};
use crate::numbers::count_u64;

/// Jobs under one tariff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChargeTally {
    /// Id and version of the policy, and the options chosen.
    pub policy: [String; 3],
    /// Jobs charged.
    pub job_n: u64,
    /// Jobs whose charge is unknown.
    pub unpriced_job_n: u64,
    /// Jobs out of its scope, by the column of the scope that keeps them out; `when` is its condition.
    pub out_of_scope: BTreeMap<String, u64>,
    /// Jobs in its scope that ran when it did not hold.
    pub out_of_date_n: u64,
    /// Of the jobs whose charge is unknown, those of which a number does not fit.
    pub misfit_job_n: u64,
    /// The first of them.
    pub first_misfit: Option<String>,
    /// Jobs by cluster, where the policy reads their billing.
    pub billing: Vec<BillingUse>,
}

impl ChargeTally {
    pub(super) fn new(tariff: &Tariff) -> Self {
        Self {
            policy: [&tariff.policy.id, &tariff.policy.version, &tariff.chosen].map(String::clone),
            ..Self::default()
        }
    }

    /// Counts what keeps jobs of a batch out of the scope.
    pub(super) fn count(&mut self, tariff: &Tariff, kept_out: &[JobKeptOut]) {
        let only = &tariff.policy.scope.only;
        if only.is_empty() && tariff.policy.scope.when.is_none() {
            return;
        }
        let mut by_place = vec![0_u64; only.len() + 1];
        for JobKeptOut { why, .. } in kept_out {
            let place = match why {
                KeptOut::Column(nth) => *nth,
                KeptOut::Condition => only.len(),
            };
            if let Some(count) = by_place.get_mut(place) {
                *count += 1;
            }
        }
        let names = only.iter().map(|(name, _)| name.as_str()).chain(["when"]);
        for (name, count) in names.zip(by_place).filter(|(_, count)| *count > 0) {
            *self.out_of_scope.entry(name.to_owned()).or_default() += count;
        }
    }

    /// Counts a job by its first row.
    #[inline]
    pub(super) fn count_charged(&mut self, row: &ChargeFigures) {
        match row.charge {
            Some(_) => self.job_n += 1,
            None => self.unpriced_job_n += 1,
        }
    }

    /// Counts jobs of which a number does not fit.
    pub(super) fn count_misfits<'j>(&mut self, misfits: &BTreeSet<usize>, job_id: impl Fn(usize) -> &'j str) {
        let first = || misfits.first().map(|job| job_id(*job).to_owned());
        self.first_misfit = self.first_misfit.take().or_else(first);
        self.misfit_job_n += count_u64(misfits.len());
    }

    /// Adds another of the same tariff.
    pub fn add(&mut self, other: &Self) {
        self.job_n += other.job_n;
        self.unpriced_job_n += other.unpriced_job_n;
        self.out_of_date_n += other.out_of_date_n;
        self.misfit_job_n += other.misfit_job_n;
        self.first_misfit = self.first_misfit.take().or_else(|| other.first_misfit.clone());
        for counts in &other.billing {
            let is_same = |known: &&mut BillingUse| (&known.site, &known.cluster) == (&counts.site, &counts.cluster);
            match self.billing.iter_mut().find(is_same) {
                Some(known) => known.add(counts),
                None => self.billing.push(counts.clone()),
            }
        }
        for (column, count) in &other.out_of_scope {
            *self.out_of_scope.entry(column.clone()).or_default() += count;
        }
    }
}

/// What a correction adds whose charge under a policy is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpricedAddition {
    /// The correction.
    pub correction_id: String,
    /// The policy.
    pub policy: String,
    /// What is not known.
    pub why: String,
}
