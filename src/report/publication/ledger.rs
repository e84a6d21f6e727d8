//! What was sent to whom, when, with which content: one file for each publication, only ever added.

use std::collections::BTreeMap;

use super::message_record::MessageRecord;
use super::record_format::RecordFormat;
use crate::error::{Error, Kind, Result};
use crate::schema;
use crate::schema::batch::{date, dates, ints, number, text, texts, time, times};
use crate::store::{Sending, Store, TableOptions, TableWriter, read_table};
use crate::time::Month;

/// Folder of the ledger in a lake.
pub const FOLDER: &str = "publication";

/// The unit of a publication.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicationPlace {
    /// Form.
    pub form: RecordFormat,
    /// Site.
    pub site: String,
    /// Month.
    pub month: Month,
}

impl PublicationPlace {
    /// A form of a site and month.
    #[must_use]
    pub fn new(form: RecordFormat, site: impl Into<String>, month: Month) -> Self {
        let site = site.into();
        Self { form, site, month }
    }
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicationState {
    /// It was sent.
    Sent,
    /// It was taken back by a record of the same key with nothing in it.
    Retracted,
    /// It was named in a list of what the people of the receiver are to delete.
    Listed,
    /// The same row of the receiver is reported under another spelling of the site, or to GRACC under another site, which
    /// replaces it there.
    Respelled,
    /// A summary was put over what the receiver made of jobs.
    Overlaid,
    /// What the receiver made of jobs was named in a list of what its people are to delete.
    SuperListed,
}

impl PublicationState {
    const ALL: [Self; 6] = [
        Self::Sent,
        Self::Retracted,
        Self::Listed,
        Self::Respelled,
        Self::Overlaid,
        Self::SuperListed,
    ];

    /// The word of the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Retracted => "retracted",
            Self::Listed => "listed",
            Self::Respelled => "respelled",
            Self::Overlaid => "overlaid",
            Self::SuperListed => "super_listed",
        }
    }

    /// What a word of the ledger means.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// One record of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicationEntry {
    /// Names the publication: when, and by which process.
    pub publication_id: String,
    /// When, Unix milliseconds.
    pub published_ms: i64,
    /// To whom.
    pub receiver: String,
    /// Whether it was sent or taken back, and how.
    pub state: PublicationState,
    /// Site and month it belongs to.
    pub place: PublicationPlace,
    /// BLAKE3 over all records of its place in this publication.
    pub content: String,
    /// The record; for single jobs, one record that counts those of the place.
    pub record: MessageRecord,
}

impl PublicationEntry {
    /// Number of records it represents: for single jobs, those it counts.
    #[must_use]
    pub fn record_n(&self) -> i64 {
        if self.place.form.is_job() {
            self.record.job_n()
        } else {
            1
        }
    }
}

/// The error for a file of the ledger with an invalid value.
pub(super) fn damaged(path: &str) -> Error {
    Error::new(Kind::Data, "the ledger of publications is damaged").at("path", path)
}

/// Reads the ledger, oldest first; empty when nothing was ever published.
///
/// # Errors
/// [`Kind::Io`] when it cannot be read, [`Kind::Data`] when it is damaged or not what was written.
pub fn load(store: &Store) -> Result<Vec<PublicationEntry>> {
    let mut entries = Vec::new();
    for path in store.pages(FOLDER)? {
        for batch in read_table(store.reader(&path)?, None, 16_384)? {
            let batch = batch?;
            schema::dataset("publication")?.admit(&batch)?;
            let words = |name| text(&batch, name);
            let (id, receiver, message) = (words("publication_id")?, words("receiver")?, words("message")?);
            let (site, state, content, record) = (
                words("site")?,
                words("state")?,
                words("content_blake3")?,
                words("record")?,
            );
            let (at, month) = (time(&batch, "published_utc")?, date(&batch, "month")?);
            for row in 0..batch.num_rows() {
                let damaged = || damaged(&path);
                let form = RecordFormat::of_word(message.value(row)).ok_or_else(damaged)?;
                let month = number(month, row).and_then(Month::of_day).ok_or_else(damaged)?;
                entries.push(PublicationEntry {
                    publication_id: id.value(row).to_owned(),
                    published_ms: at.value(row),
                    receiver: receiver.value(row).to_owned(),
                    state: PublicationState::of_word(state.value(row)).ok_or_else(damaged)?,
                    place: PublicationPlace::new(form, site.value(row), month),
                    content: content.value(row).to_owned(),
                    record: MessageRecord::parse(form, record.value(row)),
                });
            }
        }
    }
    entries.sort_by(|a, b| (a.published_ms, &a.publication_id).cmp(&(b.published_ms, &b.publication_id)));
    Ok(entries)
}

/// Adds a publication, which is in the book once it is sent.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be written.
pub fn append(sending: &Sending<'_>, entries: &[PublicationEntry]) -> Result<()> {
    let Some(first) = entries.first() else { return Ok(()) };
    let dataset = schema::dataset("publication")?;
    let words = |of: &dyn Fn(&PublicationEntry) -> String| texts(entries.iter().map(|entry| Some(of(entry))));
    let optional = |name: &'static str| texts(entries.iter().map(|entry| entry.record.word(name)));
    let batch = dataset.batch(vec![
        words(&|entry| entry.publication_id.clone()),
        times(entries.iter().map(|entry| Some(entry.published_ms))),
        words(&|entry| entry.receiver.clone()),
        words(&|entry| entry.place.form.as_str().to_owned()),
        words(&|entry| entry.place.site.clone()),
        dates(entries.iter().map(|entry| Some(entry.place.month.first_day()))),
        words(&|entry| entry.state.as_str().to_owned()),
        texts(
            entries
                .iter()
                .map(|entry| Some(entry.record.vo()).filter(|vo| !vo.is_empty())),
        ),
        optional("SubmitHost"),
        ints(entries.iter().map(|entry| Some(entry.record.job_n()))),
        ints(entries.iter().map(|entry| entry.record.wall_s())),
        ints(entries.iter().map(|entry| entry.record.cpu_s())),
        words(&|entry| entry.record.text()),
        words(&|entry| entry.content.clone()),
    ])?;
    let path = format!("{FOLDER}/{}.parquet", first.publication_id);
    let options = TableOptions {
        footer: sending.footer(&path),
        ..TableOptions::default()
    };
    let mut table = TableWriter::create(Vec::new(), dataset.arrow(), &options)?;
    table.write(&batch)?;
    let (_, bytes) = table.finish()?;
    sending.enter(&path, bytes.into())
}

/// What a receiver holds after all publications: of each place, what the last one sent.
#[must_use]
pub fn held<'a>(
    entries: &'a [PublicationEntry],
    receiver: &str,
) -> BTreeMap<PublicationPlace, Vec<&'a PublicationEntry>> {
    let mut held: BTreeMap<PublicationPlace, Vec<&'a PublicationEntry>> = BTreeMap::new();
    // Overlaid and deleted rows of the receiver's super-summaries are not records of the place itself.
    let is_reported =
        |entry: &&PublicationEntry| !matches!(entry.state, PublicationState::Overlaid | PublicationState::SuperListed);
    let own = entries.iter().filter(|entry| entry.receiver == receiver);
    for entry in own.filter(is_reported) {
        let of = held.entry(entry.place.clone()).or_default();
        if of
            .first()
            .is_some_and(|first| first.publication_id != entry.publication_id)
        {
            of.clear();
        }
        of.push(entry);
    }
    held
}
