//! What the command line adds to a pipeline for one run.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::config::Plan;
use crate::ingest::summary_limits::SummaryLimits;
use crate::time::Month;

/// Choices of one run; none of them changes the content of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// Folder or URL to publish to, in place of the pipeline's `output`. Relative to the working directory.
    pub out: Option<String>,
    /// First month of records to take (UTC month of `record_utc`), included.
    pub from: Option<Month>,
    /// Last month of records to take, included.
    pub to: Option<Month>,
    /// Read and check everything, publish nothing.
    pub dry_run: bool,
    /// Hash every input file that may be known, also one that is as it was when it was hashed last.
    pub rehash: bool,
    /// Threads to parse with; `None` takes one per core.
    pub threads: Option<usize>,
    /// Bytes of records kept in memory before they go to a temporary file; `None` takes a budget that suits most
    /// machines. Results do not depend on it.
    pub memory_byte_n: Option<usize>,
    /// Months of sites that are merged at the same time at most; `None` takes as many as there are threads. Each takes
    /// memory of its own. Results do not depend on it.
    pub merged_at_once: Option<NonZeroUsize>,
    /// How many summaries are held in memory; what goes beyond is refused.
    pub summary_limits: SummaryLimits,
    /// How long to wait for another writer of the lake.
    pub wait: Duration,
}

impl RunOptions {
    /// Where the results of a pipeline go.
    #[must_use]
    pub fn output<'a>(&'a self, plan: &'a Plan) -> &'a str {
        self.out.as_deref().unwrap_or(&plan.output)
    }
}
