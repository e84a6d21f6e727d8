//! The buckets that candidates wait in: one of each site and day.

use std::collections::HashMap;

use ahash::RandomState;

use super::dealt::Dealt;
use super::intake_rows::IntakeBucket;
use super::packed::GatherRun;
use crate::error::{Error, Result};
use crate::time::Day;

/// What candidates are kept by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SpillKey {
    /// Site.
    pub(super) site: String,
    /// Day of the instants that place its rows.
    pub(super) day: Day,
}

/// Runs of fewer rows on average are put together: each costs as much as several rows when its bucket is gathered.
const FEW_ROWS: usize = 8;

/// Rows of a batch that are in one bucket.
pub(super) struct BucketRuns {
    pub(super) key: SpillKey,
    pub(super) runs: Vec<GatherRun>,
}

/// The order of rows in which those of a bucket follow each other, where their own has them in many runs.
///
/// # Errors
/// [`crate::error::Kind::Internal`] for a batch of more than 4 billion rows.
pub(super) fn bucket_order(buckets: &[IntakeBucket]) -> Result<Option<Vec<u32>>> {
    let run_n = buckets.chunk_by(|a, b| a == b).count();
    if run_n * FEW_ROWS < buckets.len() {
        return Ok(None);
    }
    let mut known: HashMap<IntakeBucket, usize, RandomState> = HashMap::default();
    let mut last = None;
    let groups = buckets.iter().map(|bucket| match last {
        Some((same, group)) if same == *bucket => group,
        _ => {
            let next = known.len();
            let group = *known.entry(*bucket).or_insert(next);
            last = Some((*bucket, group));
            group
        }
    });
    let groups: Vec<usize> = groups.collect();
    if groups.is_sorted() {
        return Ok(None);
    }
    let row_n = u32::try_from(buckets.len()).map_err(|why| Error::internal("4 billion rows at once").because(why))?;
    let rows: Vec<u32> = (0..row_n).collect();
    Ok(Some(
        Dealt::new(&rows, groups.iter().copied(), known.len()).into_items(),
    ))
}

/// The runs of rows of each (site, day).
///
/// # Errors
/// [`crate::error::Kind::Internal`] for a bucket of a site that is not among `sites`.
pub(super) fn by_bucket(buckets: impl Iterator<Item = IntakeBucket>, sites: &[String]) -> Result<Vec<BucketRuns>> {
    let mut found: Vec<(IntakeBucket, Vec<GatherRun>)> = Vec::new();
    let mut buckets = buckets.enumerate().peekable();
    while let Some((first, bucket)) = buckets.next() {
        let mut len = 1;
        while buckets.next_if(|(_, next)| *next == bucket).is_some() {
            len += 1;
        }
        let run = GatherRun { first, len };
        // Rows are few sites and days at a time, and the last ones come again.
        match found.iter_mut().rfind(|(known, _)| *known == bucket) {
            Some((_, runs)) => runs.push(run),
            None => found.push((bucket, vec![run])),
        }
    }
    let named = found.into_iter().map(|(bucket, runs)| {
        let site = usize::try_from(bucket.site).ok().and_then(|at| sites.get(at));
        let key = SpillKey {
            site: site.ok_or_else(|| Error::internal("a bucket without a site"))?.clone(),
            day: bucket.day,
        };
        Ok(BucketRuns { key, runs })
    });
    named.collect()
}
