//! A lake, and by what its sums were made: what computing again works with.

use std::sync::Arc;

use arrow_array::RecordBatch;

use super::difference::Compared;
use crate::charge::Tariff;
use crate::energy::EnergyPlan;
use crate::error::{Kind, Result};
use crate::lake::calendar_fact::CalendarRule;
use crate::lake::refused_records::RefusedRecords;
use crate::lake::views::Views;
use crate::normalise::plan::NormalisePlan;
use crate::schema;
use crate::store::{Manifest, Store, read_table};
use crate::summarise::correction_effect::Corrections;
use crate::summarise::settings::Settings;

/// Rows read at once.
pub(super) const READ_ROWS: usize = 16_384;

/// What is not as it was computed, as (path, problem).
pub(super) type RecomputedFindings = Vec<(String, String)>;

/// A lake, and by what its sums were made.
pub(super) struct Recomputation<'a> {
    pub(super) store: &'a Store,
    pub(super) manifest: &'a Manifest,
    /// Records that are no usage.
    pub(super) refused: &'a RefusedRecords,
    /// Views in which summaries count in place of jobs.
    pub(super) displaced: &'a Views,
    pub(super) corrections: Corrections,
    pub(super) rule: CalendarRule,
    pub(super) normalise: NormalisePlan,
    /// What energy and carbon were computed by.
    pub(super) energy: Option<EnergyPlan>,
    pub(super) tariffs: Vec<Arc<Tariff>>,
    /// Policies that cannot be applied again, and why.
    pub(super) unreadable: Vec<String>,
}

impl Recomputation<'_> {
    /// The settings sums are computed with. The values of a benchmark table are in the records.
    pub(super) fn settings(&self) -> Settings<'_> {
        Settings {
            attribution: self.rule.attribution,
            grain: self.rule.grain,
            calendar_zone: &self.rule.zone,
            allocation_year_start: self.rule.year_start,
            normalise: &self.normalise,
            energy: self.energy.as_ref(),
            tariffs: &self.tariffs,
            corrections: Some(self.corrections.table()),
        }
    }

    /// Whether every policy can be applied again.
    pub(super) fn is_priced(&self) -> bool {
        self.unreadable.is_empty()
    }

    /// All rows of a published table.
    pub(super) fn rows(&self, path: &str, dataset: &str) -> Result<RecordBatch> {
        let declared = schema::dataset(dataset)?;
        let mut batches = Vec::new();
        for batch in read_table(self.store.reader(path)?, None, READ_ROWS)? {
            let batch = batch?;
            declared.admit(&batch)?;
            batches.push(batch);
        }
        Ok(arrow_select::concat::concat_batches(&declared.arrow(), &batches)?)
    }

    /// How a file differs from what was computed; a file is due where that has rows.
    pub(super) fn compare(
        &self,
        path: &str,
        dataset: &str,
        computed: Option<&RecordBatch>,
        compared: &Compared<'_>,
    ) -> Result<Option<String>> {
        let computed = computed.filter(|computed| computed.num_rows() > 0);
        match (computed, self.manifest.file(path)) {
            (None, None) => Ok(None),
            (None, Some(_)) => Ok(Some("holds rows without a counterpart".to_owned())),
            (Some(_), None) => Ok(Some("is not there, and rows of it were computed".to_owned())),
            (Some(computed), Some(_)) => compared.difference(computed, &self.rows(path, dataset)?),
        }
    }

    /// What `work` finds of a file; a file whose rows cannot be worked with is a finding.
    pub(super) fn found(path: &str, work: impl FnOnce() -> Result<RecomputedFindings>) -> Result<RecomputedFindings> {
        match work() {
            Err(why) if matches!(why.kind(), Kind::Data | Kind::Internal | Kind::Config) => {
                Ok(vec![(path.to_owned(), format!("cannot be computed again: {why}"))])
            }
            done => done,
        }
    }
}

/// Threads to work on.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}
