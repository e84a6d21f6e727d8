//! Parts of `usage` and `charges`: the rows of one VO and allocation year of a site are one file of them, and it is written
//! where these rows changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;

use super::partition_context::PartitionContext;
use crate::error::{Error, Result};
use crate::runtime::pool;
use crate::schema::Dataset;
use crate::schema::batch::{int, text};
use crate::store::lake::LakeTable;

/// One file of `usage` or `charges` within a site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UsageSlice {
    pub(crate) vo: Option<String>,
    pub(crate) allocation_year: i64,
}

/// Files of `usage` or `charges` of a site.
pub(crate) struct SliceFiles<'a> {
    pub(crate) context: &'a PartitionContext<'a>,
    /// `usage` or `charges`.
    pub(crate) dataset: &'static Dataset,
    pub(crate) site: &'a str,
    /// Path of the file of a site, a VO and an allocation year.
    pub(crate) path: fn(&str, Option<&str>, i64) -> String,
}

impl SliceFiles<'_> {
    /// Path of the file of a slice.
    pub(crate) fn path(&self, of: &UsageSlice) -> String {
        (self.path)(self.site, of.vo.as_deref(), of.allocation_year)
    }

    /// Stages a file for each slice of rows that have the columns of the dataset, among others; gives the slices.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written.
    pub(crate) fn write(&self, rows: &RecordBatch) -> Result<BTreeSet<UsageSlice>> {
        let slices = slices(rows)?;
        let rows = project(rows, self.dataset)?;
        let provenance = [
            ("gridtally.pipeline".to_owned(), self.context.plan.name.clone()),
            ("gridtally.plan".to_owned(), self.context.plan.fingerprint.clone()),
        ];
        // They are many, and of what a small file takes its rows are the least.
        pool::until_error(&slices, self.context.threads, |(of, range)| {
            let mut table = LakeTable::create(self.context.publication, &self.dataset.name, &self.path(of))?;
            table.write(&rows.slice(range.start, range.len()))?;
            table.finish(&provenance).map(drop)
        })?;
        Ok(slices.into_iter().map(|(of, _)| of).collect())
    }

    /// Removes the files of slices that have no rows any more.
    pub(crate) fn remove<'a>(&self, slices: impl Iterator<Item = &'a UsageSlice>) {
        for of in slices {
            self.context.publication.remove(&self.path(of));
        }
    }
}

/// The columns of a dataset out of those of a batch.
pub(crate) fn project(batch: &RecordBatch, dataset: &Dataset) -> Result<RecordBatch> {
    let columns = dataset.columns.iter().map(|column| {
        batch
            .column_by_name(&column.name)
            .cloned()
            .ok_or_else(|| Error::internal(format!("contributions have no column {}", column.name)))
    });
    Ok(RecordBatch::try_new(
        dataset.arrow(),
        columns.collect::<Result<Vec<_>>>()?,
    )?)
}

/// Runs of rows of one VO and allocation year, in the order of the rows.
pub(crate) fn slices(batch: &RecordBatch) -> Result<Vec<(UsageSlice, Range<usize>)>> {
    let (vo, year) = (text(batch, "vo")?, int(batch, "allocation_year")?);
    let mut found: Vec<(UsageSlice, Range<usize>)> = Vec::new();
    for (row, (vo, year)) in vo.iter().zip(year.values()).enumerate() {
        match found.last_mut() {
            Some((of, range)) if of.vo.as_deref() == vo && of.allocation_year == *year => range.end = row + 1,
            _ => {
                let of = UsageSlice {
                    vo: vo.map(str::to_owned),
                    allocation_year: *year,
                };
                found.push((of, row..row + 1));
            }
        }
    }
    Ok(found)
}

/// The slices whose rows in `now` are not those in `before`, in the same order.
pub(crate) fn changed(before: &RecordBatch, now: &RecordBatch) -> Result<BTreeSet<UsageSlice>> {
    let (before, now) = (by_slice(before)?, by_slice(now)?);
    let slices = before.keys().chain(now.keys());
    Ok(slices.filter(|of| before.get(*of) != now.get(*of)).cloned().collect())
}

/// The rows of a slice within a batch. Two are the same when their values are: columns are cut out of the batch only to be compared.
struct SliceRows<'a> {
    batch: &'a RecordBatch,
    runs: Vec<Range<usize>>,
}

impl PartialEq for SliceRows<'_> {
    fn eq(&self, other: &Self) -> bool {
        let is_same_run = |(a, b): (&Range<usize>, &Range<usize>)| {
            let mut columns = self.batch.columns().iter().zip(other.batch.columns());
            a.len() == b.len() && columns.all(|(of, to)| *of.slice(a.start, a.len()) == *to.slice(b.start, b.len()))
        };
        self.batch.num_columns() == other.batch.num_columns()
            && self.runs.len() == other.runs.len()
            && self.runs.iter().zip(&other.runs).all(is_same_run)
    }
}

/// The rows of every slice.
fn by_slice(batch: &RecordBatch) -> Result<BTreeMap<UsageSlice, SliceRows<'_>>> {
    let mut found = BTreeMap::new();
    for (of, run) in slices(batch)? {
        let rows = found.entry(of).or_insert_with(|| SliceRows {
            batch,
            runs: Vec::new(),
        });
        rows.runs.push(run);
    }
    Ok(found)
}

/// The rows of a batch in some slices, by allocation year; all rows where no slices are named.
pub(crate) fn by_year(batch: &RecordBatch, of: Option<&BTreeSet<UsageSlice>>) -> Result<BTreeMap<i64, RecordBatch>> {
    let mut runs: BTreeMap<i64, Vec<Range<usize>>> = BTreeMap::new();
    for (slice, run) in slices(batch)? {
        if of.is_none_or(|of| of.contains(&slice)) {
            let runs = runs.entry(slice.allocation_year).or_default();
            match runs.last_mut() {
                Some(last) if last.end == run.start => last.end = run.end,
                _ => runs.push(run),
            }
        }
    }
    let joined = runs.into_iter().map(|(year, runs)| Ok((year, rows(batch, &runs)?)));
    joined.collect()
}

/// Some runs of rows of a batch as one.
fn rows(batch: &RecordBatch, runs: &[Range<usize>]) -> Result<RecordBatch> {
    let slices: Vec<RecordBatch> = runs.iter().map(|run| batch.slice(run.start, run.len())).collect();
    match slices.as_slice() {
        [whole] => Ok(whole.clone()),
        several => Ok(concat_batches(batch.schema_ref(), several)?),
    }
}

/// The batches of a table of `dataset` as one; without rows where there is no table.
pub(crate) fn whole(
    dataset: &Dataset,
    batches: Option<impl Iterator<Item = Result<RecordBatch>>>,
) -> Result<RecordBatch> {
    let mut admitted = Vec::new();
    for batch in batches.into_iter().flatten() {
        let batch = batch?;
        dataset.admit(&batch)?;
        admitted.push(batch);
    }
    let schema = admitted.first().map_or_else(|| dataset.arrow(), RecordBatch::schema);
    Ok(concat_batches(&schema, &admitted)?)
}
