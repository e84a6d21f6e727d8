//! Which record is that of which job of the trace.

use super::lake_source::LakeSource;
use crate::error::Result;
use crate::numbers::Extent;
use crate::runtime::column::{Column, ColumnReader, ColumnWriter};
use crate::runtime::column_value::{ByteFields, ColumnValue};
use crate::runtime::sorter::Sorter;
use crate::simulate::jobs::{JobList, Jobs};

/// Places of which the first record is held in memory.
const PART_N: usize = 256;

/// A record, and the place of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordPlace {
    record_id: u128,
    place: u32,
}

impl ColumnValue for RecordPlace {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.record_id.to_le_bytes());
        bytes.extend_from_slice(&self.place.to_le_bytes());
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        Self {
            record_id: bytes.number128(),
            place: bytes.number32(),
        }
    }
}

/// The places of jobs by their records.
#[derive(Debug)]
pub(super) struct RecordPlaces {
    pub(super) places: Column<RecordPlace>,
    /// The first record of each part.
    firsts: Vec<u128>,
}

impl RecordPlaces {
    /// Those of the jobs of a lake.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when many cannot be put into a temporary file.
    pub(super) fn of(source: &LakeSource, jobs: &Jobs) -> Result<Self> {
        let budget = JobList::from(jobs).budget().part();
        let mut known = source.jobs.reader();
        let mut sorter = Sorter::new(budget);
        for (place, job) in (0_u32..).zip(jobs) {
            if let Some(known) = known.of(&job) {
                sorter.push(RecordPlace {
                    record_id: known.record_id,
                    place,
                })?;
            }
        }
        let (mut places, mut firsts) = (ColumnWriter::new(budget), Vec::new());
        for (nth, one) in sorter.finish()?.enumerate() {
            if nth.is_multiple_of(PART_N) {
                firsts.push(one.record_id);
            }
            places.push(one)?;
        }
        Ok(Self {
            places: places.finish()?,
            firsts,
        })
    }

    /// The place of the job of a record; `reader` is of [`Self::places`].
    pub(super) fn of_record(&self, reader: &mut ColumnReader<'_, RecordPlace>, record_id: u128) -> Option<u32> {
        let part = self.firsts.partition_point(|first| *first <= record_id).less(1);
        let (mut from, mut until) = (part * PART_N, (part + 1) * PART_N);
        while from < until {
            let middle = from.midpoint(until);
            if reader.get(middle).is_some_and(|one| one.record_id < record_id) {
                from = middle + 1;
            } else {
                until = middle;
            }
        }
        let found = reader.get(from).filter(|found| found.record_id == record_id);
        found.map(|found| found.place)
    }
}
