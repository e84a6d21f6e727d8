//! A part of the candidates that are in memory: it goes to disk as a whole.

use std::collections::BTreeMap;

use super::packed::{GatherPart, GatherRun, WaitingBatch};
use super::spill_key::SpillKey;

/// Runs of rows of a batch.
pub(super) struct BatchRuns {
    /// Place of the batch in its segment.
    pub(super) at: usize,
    pub(super) runs: Vec<GatherRun>,
}

/// Candidates that come and go together.
#[derive(Default)]
pub(super) struct SpillSegment {
    pub(super) batches: Vec<WaitingBatch>,
    /// Runs of rows, by batch.
    pub(super) index: BTreeMap<SpillKey, Vec<BatchRuns>>,
    pub(super) bytes: usize,
    pub(super) rows: usize,
}

impl SpillSegment {
    /// The rows of these runs.
    pub(super) fn parts(&self, runs: &[BatchRuns]) -> Vec<GatherPart> {
        runs.iter()
            .filter_map(|BatchRuns { at, runs }| {
                let batch = self.batches.get(*at)?.clone();
                Some(GatherPart {
                    batch,
                    runs: runs.clone(),
                })
            })
            .collect()
    }
}
