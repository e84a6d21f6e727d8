//! Records of a folder of messages that others of it replace on APEL's server, because both have one key there.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::message_record::MessageRecord;
use crate::report::apel::MessageKind;
use crate::report::apel::check::message;
use crate::report::apel::server_key::{ServerKey, ServerTable};

/// Which record of which message; messages are counted from 0, records from 1 as in findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Message.
    pub message: usize,
    /// Record.
    pub record: usize,
}

/// A record that another replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Where it is.
    pub at: RecordPlace,
    /// Where the record is that replaces it.
    pub by: RecordPlace,
    /// Number of jobs in it, and in the other.
    pub job_n: (i64, i64),
    /// It is published again: the other has the same key text and is in a later message or the same job. What a
    /// publisher sends to correct itself looks like that; else two facts are mistaken for one.
    pub is_reported_again: bool,
}

/// Jobs of all records of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableJobs {
    /// In the messages.
    pub sent_n: i64,
    /// On the server, which has loaded all of them in their order.
    pub held_n: i64,
}

/// What the server makes of a folder of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Records that others replace, in the order in which they are loaded.
    pub replaced: Vec<Replaced>,
    /// Jobs by table.
    pub tables: BTreeMap<ServerTable, TableJobs>,
}

/// What the server makes of messages that are loaded in this order. Those it refuses are passed over.
#[must_use]
pub fn load(messages: &[&str]) -> Loaded {
    let mut loaded = Loaded::default();
    let mut known: HashMap<ServerKey, (RecordPlace, i64)> = HashMap::new();
    for (nth, text) in messages.iter().enumerate() {
        let Some(kind) = kind_of(text).filter(|_| message(text, None).is_empty()) else {
            continue;
        };
        for (record, reported) in (1..).zip(records(text).map(|record| MessageRecord::parse(kind.into(), record))) {
            let at = RecordPlace { message: nth, record };
            let Some(key) = reported.server_key() else { continue };
            let job_n = reported.job_n();
            let jobs = loaded.tables.entry(kind.table()).or_default();
            jobs.sent_n += job_n;
            // Exact: a count that the server takes has 31 bits, and there are fewer than 2^32 records.
            jobs.held_n += job_n;
            let Some((before, before_n)) = known.insert(key, (at, job_n)) else {
                continue;
            };
            jobs.held_n -= before_n;
            let earlier = messages.get(before.message).and_then(|text| of(text, before.record));
            let is_alike = earlier.is_some_and(|earlier| spelled(&earlier) == spelled(&reported));
            loaded.replaced.push(Replaced {
                at: before,
                by: at,
                job_n: (before_n, job_n),
                is_reported_again: is_alike && (before.message != nth || kind.is_job()),
            });
        }
    }
    loaded
}

fn kind_of(text: &str) -> Option<MessageKind> {
    MessageKind::of_header(text.trim().lines().next()?)
}

fn records(text: &str) -> impl Iterator<Item = &str> {
    let body = text.trim().split_once('\n').map_or("", |(_, body)| body);
    body.split("%%").map(str::trim).filter(|record| !record.is_empty())
}

fn of(text: &str, record: usize) -> Option<MessageRecord> {
    let text_of = records(text).nth(record.checked_sub(1)?)?;
    Some(MessageRecord::parse(kind_of(text)?.into(), text_of))
}

/// The key as it is written, with the names of all benchmarks.
fn spelled(reported: &MessageRecord) -> Vec<String> {
    let word = |name: &str| reported.value(name).to_owned();
    let mut spelled: Vec<String> = reported.key_fields().into_iter().map(word).collect();
    spelled.extend(reported.work_benchmarks().map(str::to_owned));
    spelled
}
