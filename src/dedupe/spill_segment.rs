//! A part of the candidates that are in memory: it goes to disk as a whole.

use std::collections::BTreeMap;

use super::packed::{GatherPart, GatherRun, WaitingBatch, gather, pack};
use super::spill_key::SpillKey;
use crate::error::{Error, Result};

/// Batches of fewer rows on average are made one: of those of a row, nearly all is what columns take besides their data.
const FEW_ROWS: usize = 64;

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
    /// Whether its batches have few rows.
    pub(super) fn is_scattered(&self) -> bool {
        self.batches.len() > 1 && self.rows / self.batches.len() < FEW_ROWS
    }

    /// The same rows in one batch.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a batch is not a waiting one.
    pub(super) fn compacted(self) -> Result<Self> {
        let mut firsts = Vec::with_capacity(self.batches.len());
        let mut parts = Vec::with_capacity(self.batches.len());
        let mut rows = 0;
        for batch in self.batches {
            firsts.push(rows);
            rows += batch.num_rows();
            parts.push(GatherPart::whole(batch));
        }
        let batch = WaitingBatch::of(pack(&gather(&parts)?)?)?;
        let mut index = BTreeMap::new();
        for (key, runs) in self.index {
            let mut moved = Vec::new();
            for BatchRuns { at, runs } in runs {
                let before = firsts.get(at).ok_or_else(|| Error::internal("rows of no batch"))?;
                moved.extend(runs.into_iter().map(|run| GatherRun {
                    first: before + run.first,
                    len: run.len,
                }));
            }
            index.insert(key, vec![BatchRuns { at: 0, runs: moved }]);
        }
        Ok(Self {
            bytes: batch.held_byte_n(),
            batches: vec![batch],
            index,
            rows: self.rows,
        })
    }

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
