//! The buckets that candidates wait in: one of each site and day.

use super::intake_batch::IntakeBucket;
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

/// The runs of rows of each (site, day).
///
/// # Errors
/// [`crate::error::Kind::Internal`] for a bucket of a site that is not among `sites`.
pub(super) fn by_bucket(buckets: &[IntakeBucket], sites: &[String]) -> Result<Vec<(SpillKey, Vec<GatherRun>)>> {
    let mut found: Vec<(IntakeBucket, Vec<GatherRun>)> = Vec::new();
    let mut first = 0;
    for run in buckets.chunk_by(|a, b| a == b) {
        let bucket = run.first().ok_or_else(|| Error::internal("an empty run"))?;
        let run = GatherRun { first, len: run.len() };
        first += run.len;
        // Rows are few sites and days at a time, and the last ones come again.
        match found.iter_mut().rfind(|(known, _)| known == bucket) {
            Some((_, runs)) => runs.push(run),
            None => found.push((*bucket, vec![run])),
        }
    }
    let named = found.into_iter().map(|(bucket, runs)| {
        let site = usize::try_from(bucket.site).ok().and_then(|at| sites.get(at));
        let key = SpillKey {
            site: site.ok_or_else(|| Error::internal("a bucket without a site"))?.clone(),
            day: bucket.day,
        };
        Ok((key, runs))
    });
    named.collect()
}
