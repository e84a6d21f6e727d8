//! A batch of records with what each costs.

use arrow_array::RecordBatch;

use crate::charge::amount::MemoryUnit;
use crate::charge::facts::Facts;
use crate::charge::{JobPriced, Tariff, price};
use crate::error::Result;
use crate::summarise::view::RecordView;

/// A batch of `records` with what each costs under every tariff.
pub(super) struct ChargedJobs<'b> {
    pub(super) view: RecordView<'b>,
    pub(super) facts: Facts,
    /// By tariff.
    pub(super) priced: Vec<JobPriced>,
}

impl<'b> ChargedJobs<'b> {
    /// Prices a batch, of which this is known.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] naming the policy when its formulas contradict what they were compiled for.
    pub(super) fn new(batch: &'b RecordBatch, mut facts: Facts, tariffs: &[&Tariff]) -> Result<Self> {
        let mut units = Vec::with_capacity(tariffs.len());
        for tariff in tariffs {
            units.extend(tariff.policy.memory_unit(&tariff.options)?);
        }
        for unit in shared(units) {
            facts.share_memory_unit(unit);
        }
        let priced = tariffs
            .iter()
            .map(|tariff| price(&tariff.policy, &tariff.options, &facts, false))
            .collect::<Result<_>>()?;
        Ok(Self {
            view: RecordView::new(batch)?,
            facts,
            priced,
        })
    }

    /// Whether a tariff is for a job.
    #[inline]
    pub(super) fn is_in_scope(&self, nth: usize, job: usize) -> bool {
        let priced = self.priced.get(nth);
        priced.and_then(|priced| priced.is_in_scope.get(job)) == Some(&true)
    }

    /// What a job costs under a tariff, in units of 10^-9; `None` when it is unknown.
    #[inline]
    pub(super) fn charge(&self, nth: usize, job: usize) -> Option<i128> {
        *self.priced.get(nth)?.charge.get(job)?
    }
}

/// The units that more than one policy states.
fn shared(mut units: Vec<MemoryUnit>) -> Vec<MemoryUnit> {
    units.sort_unstable();
    let runs = units.chunk_by(|unit, next| unit == next);
    runs.filter_map(|run| run.first().filter(|_| run.len() > 1).copied())
        .collect()
}
