//! Records that are no usage, although `records` holds them: their rows of `rejects`, by identity.
//!
//! Whoever adds up `records` leaves out those that the sums of their site and month cannot take, as `usage` does: no sum of
//! the others overflows (see [`crate::summarise::budget`]).

use std::collections::HashMap;

use ahash::RandomState;
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;

use crate::error::Result;
use crate::ledger::Reason;
use crate::schema::batch::{id, identity, text};
use crate::store::lake::{parse_month_path, refused_records_path};
use crate::store::{Manifest, Store, TableRows, read_rows, read_table};

/// The identity of a record.
pub const ID_COLUMN: &str = "record_id";

/// Rows read at once.
const READ_ROWS: usize = 16_384;

/// Refused records, of one site and month or of a whole lake, each with its reason.
#[derive(Clone, Debug, Default)]
pub struct RefusedRecords {
    reasons: HashMap<[u8; 16], Reason, RandomState>,
    has_beyond_sums: bool,
}

impl RefusedRecords {
    /// Those of a published file of `records`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when they cannot be read.
    pub fn of_file(store: &Store, manifest: &Manifest, path: &str) -> Result<Self> {
        let refusals = parse_month_path(path).map(|of| refused_records_path(&of.site, of.month));
        match refusals.filter(|path| manifest.file(path).is_some()) {
            Some(refusals) => Self::read(store, &refusals),
            None => Ok(Self::default()),
        }
    }

    /// Those of a file of `rejects`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read.
    pub fn read(store: &Store, rejects: &str) -> Result<Self> {
        let mut refused = Self::default();
        for batch in read_table(store.reader(rejects)?, Some(&["reason", ID_COLUMN]), READ_ROWS)? {
            refused.add(&batch?)?;
        }
        Ok(refused)
    }

    /// Adds those of a batch of `rejects`. Rows that never became a record have no identity.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it has no reasons or identities.
    pub fn add(&mut self, rejects: &RecordBatch) -> Result<()> {
        let (reasons, ids) = (text(rejects, "reason")?, id(rejects, ID_COLUMN)?);
        for row in (0..rejects.num_rows()).filter(|row| ids.is_valid(*row)) {
            if let Some(reason) = Reason::parse(reasons.value(row)) {
                self.has_beyond_sums |= reason == Reason::SumLimit;
                self.reasons.insert(identity(ids, row)?.to_be_bytes(), reason);
            }
        }
        Ok(())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Why a record is no usage; `None` for one that is.
    #[must_use]
    pub fn reason(&self, record_id: &[u8]) -> Option<Reason> {
        self.reasons.get(record_id).copied()
    }

    /// Whether the sums of its month cannot take a record.
    #[must_use]
    pub fn is_beyond_sums(&self, record_id: &[u8]) -> bool {
        self.reason(record_id) == Some(Reason::SumLimit)
    }

    /// Whether the sums of the month can take all records.
    #[must_use]
    pub fn are_within_sums(&self) -> bool {
        !self.has_beyond_sums
    }

    /// The rows of a batch of records that the sums of their month cannot take, in order.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch has no identities and there are such records.
    pub fn rows_beyond_sums(&self, batch: &RecordBatch) -> Result<Vec<usize>> {
        if self.are_within_sums() {
            return Ok(Vec::new());
        }
        let ids = id(batch, ID_COLUMN)?;
        let is_refused = |row: &usize| self.is_beyond_sums(ids.value(*row));
        Ok((0..batch.num_rows()).filter(is_refused).collect())
    }

    /// The records of a batch but for those that the sums of their month cannot take.
    ///
    /// # Errors
    /// As [`Self::rows_beyond_sums`].
    pub fn without(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let refused = self.rows_beyond_sums(&batch)?;
        if refused.is_empty() {
            return Ok(batch);
        }
        let is_kept = (0..batch.num_rows()).map(|row| Some(refused.binary_search(&row).is_err()));
        Ok(filter_record_batch(&batch, &is_kept.collect::<BooleanArray>())?)
    }
}

/// The batches of a published file of `records` without those records that the sums of their month cannot take.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be read.
pub fn summed_records(
    store: &Store,
    manifest: &Manifest,
    path: &str,
    wanted: &TableRows<'_>,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let refused = RefusedRecords::of_file(store, manifest, path)?;
    let reads_ids = |columns: &&[&str]| !refused.are_within_sums() && !columns.contains(&ID_COLUMN);
    let with_ids = wanted
        .columns
        .filter(reads_ids)
        .map(|columns| [columns, &[ID_COLUMN]].concat());
    let wanted = TableRows {
        columns: with_ids.as_deref().or(wanted.columns),
        ..wanted.clone()
    };
    let batches = read_rows(store.reader(path)?, &wanted)?;
    let drops_ids = with_ids.is_some();
    Ok(batches.map(move |batch| {
        let mut batch = refused.without(batch?)?;
        if drops_ids {
            batch.remove_column(batch.schema().index_of(ID_COLUMN)?);
        }
        Ok(batch)
    }))
}
