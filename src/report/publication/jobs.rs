//! The single jobs a receiver holds: every one that was sent and not taken back, by its key. Files are only ever added,
//! and each holds what one publication changed.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::ArrayRef;
use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::ledger::{PublicationPlace, PublicationState, damaged};
use super::message_record::MessageRecord;
use super::record_format::RecordFormat;
use crate::absent;
use crate::error::Result;
use crate::report::apel::server_key::job_key;
use crate::schema;
use crate::schema::batch::{date, dates, number, text, texts, times};
use crate::store::{Sending, Store, TableOptions, TableWriter, read_table};
use crate::time::Month;

/// Folder of the jobs in a lake.
pub const FOLDER: &str = "publication_job";

/// Rows written at once.
const BATCH_ROWS: usize = 16_384;

/// Rows of a file.
const FILE_ROWS: usize = 2_000_000;

/// The records of a message, as they are written in it.
pub fn records(message: &str) -> impl Iterator<Item = &str> {
    let body = message.split_once('\n').map_or("", |(_, body)| body);
    body.split("%%").map(str::trim).filter(|record| !record.is_empty())
}

/// The value of a field of a record; empty where the record does not have it.
pub(super) fn field<'a>(record: &'a str, name: &str) -> &'a str {
    let of = |line: &'a str| line.strip_prefix(name)?.strip_prefix(": ");
    absent::text(record.lines().find_map(of))
}

/// The key of a record.
#[must_use]
pub fn key_of(record: &str) -> u128 {
    let [site, id, end] = ["Site", "LocalJobId", "EndTime"].map(|name| field(record, name));
    job_key(site, id, end)
}

/// What a receiver holds of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PublicationHolding {
    content: u64,
    is_seen: bool,
}

impl PublicationHolding {
    fn change(self, record: &str) -> RecordChange {
        if self.content == xxh3_64(record.as_bytes()) {
            RecordChange::Unchanged
        } else {
            RecordChange::Changed
        }
    }
}

/// How a record compares with what the receiver holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordChange {
    /// It holds the same.
    Unchanged,
    /// It holds the job with other content.
    Changed,
    /// It does not hold the job.
    Added,
}

/// The jobs a receiver holds of some places.
#[derive(Clone, Debug, Default)]
pub struct HeldJobs {
    places: BTreeMap<PublicationPlace, HashMap<u128, PublicationHolding>>,
    /// Submit hosts of jobs that were taken back by zeros, which it still counts as jobs.
    zeros: BTreeMap<PublicationPlace, HashMap<u128, Option<String>>>,
}

/// A row of the book of jobs.
#[derive(Clone, Copy, Debug)]
pub struct BookedJob<'a> {
    /// The publication that entered it.
    pub publication_id: &'a str,
    /// Where it belongs.
    pub place: &'a PublicationPlace,
    /// What became of it.
    pub state: PublicationState,
    /// Its text.
    pub record: &'a str,
}

impl HeldJobs {
    /// Reads what a receiver holds; `follow` is shown every row of the book, oldest first.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read, [`crate::error::Kind::Data`] when it is damaged.
    pub fn load(
        store: &Store,
        receiver: &str,
        places: &BTreeSet<PublicationPlace>,
        mut follow: impl FnMut(BookedJob<'_>) -> Result<()>,
    ) -> Result<Self> {
        let mut held = Self::default();
        each(store, receiver, places, |job| {
            follow(job)?;
            let key = key_of(job.record);
            let of = held.places.entry(job.place.clone()).or_default();
            let zeros = held.zeros.entry(job.place.clone()).or_default();
            zeros.remove(&key);
            if job.state == PublicationState::Sent {
                let holding = PublicationHolding {
                    content: xxh3_64(job.record.as_bytes()),
                    is_seen: false,
                };
                of.insert(key, holding);
                return Ok(());
            }
            of.remove(&key);
            if job.state == PublicationState::Retracted {
                let host = Some(field(job.record, "SubmitHost")).filter(|host| !host.is_empty());
                zeros.insert(key, host.map(str::to_owned));
            }
            Ok(())
        })?;
        Ok(held)
    }

    /// Submit hosts of the jobs of a place that were taken back by zeros and did not come again.
    pub fn zeros(&self, place: &PublicationPlace) -> impl Iterator<Item = Option<&str>> {
        let zeros = self.zeros.get(place).into_iter().flatten();
        zeros.map(|(_, host)| host.as_deref())
    }

    /// Whether anything was ever entered of a place.
    #[must_use]
    pub fn has(&self, place: &PublicationPlace) -> bool {
        self.places.contains_key(place)
    }

    /// How a record compares with what is held.
    #[must_use]
    pub fn change(&self, place: &PublicationPlace, record: &str) -> RecordChange {
        let held = self.places.get(place).and_then(|held| held.get(&key_of(record)));
        held.map_or(RecordChange::Added, |holding| holding.change(record))
    }

    /// The same, and remembers that the job is still there.
    pub fn see(&mut self, place: &PublicationPlace, record: &str) -> RecordChange {
        let key = key_of(record);
        let held = self.places.get_mut(place);
        let Some(holding) = held.and_then(|held| held.get_mut(&key)) else {
            if let Some(zeros) = self.zeros.get_mut(place) {
                zeros.remove(&key);
            }
            return RecordChange::Added;
        };
        holding.is_seen = true;
        holding.change(record)
    }

    /// Keys of the jobs of a place that were not seen.
    #[must_use]
    pub fn unseen(&self, place: &PublicationPlace) -> HashSet<u128> {
        let held = self.places.get(place).into_iter().flatten();
        held.filter(|(_, holding)| !holding.is_seen)
            .map(|(key, _)| *key)
            .collect()
    }
}

/// The last record sent of jobs, by place and key.
///
/// # Errors
/// As [`HeldJobs::load`].
pub fn last_reported(
    store: &Store,
    receiver: &str,
    wanted: &BTreeMap<PublicationPlace, HashSet<u128>>,
) -> Result<BTreeMap<PublicationPlace, BTreeMap<u128, MessageRecord>>> {
    let mut reported: BTreeMap<PublicationPlace, BTreeMap<u128, MessageRecord>> = BTreeMap::new();
    let places = wanted.iter().filter(|(_, keys)| !keys.is_empty());
    let places = places.map(|(place, _)| place.clone()).collect();
    each(
        store,
        receiver,
        &places,
        |BookedJob {
             place, state, record, ..
         }| {
            let key = key_of(record);
            if state == PublicationState::Sent && wanted.get(place).is_some_and(|keys| keys.contains(&key)) {
                let of = reported.entry(place.clone()).or_default();
                of.insert(key, MessageRecord::parse(place.form, record));
            }
            Ok(())
        },
    )?;
    Ok(reported)
}

/// Calls `see` with every row of a receiver and some places, oldest first.
fn each(
    store: &Store,
    receiver: &str,
    places: &BTreeSet<PublicationPlace>,
    mut see: impl FnMut(BookedJob<'_>) -> Result<()>,
) -> Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    for path in store.pages(FOLDER)? {
        for batch in read_table(store.reader(&path)?, None, BATCH_ROWS)? {
            let batch = batch?;
            schema::dataset(FOLDER)?.admit(&batch)?;
            let words = |name| text(&batch, name);
            let (to, message, site) = (words("receiver")?, words("message")?, words("site")?);
            let (state, record, month) = (words("state")?, words("record")?, date(&batch, "month")?);
            let publication = words("publication_id")?;
            for row in 0..batch.num_rows() {
                if to.value(row) != receiver {
                    continue;
                }
                let form = RecordFormat::of_word(message.value(row)).ok_or_else(|| damaged(&path))?;
                let month = number(month, row).and_then(Month::of_day);
                let state = PublicationState::of_word(state.value(row)).ok_or_else(|| damaged(&path))?;
                let place = PublicationPlace::new(form, site.value(row), month.ok_or_else(|| damaged(&path))?);
                if places.contains(&place) {
                    see(BookedJob {
                        publication_id: publication.value(row),
                        place: &place,
                        state,
                        record: record.value(row),
                    })?;
                }
            }
        }
    }
    Ok(())
}

/// Enters what a publication changed.
pub struct JobBook<'a> {
    sending: &'a Sending<'a>,
    publication_id: &'a str,
    published_ms: i64,
    receiver: &'a str,
    rows: Vec<(PublicationPlace, PublicationState, String)>,
    table: Option<TableWriter<Vec<u8>>>,
    in_file: usize,
    file_n: usize,
}

impl<'a> JobBook<'a> {
    /// A book for one publication.
    #[must_use]
    pub fn new(sending: &'a Sending<'a>, publication_id: &'a str, published_ms: i64, receiver: &'a str) -> Self {
        Self {
            sending,
            publication_id,
            published_ms,
            receiver,
            rows: Vec::new(),
            table: None,
            in_file: 0,
            file_n: 0,
        }
    }

    /// Enters one job.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written.
    pub fn enter(&mut self, place: &PublicationPlace, state: PublicationState, record: &str) -> Result<()> {
        self.rows.push((place.clone(), state, record.to_owned()));
        if self.rows.len() >= BATCH_ROWS {
            self.write()?;
        }
        if self.in_file >= FILE_ROWS {
            self.close()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let dataset = schema::dataset(FOLDER)?;
        let same = |word: &str| -> ArrayRef { texts(rows.iter().map(|_| Some(word))) };
        let words = |of: &dyn Fn(&(PublicationPlace, PublicationState, String)) -> String| {
            texts(rows.iter().map(|row| Some(of(row))))
        };
        let end_ms = |record: &str| field(record, "EndTime").parse::<i64>().ok()?.checked_mul(1000);
        let batch = dataset.batch(vec![
            same(self.publication_id),
            times(rows.iter().map(|_| Some(self.published_ms))),
            same(self.receiver),
            words(&|row| row.0.form.as_str().to_owned()),
            words(&|row| row.0.site.clone()),
            dates(rows.iter().map(|row| Some(row.0.month.first_day()))),
            words(&|row| row.1.as_str().to_owned()),
            words(&|row| field(&row.2, "LocalJobId").to_owned()),
            times(rows.iter().map(|row| end_ms(&row.2))),
            texts(rows.iter().map(|row| Some(&row.2))),
        ])?;
        self.in_file += rows.len();
        let path = self.path();
        let table = match &mut self.table {
            Some(table) => table,
            none => {
                let options = TableOptions {
                    footer: self.sending.footer(&path),
                    ..TableOptions::default()
                };
                none.insert(TableWriter::create(Vec::new(), dataset.arrow(), &options)?)
            }
        };
        table.write(&batch)
    }

    /// Puts what was entered into the book.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written.
    pub fn close(&mut self) -> Result<()> {
        self.write()?;
        let Some(table) = self.table.take() else { return Ok(()) };
        let (_, bytes) = table.finish()?;
        self.sending.enter(&self.path(), bytes.into())?;
        self.file_n += 1;
        self.in_file = 0;
        Ok(())
    }

    /// The page under construction.
    fn path(&self) -> String {
        format!("{FOLDER}/{}-{}.parquet", self.publication_id, self.file_n + 1)
    }
}
