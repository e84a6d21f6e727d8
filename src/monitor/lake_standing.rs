//! How a lake is, in few numbers: its rows by outcome, its bytes, and the newest record of each source.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::numbers::{Comparand, counted_i64, stored_u64};
use crate::report::lake::Lake;
use crate::schema::batch::{date, int, number, text, time, word};
use crate::store::lake::inputs_path;
use crate::time::{DAY_MS, Month};

/// The datasets of records, and the column of the instant that places one.
const PLACED: [(&str, &str); 2] = [("records", "record_utc"), ("summary", "latest_end_utc")];

/// A lake in few numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LakeStanding {
    /// Rows of all input files it knows, by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Bytes of its published files.
    pub lake_byte_n: u64,
    /// The newest record of each source, Unix milliseconds: of those that are not in the future. Sources without one are
    /// left out.
    pub newest_ms: BTreeMap<String, i64>,
    /// Records of each source that are in the future. Sources without one are left out.
    pub future: BTreeMap<String, FutureRecords>,
    /// Records of the sources of which no record states its time, as summaries may do. Other sources are left out.
    pub undated_n: BTreeMap<String, u64>,
    /// All sources of which files were read.
    pub sources: BTreeSet<String>,
}

/// Records that are in the future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FutureRecords {
    /// How many.
    pub record_n: u64,
    /// The newest, Unix milliseconds.
    pub newest_ms: i64,
}

/// A record is in the future from so much after now: clocks differ, and summaries are of whole days.
const FUTURE_MS: i64 = DAY_MS;

/// Where records of a source are: the sites by month.
type Months = BTreeMap<Month, BTreeSet<String>>;

impl LakeStanding {
    /// Reads it from the ledger and the newest months of records; now in Unix milliseconds.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read.
    pub fn read(lake: &Lake, now_ms: i64) -> Result<Self> {
        let mut standing = Self {
            lake_byte_n: lake.manifest.files().map(|file| file.bytes).sum(),
            ..Self::default()
        };
        let source_of = sources_of_files(lake)?;
        standing.sources = source_of.values().cloned().collect();
        let mut places: BTreeMap<String, Months> = BTreeMap::new();
        for file in lake.manifest.dataset("ledger") {
            for batch in lake.batches(&file.path, None)? {
                let batch = batch?;
                let (source, site, outcome) =
                    (text(&batch, "source")?, text(&batch, "site")?, text(&batch, "outcome")?);
                let (month, row_n) = (date(&batch, "record_month")?, int(&batch, "row_n")?);
                for row in 0..batch.num_rows() {
                    let rows = stored_u64(row_n.value(row), "row_n")?;
                    *standing.outcomes.entry(outcome.value(row).to_owned()).or_default() += rows;
                    let month = number(month, row).and_then(Month::of_day);
                    if let (Some(site), Some(month)) = (word(site, row), month) {
                        let months = places.entry(source.value(row).to_owned()).or_default();
                        months.entry(month).or_default().insert(site.to_owned());
                    }
                }
            }
        }
        let mut newest = NewestRecords::new(lake, &source_of, now_ms)?;
        for (source, months) in places {
            let found = newest.of(&source, &months)?;
            standing
                .future
                .extend(found.future.map(|future| (source.clone(), future)));
            if found.newest_ms.is_none() && found.future.is_none() && found.undated_n > 0 {
                standing.undated_n.insert(source.clone(), found.undated_n);
            }
            standing.newest_ms.extend(found.newest_ms.map(|ms| (source, ms)));
        }
        Ok(standing)
    }

    /// Share of the rows that were refused; `None` without rows.
    #[must_use]
    pub fn rejected_ratio(&self) -> Option<f64> {
        let rows: u64 = self.outcomes.values().sum();
        let rejected = self.outcomes.get("rejected").copied();
        // Fallback: an outcome without an entry has no rows.
        (rows > 0).then(|| float(rejected.unwrap_or(0)) / float(rows))
    }
}

/// A count as a ratio needs it: exact to 53 bits.
#[expect(clippy::cast_precision_loss, reason = "a ratio of counts is rounded anyway")]
fn float(count: u64) -> f64 {
    counted_i64(count) as f64
}

/// The source of each file the lake knows, by file id.
fn sources_of_files(lake: &Lake) -> Result<BTreeMap<String, String>> {
    let mut sources = BTreeMap::new();
    let path = inputs_path(&lake.manifest);
    if lake.manifest.file(path).is_none() {
        return Ok(sources);
    }
    for batch in lake.batches(path, Some(&["source", "file_id"]))? {
        let batch = batch?;
        let (source, file_id) = (text(&batch, "source")?, text(&batch, "file_id")?);
        for row in 0..batch.num_rows() {
            sources.insert(file_id.value(row).to_owned(), source.value(row).to_owned());
        }
    }
    Ok(sources)
}

/// The newest records of a source.
#[derive(Clone, Copy, Default)]
struct SourceRecords {
    newest_ms: Option<i64>,
    future: Option<FutureRecords>,
    /// Records that do not state their time.
    undated_n: u64,
}

impl SourceRecords {
    fn add(&mut self, other: Self) {
        self.newest_ms = self.newest_ms.max(other.newest_ms);
        self.undated_n += other.undated_n;
        if let Some(more) = other.future {
            let future = self.future.get_or_insert(FutureRecords { record_n: 0, ..more });
            future.record_n += more.record_n;
            future.newest_ms = future.newest_ms.max(more.newest_ms);
        }
    }
}

/// Files of records and the newest record in them by source, each read once.
struct NewestRecords<'a> {
    lake: &'a Lake,
    source_of: &'a BTreeMap<String, String>,
    /// Column of the instant, by site, month and path.
    files: BTreeMap<(String, Month), BTreeMap<String, &'static str>>,
    read: BTreeMap<String, BTreeMap<String, SourceRecords>>,
    /// From when on records are in the future.
    future_from_ms: i64,
}

impl<'a> NewestRecords<'a> {
    fn new(lake: &'a Lake, source_of: &'a BTreeMap<String, String>, now_ms: i64) -> Result<Self> {
        let mut files: BTreeMap<(String, Month), BTreeMap<String, &'static str>> = BTreeMap::new();
        for (dataset, column) in PLACED {
            for (site, month, path) in lake.months(dataset)? {
                files.entry((site, month)).or_default().insert(path, column);
            }
        }
        Ok(Self {
            lake,
            source_of,
            files,
            read: BTreeMap::new(),
            future_from_ms: now_ms.sum_to_compare(FUTURE_MS),
        })
    }

    /// The newest record of a source, of the last month that has one, and all that are in the future.
    fn of(&mut self, source: &str, months: &Months) -> Result<SourceRecords> {
        let mut found = SourceRecords::default();
        for (month, sites) in months.iter().rev() {
            for site in sites {
                // Fallback: a place whose rows were all refused has no files.
                let files = self.files.get(&(site.clone(), *month)).cloned().unwrap_or_default();
                for (path, column) in files {
                    if let Some(records) = self.of_file(&path, column)?.get(source) {
                        found.add(*records);
                    }
                }
            }
            if found.newest_ms.is_some() {
                break;
            }
        }
        Ok(found)
    }

    fn of_file(&mut self, path: &str, column: &'static str) -> Result<&BTreeMap<String, SourceRecords>> {
        if !self.read.contains_key(path) {
            let mut by_source: BTreeMap<String, SourceRecords> = BTreeMap::new();
            for batch in self.lake.batches(path, Some(&["file_id", column]))? {
                let batch = batch?;
                let (file_id, instant) = (text(&batch, "file_id")?, time(&batch, column)?);
                for row in 0..batch.num_rows() {
                    let source = self.source_of.get(file_id.value(row));
                    let Some(source) = source else { continue };
                    let instant_ms = number(instant, row);
                    let is_future = |ms: &i64| *ms > self.future_from_ms;
                    by_source.entry(source.clone()).or_default().add(SourceRecords {
                        newest_ms: instant_ms.filter(|ms| !is_future(ms)),
                        future: instant_ms
                            .filter(is_future)
                            .map(|newest_ms| FutureRecords { record_n: 1, newest_ms }),
                        undated_n: u64::from(instant_ms.is_none()),
                    });
                }
            }
            self.read.insert(path.to_owned(), by_source);
        }
        Ok(self.read.entry(path.to_owned()).or_default())
    }
}
