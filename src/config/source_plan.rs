//! One source of a pipeline, resolved.

use std::sync::Arc;

use super::reject_limits::RejectLimits;
use crate::dedupe::options::IntakeOptions;
use crate::dedupe::summary::publishing::Publishing;
use crate::sources::Format;
use crate::sources::location::{SearchPaths, Written};
use crate::sources::options::ReaderOptions;

/// One `[[source]]` or `[[inventory]]`, resolved.
#[derive(Clone, Debug)]
pub struct SourcePlan {
    /// Its name.
    pub name: String,
    /// Paths, globs, directories and URLs, made absolute against the pipeline file.
    pub paths: Vec<String>,
    /// How its files are read.
    pub reader: Arc<ReaderOptions>,
    /// What completes its records.
    pub intake: Arc<IntakeOptions>,
    /// BLAH accounting logs that give the jobs of this source their grid identity: paths as in
    /// [`SourcePlan::paths`]. Empty when jobs are taken as the batch system logs them.
    pub blah: Vec<String>,
    /// How summaries replace one another.
    pub publishing: Publishing,
    /// Own limits of what may be refused.
    pub limits: RejectLimits,
    /// Where the pipeline file names it.
    pub written: Written,
    /// What of this source decides the bytes of its records: changes here mean reading again.
    pub fingerprint: String,
}

impl SourcePlan {
    /// Its dialect.
    #[must_use]
    pub fn format(&self) -> Format {
        self.reader.format
    }

    /// Whether it describes the machine instead of the jobs.
    #[must_use]
    pub fn is_inventory(&self) -> bool {
        self.reader.is_inventory()
    }

    /// Where its files are looked for.
    #[must_use]
    pub fn search_paths(&self) -> SearchPaths<'_> {
        SearchPaths {
            source: &self.name,
            paths: &self.paths,
            written: &self.written,
        }
    }
}
