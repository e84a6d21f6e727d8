//! The book itself: input files, and where their rows went. It closes, or the run fails.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::file_paths::FilePaths;
use super::job_sample::JobSample;
use super::places::{Places, RowPlace};
use super::reason::{Outcome, Reason};
use crate::error::{Error, Result};
use crate::numbers::{stored_u64, tally};
use crate::schema::batch::{date, int, number, text, word};
use crate::time::Month;

/// One input file by content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputEntry {
    /// Source it belongs to.
    pub source: String,
    /// Every path it was seen under; the first is the one its rows are accounted to.
    pub paths: FilePaths,
    /// Dialect family.
    pub format: String,
    /// Size as stored.
    pub bytes: u64,
    /// Hash of the bytes as stored.
    pub blake3: Arc<str>,
    /// Rows its reader framed.
    pub rows_read: u64,
    /// A sample of its jobs; without any where its dialect has no job numbers, or a version read it that took none.
    pub sample: JobSample,
}

/// A file, and what became of rows of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileReason {
    /// Id of the file.
    pub file_id: Arc<str>,
    /// The reason of the rows.
    pub reason: Reason,
}

impl FileReason {
    /// Rows of a file.
    #[must_use]
    pub fn new(file_id: &Arc<str>, reason: Reason) -> Self {
        let file_id = Arc::clone(file_id);
        Self { file_id, reason }
    }
}

/// Rows of a file that have a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReasonRows {
    /// The reason.
    pub reason: Reason,
    /// How many rows have it.
    pub row_n: u64,
}

/// Everything that was ever read.
#[derive(Clone, Debug, Default)]
pub struct Book {
    inputs: BTreeMap<Arc<str>, InputEntry>,
    places: BTreeMap<Arc<str>, Places>,
}

/// Reasons that are settled per (site, month), when a partition of records or of summaries is merged.
#[must_use]
pub fn is_settled_by_merge(reason: Reason) -> bool {
    let is_of_records = matches!(
        reason.outcome(),
        Outcome::Accepted | Outcome::Duplicate | Outcome::Superseded
    ) && !matches!(reason, Reason::Inventory | Reason::Repaired);
    let is_of_usage = matches!(
        reason,
        Reason::BenchmarkMissing | Reason::SumLimit | Reason::SummariesCount
    );
    is_of_records || is_of_usage || reason.is_of_summaries()
}

impl Book {
    /// The files, by file id.
    #[must_use]
    pub fn inputs(&self) -> &BTreeMap<Arc<str>, InputEntry> {
        &self.inputs
    }

    /// Where the rows of a file went.
    #[must_use]
    pub fn places(&self, file_id: &str) -> Option<&Places> {
        self.places.get(file_id)
    }

    /// Whether a file needs no reading for the months `wanted`: it is known, and none of its rows was left for later.
    #[must_use]
    pub fn is_done(&self, file_id: &str, wanted: impl Fn(Month) -> bool) -> bool {
        self.inputs.contains_key(file_id)
            && !self.places.get(file_id).is_some_and(|places| {
                places
                    .keys()
                    .any(|place| place.reason == Reason::OutsidePeriod && place.month.is_none_or(&wanted))
            })
    }

    /// Forgets a file; true if it was known.
    pub fn forget(&mut self, file_id: &str) -> bool {
        self.places.remove(file_id);
        self.inputs.remove(file_id).is_some()
    }

    /// Takes over what another book knows of some files.
    pub fn keep(&mut self, from: &Self, is_kept: impl Fn(&InputEntry) -> bool) {
        for (file_id, input) in from.inputs.iter().filter(|(_, input)| is_kept(input)) {
            self.inputs.insert(Arc::clone(file_id), input.clone());
            if let Some(places) = from.places.get(file_id) {
                self.places.insert(Arc::clone(file_id), places.clone());
            }
        }
    }

    /// Notes that a known file was seen under another path, as this content of it.
    pub fn seen(&mut self, file_id: &str, path: &str, content_n: u32) {
        if let Some(input) = self.inputs.get_mut(file_id) {
            input.paths.insert(path, content_n);
        }
    }

    /// Enters one reading of a file. Rows left for later (outside the requested months) stay so only where no earlier
    /// run has taken them.
    pub fn enter(&mut self, file_id: &Arc<str>, input: InputEntry, places: Places) {
        let left_before: Option<BTreeSet<_>> = self.inputs.contains_key(file_id).then(|| {
            let before = self.places.get(file_id);
            let left = before.into_iter().flat_map(Places::keys);
            left.filter(|place| place.reason == Reason::OutsidePeriod)
                .cloned()
                .collect()
        });
        let kept = self.places.entry(Arc::clone(file_id)).or_default();
        kept.retain(|place| is_settled_by_merge(place.reason));
        for (key, rows) in places {
            let taken =
                key.reason == Reason::OutsidePeriod && left_before.as_ref().is_some_and(|left| !left.contains(&key));
            if !taken {
                kept.add(key, rows);
            }
        }
        match self.inputs.get_mut(file_id) {
            Some(known) => {
                let mut paths = std::mem::take(&mut known.paths);
                for of in &input.paths {
                    paths.insert(&of.path, of.content_n);
                }
                // The same bytes may have been read as something else this time.
                *known = InputEntry { paths, ..input };
            }
            None => {
                self.inputs.insert(Arc::clone(file_id), input);
            }
        }
    }

    /// Replaces what is known of the jobs of one (site, month): their rows.
    pub fn settle(&mut self, site: &str, month: Month, rows: &BTreeMap<FileReason, u64>) {
        self.replace(site, month, false, rows);
    }

    /// Replaces what is known of the summaries of one (site, month): their rows.
    pub fn settle_summaries(&mut self, site: &str, month: Month, rows: &BTreeMap<FileReason, u64>) {
        self.replace(site, month, true, rows);
    }

    fn replace(&mut self, site: &str, month: Month, is_summaries: bool, rows: &BTreeMap<FileReason, u64>) {
        for places in self.places.values_mut() {
            places.retain(|place| {
                let reason = place.reason;
                let is_replaced = is_settled_by_merge(reason) && reason.is_of_summaries() == is_summaries;
                !(is_replaced && place.site.as_deref() == Some(site) && place.month == Some(month))
            });
        }
        for (FileReason { file_id, reason }, n) in rows {
            let places = self.places.entry(Arc::clone(file_id)).or_default();
            let place = RowPlace {
                site: Some(site.to_owned()),
                month: Some(month),
                reason: *reason,
            };
            places.add(place, *n);
        }
    }

    /// Replaces the reasons of a file's rows among some reasons; not if that are more or fewer rows than
    /// before, because the file changed since it was read.
    pub fn divide(&mut self, file_id: &str, parts: &[ReasonRows]) {
        let Some(places) = self.places.get_mut(file_id) else {
            return;
        };
        let of = |place: &RowPlace| parts.iter().any(|part| part.reason == place.reason);
        let before: u64 = places.iter().filter(|(place, _)| of(place)).map(|(_, rows)| rows).sum();
        if before != parts.iter().map(|part| part.row_n).sum::<u64>() {
            return;
        }
        places.retain(|place| !of(place));
        for part in parts.iter().filter(|part| part.row_n > 0) {
            places.add(RowPlace::nowhere(part.reason), part.row_n);
        }
    }

    /// Replaces which rows of listings are refused for a reason: so many of each file; the others describe the machine.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a file does not have as many.
    pub fn settle_listings(&mut self, reason: Reason, refused: &BTreeMap<&str, u64>) -> Result<()> {
        let kept = RowPlace::nowhere(Reason::Inventory);
        let gone = RowPlace::nowhere(reason);
        for (file_id, places) in &mut self.places {
            let (now, was) = (tally(refused.get(&**file_id).copied()), places.rows(&gone));
            let (from, to) = if now > was { (&kept, &gone) } else { (&gone, &kept) };
            let moved = now.abs_diff(was);
            if moved == 0 {
                continue;
            }
            if !places.take(from, moved) {
                let message = "listings are refused of which the ledger has no rows";
                return Err(Error::internal(message).at("input", &**file_id));
            }
            places.add(to.clone(), moved);
        }
        Ok(())
    }

    /// Moves rows of a file that no site or month is known of from one reason to another.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when there are not as many.
    pub fn shift(&mut self, file_id: &str, from: Reason, to: Reason, rows: u64) -> Result<()> {
        let gone = || Error::internal("rows are moved in the ledger that are not there").at("input", file_id);
        let places = self.places.get_mut(file_id).ok_or_else(gone)?;
        if !places.take(&RowPlace::nowhere(from), rows) {
            return Err(gone());
        }
        places.add(RowPlace::nowhere(to), rows);
        Ok(())
    }

    /// Whether rows of a repair file wait for their originals.
    #[must_use]
    pub fn has_unmatched(&self, file_id: &str) -> bool {
        let places = self.places.get(file_id);
        places.is_some_and(|places| places.keys().any(|place| place.reason == Reason::RepairUnmatched))
    }

    /// Rows of a file by outcome.
    #[must_use]
    pub fn outcomes(&self, file_id: &str) -> BTreeMap<Outcome, u64> {
        let mut outcomes = BTreeMap::new();
        for (place, rows) in self.places.get(file_id).into_iter().flatten() {
            *outcomes.entry(place.reason.outcome()).or_default() += rows;
        }
        outcomes
    }

    /// Rows of a file that ended with an outcome.
    #[must_use]
    pub fn outcome_n(&self, file_id: &str, outcome: Outcome) -> u64 {
        let places = self.places.get(file_id).into_iter().flatten();
        let of_outcome = places.filter(|(place, _)| place.reason.outcome() == outcome);
        of_outcome.map(|(_, rows)| rows).sum()
    }

    /// Checks that for every file the rows read equal the rows that ended somewhere.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] naming the first file that does not close, with both sides.
    pub fn close(&self) -> Result<()> {
        for (file_id, input) in &self.inputs {
            let outcomes = self.outcomes(file_id);
            let ended: u64 = outcomes.values().sum();
            if ended != input.rows_read {
                return Err(Error::internal(format!(
                    "the ledger does not close: {} rows read, {ended} accounted for {outcomes:?}",
                    input.rows_read
                ))
                .at("file", input.paths.first().map_or("", |path| path)));
            }
        }
        Ok(())
    }

    /// Reads the book back from its published datasets.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a batch is not what the schema declares.
    pub fn load(inputs: &[RecordBatch], ledger: &[RecordBatch]) -> Result<Self> {
        let mut book = Self::default();
        for read in inputs {
            let (source, path, file_id) = (text(read, "source")?, text(read, "path")?, text(read, "file_id")?);
            let (format, blake3) = (text(read, "format")?, text(read, "blake3")?);
            let (bytes, rows) = (int(read, "bytes")?, int(read, "rows_read_n")?);
            // Lakes of earlier versions do not have it.
            let has_contents = read.column_by_name("content_n").is_some();
            let contents = has_contents.then(|| int(read, "content_n")).transpose()?;
            let has_samples = read.column_by_name("job_sample").is_some();
            let samples = has_samples.then(|| text(read, "job_sample")).transpose()?;
            for row in 0..read.num_rows() {
                let (bytes, rows_read) = (
                    stored_u64(bytes.value(row), "bytes")?,
                    stored_u64(rows.value(row), "rows_read_n")?,
                );
                let sample = samples.and_then(|samples| word(samples, row));
                let sample = sample.map_or_else(|| Ok(JobSample::default()), str::parse)?;
                let entry = book
                    .inputs
                    .entry(Arc::from(file_id.value(row)))
                    .or_insert_with(|| InputEntry {
                        source: source.value(row).to_owned(),
                        paths: FilePaths::default(),
                        format: format.value(row).to_owned(),
                        bytes,
                        blake3: Arc::from(blake3.value(row)),
                        rows_read,
                        sample,
                    });
                let content_n = contents.map_or(Ok(1), |contents| u32::try_from(contents.value(row)));
                let content_n = content_n.map_err(|why| Error::internal("a content_n of no path").because(why))?;
                entry.paths.insert(path.value(row), content_n);
            }
        }
        for read in ledger {
            let (file_id, site, reason) = (text(read, "file_id")?, text(read, "site")?, text(read, "reason")?);
            let (month, rows) = (date(read, "record_month")?, int(read, "row_n")?);
            for row in 0..read.num_rows() {
                let word_of = reason.value(row);
                let reason = Reason::parse(word_of)
                    .ok_or_else(|| Error::internal(format!("the ledger has an unknown reason {word_of:?}")))?;
                if reason == Reason::SameFile {
                    continue; // derived from the paths
                }
                let site = word(site, row).map(str::to_owned);
                let month = number(month, row).and_then(Month::of_day);
                let known = book.inputs.get_key_value(file_id.value(row));
                let file_id = known.map_or_else(|| Arc::from(file_id.value(row)), |(id, _)| Arc::clone(id));
                let rows = stored_u64(rows.value(row), "row_n")?;
                let place = RowPlace { site, month, reason };
                book.places.entry(file_id).or_default().add(place, rows);
            }
        }
        Ok(book)
    }
}
