//! The records of a lake as they would be under another schedule: started and ended earlier or later, else the same.

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, TimestampMillisecondArray};
use arrow_select::filter::filter_record_batch;

use super::lake_source::LakeSource;
use super::record_places::RecordPlaces;
use crate::error::Result;
use crate::lake::counted_records::RecordCounting;
use crate::numbers::index;
use crate::schema::batch::{decoded, id, identity, time, times};
use crate::simulate::jobs::{JobList, Jobs};
use crate::simulate::schedule::Schedule;
use crate::store::lake::parse_month_path;
use crate::store::{Manifest, Store, TableRows};

/// Rows read at once.
const BATCH_ROWS: usize = 16_384;
/// Columns that move with the start.
const MOVED: [&str; 3] = ["record_utc", "start_utc", "end_utc"];
/// Milliseconds of a second.
const SECOND_MS: i64 = 1000;

/// The records of the simulated jobs that count in the lake.
pub(crate) struct SimulatedRecords<'a> {
    store: &'a Store,
    manifest: &'a Manifest,
    source: &'a LakeSource,
    jobs: &'a Jobs,
    places: RecordPlaces,
    counting: RecordCounting,
}

impl<'a> SimulatedRecords<'a> {
    /// # Errors
    /// [`crate::error::Kind::Io`] when the summaries of the lake cannot be read, or the places of many jobs cannot be put into a
    /// temporary file.
    pub(crate) fn new(
        store: &'a Store,
        manifest: &'a Manifest,
        source: &'a LakeSource,
        jobs: &'a Jobs,
    ) -> Result<Self> {
        Ok(Self {
            store,
            manifest,
            source,
            jobs,
            places: RecordPlaces::of(source, jobs)?,
            counting: RecordCounting::of_lake(store, manifest)?,
        })
    }

    /// Hands every batch of their records to `each`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read; what `each` fails with.
    pub(crate) fn each(&self, mut each: impl FnMut(&RecordBatch, &[u32]) -> Result<()>) -> Result<()> {
        let mut known = self.places.places.reader();
        for file in self.manifest.dataset("records") {
            if parse_month_path(&file.path).is_none_or(|of| of.site != self.source.site) {
                continue;
            }
            let wanted = TableRows {
                batch_rows: BATCH_ROWS,
                ..TableRows::default()
            };
            for batch in self.counting.batches(self.store, self.manifest, &file.path, &wanted)? {
                let batch = decoded(&batch?.records)?;
                let ids = id(&batch, "record_id")?;
                let mut places = Vec::new();
                let mut is_simulated = Vec::with_capacity(batch.num_rows());
                for row in 0..batch.num_rows() {
                    let place = self.places.of_record(&mut known, identity(ids, row)?);
                    places.extend(place);
                    is_simulated.push(Some(place.is_some()));
                }
                if places.is_empty() {
                    continue;
                }
                let own = filter_record_batch(&batch, &is_simulated.into_iter().collect::<BooleanArray>())?;
                each(&own, &places)?;
            }
        }
        Ok(())
    }

    /// A batch of these records, at `places` of the jobs, under a schedule. Jobs that never start are left out.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it is no batch of records.
    pub(crate) fn moved(&self, batch: &RecordBatch, places: &[u32], schedule: &Schedule) -> Result<RecordBatch> {
        let (mut starts, mut jobs) = (schedule.starts.reader(), JobList::from(self.jobs).reader());
        let mut shift_ms = |place: u32| {
            let start = (*starts.get(index(place))?)?;
            let recorded_s = jobs.get(index(place))?.recorded_start_s?;
            Some((start.start_s - recorded_s) * SECOND_MS)
        };
        let shifts: Vec<Option<i64>> = places.iter().map(|place| shift_ms(*place)).collect();
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let column: ArrayRef = if MOVED.contains(&field.name().as_str()) {
                let known: &TimestampMillisecondArray = time(batch, field.name())?;
                times((0..known.len()).map(|row| {
                    let shift_ms = shifts.get(row).copied().flatten()?;
                    known.is_valid(row).then(|| known.value(row) + shift_ms)
                }))
            } else {
                ArrayRef::clone(column)
            };
            columns.push(column);
        }
        let starts: BooleanArray = shifts.iter().map(|shift| Some(shift.is_some())).collect();
        // What does not start has no times, which its schema may not allow: it is taken out first.
        let kept = columns
            .iter()
            .map(|column| arrow_select::filter::filter(column, &starts))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(RecordBatch::try_new(batch.schema(), kept)?)
    }
}
