//! Candidates wait here, sorted into (site, day) buckets, until every input is read. What does not fit the memory
//! budget goes to one unnamed temporary file, bucket by bucket, so that memory stays flat whatever the input's size.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use arrow::array::{Array, RecordBatch};

use super::intake_batch::IntakeBucket;
use super::packed::gather::with_words;
use super::packed::{GatherPart, GatherRun, gather, gather_sorted, pack};
use crate::error::{Error, Result};
use crate::runtime::scratch;
use crate::runtime::scratch::{Scratch, SpillRange};
use crate::time::{Day, Month};

/// Bytes of Arrow data kept in memory.
pub const MEMORY_BUDGET: usize = 96 << 20;
/// Candidates go to disk in segments of at most this share of the budget, the oldest first, while others fill up.
const SEGMENTS: usize = 8;
/// What a column takes besides its data, its field and its array included: of small files with a row each it is nearly
/// all.
const COLUMN_BYTES: usize = 1024;
/// Writing to disk costs the kernel more per byte than the fastest packing does.
const SPILL_LEVEL: i32 = -5;

/// All candidates of one run.
pub struct Spill {
    budget: usize,
    file_ids: Vec<Arc<str>>,
    resident: Mutex<Resident>,
    file: Mutex<SpillFile>,
}

/// What is in memory: the last segment is being filled.
#[derive(Default)]
struct Resident {
    segments: VecDeque<SpillSegment>,
    bytes: usize,
    days: BTreeSet<SpillKey>,
}

/// (site, day)
type SpillKey = (String, Day);

/// Runs of rows of a batch.
struct BatchRuns {
    /// Place of the batch in its segment.
    at: usize,
    runs: Vec<GatherRun>,
}

#[derive(Default)]
struct SpillSegment {
    batches: Vec<RecordBatch>,
    /// Runs of rows, by batch.
    index: BTreeMap<SpillKey, Vec<BatchRuns>>,
    bytes: usize,
    rows: usize,
}

impl SpillSegment {
    fn parts(&self, runs: &[BatchRuns]) -> Vec<GatherPart> {
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

#[derive(Default)]
struct SpillFile {
    scratch: Scratch,
    index: BTreeMap<SpillKey, Vec<SpillPlace>>,
}

/// Where a packed batch lies in the file.
#[derive(Clone, Copy, Debug)]
struct SpillPlace {
    packed: SpillRange,
    unpacked_len: usize,
}

impl Spill {
    /// An empty store that keeps at most about `budget` bytes in memory.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self {
            budget,
            file_ids: Vec::new(),
            resident: Mutex::default(),
            file: Mutex::default(),
        }
    }

    /// Says what the files are called in the end: candidates hold the place of their file in this list until then.
    pub fn name_files(&mut self, file_ids: &[Arc<str>]) {
        file_ids.clone_into(&mut self.file_ids);
    }

    /// Adds the records of one piece of input, with their buckets and the sites these name.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub fn push(&self, batch: RecordBatch, buckets: &[IntakeBucket], sites: &[String]) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let data: usize = batch.columns().iter().map(Array::get_buffer_memory_size).sum();
        let bytes = data + batch.num_columns() * COLUMN_BYTES;
        let runs = by_bucket(buckets, sites)?;
        let oldest = {
            let mut resident = lock(&self.resident)?;
            let Resident { segments, days, .. } = &mut *resident;
            if segments
                .back()
                .is_none_or(|segment| segment.bytes >= self.budget / SEGMENTS)
            {
                segments.push_back(SpillSegment::default());
            }
            let segment = segments.back_mut().ok_or_else(|| Error::internal("no segment"))?;
            let at = segment.batches.len();
            for (key, runs) in runs {
                days.insert(key.clone());
                segment.index.entry(key).or_default().push(BatchRuns { at, runs });
            }
            segment.rows += batch.num_rows();
            segment.batches.push(batch);
            segment.bytes += bytes;
            resident.bytes += bytes;
            let oldest = if resident.bytes < self.budget {
                None
            } else {
                resident.segments.pop_front()
            };
            resident.bytes -= oldest.as_ref().map_or(0, |segment| segment.bytes);
            oldest
        };
        match oldest {
            Some(segment) => self.flush(&segment),
            None => Ok(()),
        }
    }

    fn flush(&self, segment: &SpillSegment) -> Result<()> {
        for (key, runs) in &segment.index {
            let batch = pack(&gather(&segment.parts(runs))?)?;
            let bytes = scratch::to_bytes(&batch)?;
            let packed = zstd::bulk::compress(&bytes, SPILL_LEVEL)?;
            let mut spill = lock(&self.file)?;
            let packed = spill.scratch.push(&packed)?;
            spill.index.entry(key.clone()).or_default().push(SpillPlace {
                packed,
                unpacked_len: bytes.len(),
            });
        }
        Ok(())
    }

    /// Every (site, month) that has candidates, with its days.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a thread died holding the store.
    pub fn partitions(&self) -> Result<BTreeMap<(String, Month), Vec<Day>>> {
        let mut partitions: BTreeMap<(String, Month), Vec<Day>> = BTreeMap::new();
        for (site, day) in &lock(&self.resident)?.days {
            let month = Month::of_day(*day).ok_or_else(|| Error::internal("a day outside the calendar"))?;
            partitions.entry((site.clone(), month)).or_default().push(*day);
        }
        Ok(partitions)
    }

    /// Takes the candidates of one bucket, sorted as `records` is, as a gathered batch; `None` if there are none.
    /// Memory is given back as soon as the last bucket of a segment is taken.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub fn take(&self, site: &str, day: Day) -> Result<Option<RecordBatch>> {
        let key = (site.to_owned(), day);
        let mut parts = Vec::new();
        for segment in &mut lock(&self.resident)?.segments {
            if let Some(runs) = segment.index.remove(&key) {
                parts.append(&mut segment.parts(&runs));
                segment.rows -= runs.iter().flat_map(|of| &of.runs).map(|run| run.len).sum::<usize>();
                if segment.rows == 0 {
                    segment.batches = Vec::new();
                }
            }
        }
        let places = lock(&self.file)?.index.get(&key).cloned().unwrap_or_default();
        for place in places {
            let packed = lock(&self.file)?.scratch.load(place.packed)?;
            let batch = scratch::from_bytes(&zstd::bulk::decompress(&packed, place.unpacked_len)?)?;
            let all = GatherRun {
                first: 0,
                len: batch.num_rows(),
            };
            parts.push(GatherPart { batch, runs: vec![all] });
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let name = |place: &str| place.parse().ok().and_then(|at: usize| self.file_ids.get(at));
        let gathered = gather_sorted(&parts)?;
        with_words(&gathered, "file_id", |place| name(place).map_or(place, |id| &**id)).map(Some)
    }
}

/// The runs of rows of each (site, day).
fn by_bucket(buckets: &[IntakeBucket], sites: &[String]) -> Result<Vec<(SpillKey, Vec<GatherRun>)>> {
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
        let site = site.ok_or_else(|| Error::internal("a bucket without a site"))?;
        Ok(((site.clone(), bucket.day), runs))
    });
    named.collect()
}

fn lock<T>(mutex: &Mutex<T>) -> Result<std::sync::MutexGuard<'_, T>> {
    mutex
        .lock()
        .map_err(|_| Error::internal("a thread died while it held the candidates"))
}
