//! Where messages go: plain files with descriptive names, or the spool of APEL's sender.

use bytes::Bytes;

use super::ledger::PublicationPlace;
use super::message_record::MessageRecord;
use super::record_format::RecordFormat;
use crate::error::Result;
use crate::hive::segment;
use crate::numbers::Extent;
use crate::report::apel::server_key::super_summary_column;
use crate::report::render::{TableFormat, render};
use crate::report::table::{Cell, ColumnKind, Table};
use crate::store::Outgoing;
use crate::time::Month;

/// Layout of messages in the folder they are written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OutboxLayout {
    /// A file per message, `KIND-SITE-MONTH-NUMBER.msg` (`.ndjson` of documents): the same messages have the same names.
    #[default]
    Files,
    /// The `outgoing/` folder of APEL's sender (dirq's `QueueSimple`): messages are taken from it in the order of their
    /// names, which contain the time they were put there.
    Spool,
}

/// A folder messages are put into.
pub struct Outbox {
    outgoing: Outgoing,
    layout: OutboxLayout,
    /// Unix microseconds of the next name in a spool.
    next_us: u64,
    /// The last digit of names in a spool.
    digit: u8,
}

impl Outbox {
    /// Opens, or makes, the folder at a path or URL. `now_ms` names what is put into a spool, and `lake`, the place they come
    /// from, distinguishes writers.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be made.
    pub fn open(place: &str, layout: OutboxLayout, now_ms: i64, lake: &str) -> Result<Self> {
        Ok(Self {
            outgoing: Outgoing::open(place)?,
            layout,
            // Fallback: a clock before 1970 names its messages as at the beginning of it.
            next_us: u64::try_from(now_ms).unwrap_or(0).times(1000),
            // Fallback: never taken, a hash has 32 bytes.
            digit: blake3::hash(lake.as_bytes()).as_bytes().first().copied().unwrap_or(0) & 0xf,
        })
    }

    /// Stages a message for its place. It becomes visible there when all of them are delivered. Returns its path in the folder.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be written.
    pub fn put(&mut self, form: RecordFormat, site: &str, month: Month, number: usize, text: String) -> Result<String> {
        let path = match self.layout {
            OutboxLayout::Files => {
                let (place, extension) = (name(form, site, month), form.extension());
                format!("{place}-{number:06}.{extension}")
            }
            OutboxLayout::Spool => loop {
                let (seconds, micros) = (self.next_us / 1_000_000, self.next_us % 1_000_000);
                self.next_us += 1;
                // The last digit distinguishes writers.
                let path = format!(
                    "{:08x}/{seconds:08x}{micros:05x}{:x}",
                    seconds - seconds % 60,
                    self.digit
                );
                if !self.outgoing.has(&path)? {
                    break path;
                }
            },
        };
        self.outgoing.put(&path, Bytes::from(text))?;
        Ok(path)
    }

    /// Delivers what was put.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the folder cannot be written.
    pub fn deliver(self) -> Result<()> {
        self.outgoing.deliver()
    }

    /// What was put, for a sending that keeps book of it.
    #[must_use]
    pub fn into_outgoing(self) -> Outgoing {
        self.outgoing
    }

    /// The same, before anything is put.
    pub fn outgoing(&mut self) -> &mut Outgoing {
        &mut self.outgoing
    }
}

fn name(form: RecordFormat, site: &str, month: Month) -> String {
    let site = segment("", Some(site));
    format!("{}-{}-{month}", form.as_str(), site.trim_start_matches('='))
}

/// Writes the list of records of a place that the operators of a receiver have to delete: a line each, with the fields that
/// identify it, as CSV. Returns the name of the file in the folder.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be written.
pub fn put_delete_list(
    lists: &mut Outgoing,
    place: &PublicationPlace,
    listed: OutboxListed,
    now_ms: i64,
    gone: &[MessageRecord],
) -> Result<String> {
    let PublicationPlace { form, site, month } = place;
    // Fallback: a list of no records has no columns and no rows.
    let keys = gone.first().map(MessageRecord::key_fields).unwrap_or_default();
    let spelled = |key: &'static str| match listed {
        OutboxListed::Records => key,
        OutboxListed::SuperSummaries => super_summary_column(key),
    };
    let columns: Vec<_> = keys.iter().map(|key| (spelled(key), "", ColumnKind::Text)).collect();
    let mut table = Table::new("To be deleted", &columns);
    for record in gone {
        table.push(keys.iter().map(|key| Cell::word(record.key_value(key))).collect());
    }
    let place = match listed {
        OutboxListed::Records => name(*form, site, *month),
        OutboxListed::SuperSummaries => format!(
            "HybridSuperSummaries{}",
            name(*form, site, *month).trim_start_matches(form.as_str())
        ),
    };
    let path = format!("delete-{place}-{now_ms}.csv");
    lists.put(&path, Bytes::from(render(&table, TableFormat::Csv)?))?;
    Ok(path)
}

/// What is listed to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboxListed {
    /// Records that were sent.
    Records,
    /// Rows APEL's server made of jobs.
    SuperSummaries,
}
