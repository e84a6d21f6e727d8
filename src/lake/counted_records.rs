//! Which records count: usage and charges are made of those alone, and whoever computes them again takes the same ones.

use std::collections::BTreeSet;

use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;

use super::refused_records::{ID_COLUMN, RefusedRecords};
use super::views::{self, Views, folded};
use crate::error::Result;
use crate::ledger::Reason;
use crate::schema::batch::{id, time, words};
use crate::store::lake::parse_month_path;
use crate::store::{Current, Manifest, Store, TableRows, read_rows};
use crate::summarise::attribution::Attribution;

/// What keeps records of a site and month from counting, by their identity and view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UncountedRecords<'a> {
    /// Records that are no usage.
    pub(crate) refused: &'a RefusedRecords,
    /// The views in which summaries count in place of jobs.
    pub(crate) displaced: Option<&'a BTreeSet<String>>,
}

impl UncountedRecords<'_> {
    /// Whether all records count.
    fn is_empty(&self) -> bool {
        self.refused.is_empty() && self.displaced.is_none_or(BTreeSet::is_empty)
    }

    /// Why a record does not count; `None` for one that does.
    pub(crate) fn reason(&self, record_id: &[u8], view: &str) -> Option<Reason> {
        let is_displaced = || self.displaced.is_some_and(|views| views.contains(view));
        let of_summaries = || is_displaced().then_some(Reason::SummariesCount);
        self.refused.reason(record_id).or_else(of_summaries)
    }

    /// The records of a batch that count.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it has no identities or views.
    pub(crate) fn without(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.is_empty() {
            return Ok(batch);
        }
        let (ids, views) = (id(&batch, ID_COLUMN)?, words(&batch, "view")?);
        let counts = |row| self.reason(ids.value(row), views.value(row)).is_none();
        let counted: BooleanArray = (0..batch.num_rows()).map(|row| Some(counts(row))).collect();
        Ok(filter_record_batch(&batch, &counted)?)
    }
}

/// Distinguishes the records of a lake that count from the others.
pub(crate) struct RecordCounting {
    displaced: Views,
    /// Whether jobs that have not ended count.
    counts_running: bool,
}

/// The records of a batch that count.
pub(crate) struct CountedBatch {
    /// These records.
    pub(crate) records: RecordBatch,
    /// How many others there were.
    pub(crate) left_out_n: usize,
}

impl RecordCounting {
    /// As the lake states it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when its summaries cannot be read.
    pub(crate) fn of_lake(store: &Store, manifest: &Manifest) -> Result<Self> {
        let places = manifest
            .dataset("records")
            .filter_map(|file| parse_month_path(&file.path));
        let places: BTreeSet<_> = places.map(|place| folded(&place)).collect();
        let summaries = Current::published(manifest, "summary").into_iter();
        Ok(Self {
            displaced: views::counting(store, summaries, |place| places.contains(place))?,
            counts_running: counts_running(manifest),
        })
    }

    /// The records of a published file that count, batch by batch. The columns that decide it are read with those that are wanted.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the file cannot be read.
    pub(crate) fn batches(
        &self,
        store: &Store,
        manifest: &Manifest,
        path: &str,
        wanted: &TableRows<'_>,
    ) -> Result<impl Iterator<Item = Result<CountedBatch>>> {
        let refused = RefusedRecords::of_file(store, manifest, path)?;
        let place = parse_month_path(path);
        let displaced = place.and_then(|place| self.displaced.get(&folded(&place)));
        let mut deciding = vec!["view"];
        if !refused.is_empty() || displaced.is_some() {
            deciding.push(ID_COLUMN);
        }
        if !self.counts_running {
            deciding.push("end_utc");
        }
        let columns = wanted.columns.map(|columns| {
            deciding.retain(|name| !columns.contains(name));
            [columns, &deciding].concat()
        });
        let wanted = TableRows {
            columns: columns.as_deref(),
            ..wanted.clone()
        };
        let batches = read_rows(store.reader(path)?, &wanted)?;
        Ok(batches.map(move |batch| {
            let batch = batch?;
            let row_n = batch.num_rows();
            let refused = &refused;
            let records = self.ended(UncountedRecords { refused, displaced }.without(batch)?)?;
            Ok(CountedBatch {
                left_out_n: row_n - records.num_rows(),
                records,
            })
        }))
    }

    /// The records of a batch without jobs that have not ended, where those do not count.
    fn ended(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.counts_running {
            return Ok(batch);
        }
        let ends = time(&batch, "end_utc")?;
        if ends.null_count() == 0 {
            return Ok(batch);
        }
        let has_ended: BooleanArray = (0..batch.num_rows()).map(|row| Some(ends.is_valid(row))).collect();
        Ok(filter_record_batch(&batch, &has_ended)?)
    }
}

/// Whether jobs count in a lake before they have ended.
pub(crate) fn counts_running(manifest: &Manifest) -> bool {
    Attribution::of_lake(&manifest.facts).is_some_and(Attribution::counts_running)
}
