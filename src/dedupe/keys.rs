//! The order of records, and where a day of too many of them is cut.

use super::packed::{self, GatherPart};
use crate::error::Result;
use crate::numbers::{Extent, index};

/// What records are sorted by: rows of one job agree in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordKey {
    /// The instant that places it, Unix milliseconds.
    pub record_ms: i64,
    /// Identity.
    pub record_id: u128,
}

impl RecordKey {
    /// The last key before this one.
    pub(super) fn before(self) -> Self {
        match self.record_id.checked_sub(1) {
            Some(record_id) => Self { record_id, ..self },
            None => Self {
                // Fallback: before the first instant of all there is no key that could be missed.
                record_ms: self.record_ms.saturating_sub(1),
                record_id: u128::MAX,
            },
        }
    }
}

/// Rows of a block that one of its keys stands for.
const SAMPLE_ROWS: usize = 256;
/// What a row takes besides its packed bytes while it is merged, about.
const ROW_BYTES: usize = 256;

/// Some keys of a block, evenly spread over its rows in order, and what the rows behind each take.
#[derive(Clone, Debug, Default)]
pub struct KeySample(Vec<(RecordKey, usize)>);

/// What so many rows take while they are merged.
pub(super) fn merge_bytes(rows: usize, packed_bytes: usize) -> usize {
    packed_bytes.further(rows.times(ROW_BYTES))
}

impl KeySample {
    /// Of the rows of waiting batches that together take `packed_bytes`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a batch is not a waiting one.
    pub(super) fn of(parts: &[GatherPart], packed_bytes: usize) -> Result<Self> {
        let (instants, ids) = packed::keys(parts)?;
        let row_n = ids.len();
        let places = packed::places(&instants, &ids)?;
        let keys = instants.into_iter().zip(ids);
        let keys = keys.map(|(record_ms, record_id)| RecordKey { record_ms, record_id });
        let sampled: Vec<RecordKey> = match places {
            None => keys.step_by(SAMPLE_ROWS).collect(),
            Some(places) => {
                let is_sampled = |place: u32| index(place).is_multiple_of(SAMPLE_ROWS);
                let sampled = keys.zip(places).filter(|(_, place)| is_sampled(*place));
                let mut sampled: Vec<RecordKey> = sampled.map(|(key, _)| key).collect();
                sampled.sort_unstable();
                sampled
            }
        };
        let of_row = merge_bytes(row_n, packed_bytes) / row_n.max(1);
        let firsts = (0..row_n).step_by(SAMPLE_ROWS);
        let bytes = firsts.map(|first| of_row.times(SAMPLE_ROWS.min(row_n - first)));
        Ok(Self(sampled.into_iter().zip(bytes).collect()))
    }

    /// Adds a key, and what the rows behind it take.
    pub(crate) fn push(&mut self, key: RecordKey, bytes: usize) {
        self.0.push((key, bytes));
    }

    /// The keys in order, and what the rows behind each take.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (RecordKey, usize)> {
        self.0.iter().copied()
    }

    /// Adds the keys of another block.
    pub(super) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// The first key of all, of a block that was sampled in order.
    pub(super) fn first(&self) -> Option<RecordKey> {
        self.0.first().map(|(key, _)| *key)
    }

    /// The last of these keys: few rows are behind it.
    pub(super) fn last(&self) -> Option<RecordKey> {
        self.0.last().map(|(key, _)| *key)
    }

    /// What all rows take.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().fold(0, |sum: usize, (_, bytes)| sum.further(*bytes))
    }

    /// Where slices end that take about `bytes` each. Rows of one job are never parted.
    pub(super) fn cuts(mut self, bytes: usize) -> DayCuts {
        self.0.sort_unstable();
        let mut cuts = DayCuts::default();
        let (mut held, mut last) = (0_usize, None);
        for (key, more) in self.0 {
            if held >= bytes && last != Some(key) {
                cuts.keys.push(key);
                held = 0;
            }
            last = Some(key);
            held = held.further(more);
            cuts.most_bytes = cuts.most_bytes.max(held);
        }
        cuts
    }
}

/// The slice a row belongs to, of a day that is cut before these keys.
pub(super) fn slice_of(key: RecordKey, cuts: &[RecordKey]) -> usize {
    cuts.partition_point(|cut| *cut <= key)
}

/// Where a day of many rows is cut.
#[derive(Debug, Default)]
pub(super) struct DayCuts {
    /// First keys of all slices but the first one.
    pub(super) keys: Vec<RecordKey>,
    /// What the largest slice takes, about.
    pub(super) most_bytes: usize,
}
