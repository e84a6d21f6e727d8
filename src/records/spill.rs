//! Candidates wait here, sorted into (site, day) buckets, until every input is read. What does not fit the memory
//! budget goes to one unnamed temporary file, bucket by bucket, so that memory stays flat whatever the input's size.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex};

use arrow::array::{RecordBatch, new_null_array};
use arrow::compute::{concat_batches, interleave_record_batch};
use arrow::datatypes::Schema;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;

use super::columns::with_text;
use super::intake::Bucket;
use crate::error::{Error, Result};
use crate::schema;
use crate::time::{Day, Month};

/// Bytes of Arrow data kept in memory.
pub const MEMORY_BUDGET: usize = 128 << 20;
/// Candidates go to disk in segments of at most this share of the budget, the oldest first, while others fill up.
const SEGMENTS: usize = 8;
/// Writing to disk costs the kernel more per byte than the fastest packing does.
const SPILL_LEVEL: i32 = -5;
/// Runs of at least this many rows on average are copied run by run, shorter ones row by row.
const LONG_RUN: usize = 32;

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
    segments: VecDeque<Segment>,
    bytes: usize,
    days: BTreeSet<(String, Day)>,
}

#[derive(Default)]
struct Segment {
    batches: Vec<RecordBatch>,
    /// (site, day) -> runs of rows.
    index: BTreeMap<(String, Day), Vec<Run>>,
    bytes: usize,
    rows: usize,
}

/// `len` rows of batch `batch` from row `first` on.
#[derive(Clone, Copy, Debug)]
struct Run {
    batch: usize,
    first: usize,
    len: usize,
}

#[derive(Default)]
struct SpillFile {
    file: Option<File>,
    end: u64,
    index: BTreeMap<(String, Day), Vec<Place>>,
}

/// Where a packed batch lies in the file.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: u64,
    len: usize,
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
    pub fn push(&self, batch: RecordBatch, buckets: &[Bucket], sites: &[String]) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = compact(batch)?;
        let bytes = batch.get_array_memory_size();
        let oldest = {
            let mut resident = lock(&self.resident)?;
            let Resident { segments, days, .. } = &mut *resident;
            if segments
                .back()
                .is_none_or(|segment| segment.bytes >= self.budget / SEGMENTS)
            {
                segments.push_back(Segment::default());
            }
            let segment = segments.back_mut().ok_or_else(|| Error::internal("no segment"))?;
            let at = segment.batches.len();
            let mut first = 0;
            for run in buckets.chunk_by(|a, b| a == b) {
                let bucket = run.first().ok_or_else(|| Error::internal("an empty run"))?;
                let site = usize::try_from(bucket.site).ok().and_then(|at| sites.get(at));
                let site = site.ok_or_else(|| Error::internal("a bucket without a site"))?;
                let key = (site.clone(), bucket.day);
                days.insert(key.clone());
                segment.index.entry(key).or_default().push(Run {
                    batch: at,
                    first,
                    len: run.len(),
                });
                first += run.len();
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

    fn flush(&self, segment: &Segment) -> Result<()> {
        for (key, runs) in &segment.index {
            let batch = compact(gather(&segment.batches, runs)?)?;
            let mut bytes = Vec::with_capacity(batch.get_array_memory_size() + 4096);
            let mut writer = StreamWriter::try_new(&mut bytes, batch.schema_ref())?;
            writer.write(&batch)?;
            writer.finish()?;
            drop(writer);
            let packed = zstd::bulk::compress(&bytes, SPILL_LEVEL)?;
            let mut spill = lock(&self.file)?;
            let at = spill.end;
            let file = match &mut spill.file {
                Some(file) => file,
                none => {
                    none.insert(tempfile::tempfile().map_err(|e| Error::io("cannot make a temporary file").because(e))?)
                }
            };
            file.seek(SeekFrom::Start(at))?;
            file.write_all(&packed)?;
            let len = u64::try_from(packed.len()).unwrap_or(u64::MAX);
            spill.end += len;
            spill.index.entry(key.clone()).or_default().push(Place {
                at,
                len: packed.len(),
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

    /// Takes the candidates of one bucket, in no particular order. Memory is given back as soon as the last bucket of
    /// a segment is taken.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub fn take(&self, site: &str, day: Day) -> Result<Vec<RecordBatch>> {
        let key = (site.to_owned(), day);
        let mut taken = Vec::new();
        for segment in &mut lock(&self.resident)?.segments {
            if let Some(runs) = segment.index.remove(&key) {
                taken.push((segment.batches.clone(), runs.clone()));
                segment.rows -= runs.iter().map(|run| run.len).sum::<usize>();
                if segment.rows == 0 {
                    segment.batches = Vec::new();
                }
            }
        }
        let mut batches = Vec::new();
        for (from, runs) in taken {
            batches.push(gather(&from, &runs)?);
        }
        let places = lock(&self.file)?.index.get(&key).cloned().unwrap_or_default();
        for place in places {
            let mut packed = vec![0; place.len];
            {
                let mut spill = lock(&self.file)?;
                let Some(file) = spill.file.as_mut() else { continue };
                file.seek(SeekFrom::Start(place.at))?;
                file.read_exact(&mut packed)?;
            }
            let bytes = zstd::bulk::decompress(&packed, place.unpacked_len)?;
            for batch in StreamReader::try_new(bytes.as_slice(), None)? {
                batches.push(expand(&batch?)?);
            }
        }
        let name = |place: &str| place.parse().ok().and_then(|at: usize| self.file_ids.get(at));
        batches
            .iter()
            .map(|batch| with_text(batch, "file_id", |place| name(place).map_or(place, |id| &**id)))
            .collect()
    }
}

/// The rows of `runs` of `batches` as one batch of all columns.
fn gather(batches: &[RecordBatch], runs: &[Run]) -> Result<RecordBatch> {
    let missing = || Error::internal("a run of no batch");
    let total: usize = runs.iter().map(|run| run.len).sum();
    if total >= LONG_RUN * runs.len() {
        let slice = |run: &Run| {
            let batch = batches.get(run.batch).ok_or_else(missing)?;
            expand(&batch.slice(run.first, run.len))
        };
        let slices: Vec<RecordBatch> = runs.iter().map(slice).collect::<Result<_>>()?;
        return match slices.as_slice() {
            [one] => Ok(one.clone()),
            several => Ok(concat_batches(&schema::dataset("records")?.arrow(), several)?),
        };
    }
    // Number only the batches that are needed: interleaving looks at every batch it is given.
    let mut used: Vec<usize> = runs.iter().map(|run| run.batch).collect();
    used.sort_unstable();
    used.dedup();
    let needed: Vec<RecordBatch> = used
        .iter()
        .map(|at| expand(batches.get(*at).ok_or_else(missing)?))
        .collect::<Result<_>>()?;
    let mut rows = Vec::with_capacity(total);
    for run in runs {
        let at = used.binary_search(&run.batch).map_err(|_| missing())?;
        rows.extend((run.first..run.first + run.len).map(|row| (at, row)));
    }
    Ok(interleave_record_batch(&needed.iter().collect::<Vec<_>>(), &rows)?)
}

/// `batch` without the columns that hold only nulls, and without the room its builders left for more rows: a dialect
/// fills about two thirds of the columns of `records`.
fn compact(batch: RecordBatch) -> Result<RecordBatch> {
    let (schema, columns, _) = batch.into_parts();
    let mut fields = Vec::with_capacity(columns.len());
    let mut kept = Vec::with_capacity(columns.len());
    for (field, mut column) in schema.fields().iter().zip(columns) {
        if column.null_count() == column.len() {
            continue;
        }
        if let Some(column) = Arc::get_mut(&mut column) {
            column.shrink_to_fit();
        }
        fields.push(Arc::clone(field));
        kept.push(column);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), kept)?)
}

/// `batch` with every column of `records` again.
fn expand(batch: &RecordBatch) -> Result<RecordBatch> {
    let records = schema::dataset("records")?;
    let schema = records.arrow();
    let columns = schema
        .fields()
        .iter()
        .map(|field| match batch.column_by_name(field.name()) {
            Some(column) => Arc::clone(column),
            None => new_null_array(field.data_type(), batch.num_rows()),
        });
    Ok(RecordBatch::try_new(Arc::clone(&schema), columns.collect())?)
}

fn lock<T>(mutex: &Mutex<T>) -> Result<std::sync::MutexGuard<'_, T>> {
    mutex
        .lock()
        .map_err(|_| Error::internal("a thread died while it held the candidates"))
}
