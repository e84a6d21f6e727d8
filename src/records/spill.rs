//! Candidates wait here, sorted into (site, day) buckets, until every input is read. What does not fit the memory
//! budget goes to one unnamed temporary file, bucket by bucket, so that memory stays flat whatever the input's size.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex};

use arrow::array::RecordBatch;
use arrow::compute::interleave_record_batch;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;

use super::columns::with_text;
use super::intake::Harvest;
use crate::error::{Error, Result};
use crate::time::{Day, Month};

/// Bytes of Arrow data kept in memory before a flush.
pub const MEMORY_BUDGET: usize = 96 << 20;

/// All candidates of one run.
pub struct Spill {
    budget: usize,
    file_ids: Vec<Arc<str>>,
    resident: Mutex<Resident>,
    file: Mutex<SpillFile>,
    rows: Mutex<BTreeMap<(String, Day), u64>>,
}

#[derive(Default)]
struct Resident {
    batches: Vec<RecordBatch>,
    /// (site, day) -> runs of rows.
    index: BTreeMap<(String, Day), Vec<Run>>,
    bytes: usize,
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
    index: BTreeMap<(String, Day), Vec<(u64, u64)>>,
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
            rows: Mutex::default(),
        }
    }

    /// Says what the files are called in the end: candidates hold the place of their file in this list until then.
    pub fn name_files(&mut self, file_ids: &[Arc<str>]) {
        file_ids.clone_into(&mut self.file_ids);
    }

    /// Adds one harvest.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub fn push(&self, harvest: &Harvest) -> Result<()> {
        if harvest.batch.num_rows() == 0 {
            return Ok(());
        }
        let full = {
            let mut resident = lock(&self.resident)?;
            let batch = resident.batches.len();
            let mut first = 0;
            for run in harvest.buckets.chunk_by(|a, b| a == b) {
                let bucket = run.first().ok_or_else(|| Error::internal("an empty run"))?;
                let site = usize::try_from(bucket.site).ok().and_then(|at| harvest.sites.get(at));
                let site = site.ok_or_else(|| Error::internal("a bucket without a site"))?.clone();
                let rows = u64::try_from(run.len()).unwrap_or(u64::MAX);
                *lock(&self.rows)?.entry((site.clone(), bucket.day)).or_default() += rows;
                resident.index.entry((site, bucket.day)).or_default().push(Run {
                    batch,
                    first,
                    len: run.len(),
                });
                first += run.len();
            }
            resident.bytes += harvest.batch.get_array_memory_size();
            resident.batches.push(harvest.batch.clone());
            if resident.bytes < self.budget {
                None
            } else {
                Some(std::mem::take(&mut *resident))
            }
        };
        match full {
            Some(full) => self.flush(&full),
            None => Ok(()),
        }
    }

    fn flush(&self, full: &Resident) -> Result<()> {
        for (key, runs) in &full.index {
            let batch = full.gather(runs)?;
            let mut bytes = Vec::with_capacity(batch.get_array_memory_size() + 4096);
            let mut writer = StreamWriter::try_new(&mut bytes, batch.schema_ref())?;
            writer.write(&batch)?;
            writer.finish()?;
            drop(writer);
            let mut spill = lock(&self.file)?;
            let at = spill.end;
            let file = match &mut spill.file {
                Some(file) => file,
                none => {
                    none.insert(tempfile::tempfile().map_err(|e| Error::io("cannot make a temporary file").because(e))?)
                }
            };
            file.seek(SeekFrom::Start(at))?;
            file.write_all(&bytes)?;
            let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            spill.end += len;
            spill.index.entry(key.clone()).or_default().push((at, len));
        }
        Ok(())
    }

    /// Every (site, month) that has candidates, with its days.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a thread died holding the store.
    pub fn partitions(&self) -> Result<BTreeMap<(String, Month), Vec<Day>>> {
        let mut partitions: BTreeMap<(String, Month), Vec<Day>> = BTreeMap::new();
        let resident = lock(&self.resident)?;
        let file = lock(&self.file)?;
        for (site, day) in resident.index.keys().chain(file.index.keys()) {
            let month = Month::of_day(*day).ok_or_else(|| Error::internal("a day outside the calendar"))?;
            partitions.entry((site.clone(), month)).or_default().push(*day);
        }
        for days in partitions.values_mut() {
            days.sort_unstable();
            days.dedup();
        }
        Ok(partitions)
    }

    /// About how many candidates some days of a site have.
    #[must_use]
    pub fn rows(&self, site: &str, days: &[Day]) -> u64 {
        let Ok(rows) = lock(&self.rows) else { return 0 };
        days.iter().filter_map(|day| rows.get(&(site.to_owned(), *day))).sum()
    }

    /// The candidates of one bucket, in no particular order.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub fn bucket(&self, site: &str, day: Day) -> Result<Vec<RecordBatch>> {
        let key = (site.to_owned(), day);
        let mut batches = Vec::new();
        {
            let resident = lock(&self.resident)?;
            if let Some(runs) = resident.index.get(&key) {
                batches.push(resident.gather(runs)?);
            }
        }
        let mut spill = lock(&self.file)?;
        let places = spill.index.get(&key).cloned().unwrap_or_default();
        for (at, len) in places {
            let Some(file) = spill.file.as_mut() else { continue };
            let mut bytes = vec![0; usize::try_from(len).map_err(|_| Error::internal("spill too large"))?];
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut bytes)?;
            for batch in StreamReader::try_new(bytes.as_slice(), None)? {
                batches.push(batch?);
            }
        }
        let name = |place: &str| place.parse().ok().and_then(|at: usize| self.file_ids.get(at));
        batches
            .iter()
            .map(|batch| with_text(batch, "file_id", |place| name(place).map_or(place, |id| &**id)))
            .collect()
    }
}

impl Resident {
    /// The rows of `runs` as one batch; a slice where they are one run.
    fn gather(&self, runs: &[Run]) -> Result<RecordBatch> {
        let missing = || Error::internal("a run of no batch");
        if let [run] = runs {
            return Ok(self
                .batches
                .get(run.batch)
                .ok_or_else(missing)?
                .slice(run.first, run.len));
        }
        // Number only the batches that are needed: interleaving looks at every batch it is given.
        let mut used: Vec<usize> = runs.iter().map(|run| run.batch).collect();
        used.sort_unstable();
        used.dedup();
        let batches: Vec<&RecordBatch> = used
            .iter()
            .map(|at| self.batches.get(*at).ok_or_else(missing))
            .collect::<Result<_>>()?;
        let mut rows = Vec::with_capacity(runs.iter().map(|run| run.len).sum());
        for run in runs {
            let at = used.binary_search(&run.batch).map_err(|_| missing())?;
            rows.extend((run.first..run.first + run.len).map(|row| (at, row)));
        }
        Ok(interleave_record_batch(&batches, &rows)?)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> Result<std::sync::MutexGuard<'_, T>> {
    mutex
        .lock()
        .map_err(|_| Error::internal("a thread died while it held the candidates"))
}
