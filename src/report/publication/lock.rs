//! Locked months, which may not be published differently: events that lock and unlock, append-only, each with its reason.

use std::sync::Arc;

use crate::error::{Error, Kind, Result};
use crate::runtime::interruption::{Commit, committing};
use crate::schema;
use crate::schema::batch::{date, dates, flag, number, text, texts, time, times, word};
use crate::store::{BookLock, Heads, Sending, Store, TableOptions, TableWriter, read_table};
use crate::time::Month;

/// Folder of the events in a lake.
pub const FOLDER: &str = "month_lock";

/// What an event leaves behind that a signal comes upon.
const EVENT: Commit = Commit {
    made: "the event was written",
    cut: "whether the event was written is shown by `gridtally publication locks`",
};

/// A month was locked or unlocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockEvent {
    /// When, Unix milliseconds.
    pub at_ms: i64,
    /// Site; `None` for every site.
    pub site: Option<String>,
    /// Month.
    pub month: Month,
    /// Whether it was locked, or unlocked.
    pub is_locked: bool,
    /// Why.
    pub reason: String,
    /// Who.
    pub author: String,
}

/// Reads the events, oldest first.
///
/// # Errors
/// [`Kind::Io`] when they cannot be read, [`Kind::Data`] when they are damaged or not what was written.
pub fn load(store: &Store) -> Result<Vec<LockEvent>> {
    let mut events = Vec::new();
    for path in store.pages(FOLDER)? {
        for batch in read_table(store.reader(&path)?, None, 16_384)? {
            let batch = batch?;
            schema::dataset("month_lock")?.admit(&batch)?;
            let (at, month) = (time(&batch, "at_utc")?, date(&batch, "month")?);
            let (site, locked) = (text(&batch, "site")?, flag(&batch, "is_locked")?);
            let (reason, author) = (text(&batch, "reason")?, text(&batch, "author")?);
            for row in 0..batch.num_rows() {
                let damaged = || Error::new(Kind::Data, "a lock of a month is damaged").at("path", &path);
                events.push(LockEvent {
                    at_ms: at.value(row),
                    site: word(site, row).map(str::to_owned),
                    month: number(month, row).and_then(Month::of_day).ok_or_else(damaged)?,
                    is_locked: locked.value(row),
                    reason: reason.value(row).to_owned(),
                    author: author.value(row).to_owned(),
                });
            }
        }
    }
    events.sort_by_key(|event| event.at_ms);
    Ok(events)
}

/// Adds an event, later than those before it even if the clock was set back; returns the end of the book.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be written.
pub fn append(book: &BookLock, event: &LockEvent) -> Result<Heads> {
    let last = load(book.lock().store())?.last().map(|last| last.at_ms);
    // Fallback: an event at the end of all time is not followed by another.
    let at_ms = event.at_ms.max(last.map_or(i64::MIN, |last| last.saturating_add(1)));
    let dataset = schema::dataset("month_lock")?;
    let batch = dataset.batch(vec![
        times([Some(at_ms)]),
        texts([event.site.as_deref()]),
        dates([Some(event.month.first_day())]),
        Arc::new(arrow_array::BooleanArray::from(vec![event.is_locked])),
        texts([Some(&event.reason)]),
        texts([Some(&event.author)]),
    ])?;
    let path = format!("{FOLDER}/{at_ms}-{}.parquet", std::process::id());
    let sending = Sending::begin(book, &mut [])?;
    let options = TableOptions {
        footer: sending.footer(&path),
        ..TableOptions::default()
    };
    let mut table = TableWriter::create(Vec::new(), dataset.arrow(), &options)?;
    table.write(&batch)?;
    let (_, bytes) = table.finish()?;
    let commit = committing(&EVENT);
    sending.enter(&path, bytes.into())?;
    let ends = sending.commit(Vec::new())?;
    commit.made();
    Ok(ends)
}

/// The event that locks a site and month, if it is locked: the last one about it, or about the month at every site.
#[must_use]
pub fn lock_of<'a>(events: &'a [LockEvent], site: &str, month: Month) -> Option<&'a LockEvent> {
    let about = |event: &&LockEvent| event.month == month && event.site.as_deref().is_none_or(|of| of == site);
    events.iter().rfind(about).filter(|event| event.is_locked)
}
