//! What APEL's server makes of single jobs: it adds them up by key, writes over the rows it made before, and deletes none.
//! A row whose jobs have all moved to other keys, or were deleted, stays there as it was: it is stale.
//!
//! This follows the jobs a receiver was sent, publication by publication, as if the server had added them up after each.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::jobs::{BookedJob, field, key_of};
use super::ledger::{PublicationEntry, PublicationState};
use super::message_record::MessageRecord;
use crate::amounts::{add, too_large};
use crate::error::Result;
use crate::report::apel::MessageKind;
use crate::report::apel::server_key::{ServerKey, benchmark_of};
use crate::sources::fqan::Fqan;
use crate::time::Month;

/// Fields of a job that, with its month, identify its row of the super-summaries.
const FIELDS: [&str; 12] = [
    "Site",
    "GlobalUserName",
    "FQAN",
    "VO",
    "VOGroup",
    "VORole",
    "SubmitHost",
    "InfrastructureType",
    "ServiceLevelType",
    "ServiceLevel",
    "NodeCount",
    "Processors",
];

/// Jobs, and wall and CPU time in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSums {
    /// Jobs.
    pub job_n: i64,
    /// Wall time, not times cores.
    pub wall_s: i64,
    /// CPU time.
    pub cpu_s: i64,
}

impl RowSums {
    /// Adds a job once more, or takes it out again.
    fn add(&mut self, sign: i64, wall_s: i64, cpu_s: i64) -> Result<()> {
        let signed = |amount: i64, what| amount.checked_mul(sign).ok_or_else(|| too_large(what));
        add(&mut self.job_n, sign, "NumberOfJobs")?;
        add(&mut self.wall_s, signed(wall_s, "WallDuration")?, "WallDuration")?;
        add(&mut self.cpu_s, signed(cpu_s, "CpuDuration")?, "CpuDuration")
    }
}

/// A row of the super-summaries.
#[derive(Clone, Debug)]
struct SuperRow {
    /// Its key, as a summary.
    record: MessageRecord,
    key: ServerKey,
    /// What its jobs come to now.
    now: RowSums,
    /// Its sums on the server, where known.
    stated: Option<RowSums>,
}

#[derive(Clone, Copy, Debug)]
struct LoadedJob {
    row: usize,
    wall_s: i64,
    cpu_s: i64,
}

/// The super-summaries as far as they come from jobs.
#[derive(Clone, Debug, Default)]
pub struct SuperSummaries {
    rows: Vec<SuperRow>,
    by_key: HashMap<ServerKey, usize>,
    /// Rows by the fields of jobs as they are written.
    by_text: HashMap<Box<[u8]>, usize>,
    jobs: HashMap<u128, LoadedJob>,
    touched: BTreeSet<usize>,
    text: Vec<u8>,
    /// The publication whose jobs are seen.
    publication_id: String,
    /// Rows that were listed to be deleted, by when.
    deleted: BTreeMap<i64, Vec<ServerKey>>,
}

impl SuperSummaries {
    /// None yet. The ledger records which rows were listed for deletion.
    #[must_use]
    pub fn with_deleted(entries: &[PublicationEntry]) -> Self {
        let mut made = Self::default();
        for entry in entries
            .iter()
            .filter(|entry| entry.state == PublicationState::SuperListed)
        {
            let of = made.deleted.entry(entry.published_ms).or_default();
            of.extend(entry.record.server_key());
        }
        made
    }

    /// A row of the book of jobs, oldest first.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the sum of a row that is too large.
    pub fn follow(&mut self, job: BookedJob<'_>) -> Result<()> {
        if job.publication_id != self.publication_id {
            let next_ms = job.publication_id.split('-').next().and_then(|ms| ms.parse().ok());
            self.end_before(next_ms);
            job.publication_id.clone_into(&mut self.publication_id);
        }
        self.see(job.state, job.record)
    }

    /// A publication ends: the server adds up what it has, and people delete what was listed.
    pub fn end(&mut self) {
        self.end_before(None);
    }

    /// The same, where the next one is known.
    fn end_before(&mut self, next_ms: Option<i64>) {
        self.summarise();
        let later = next_ms.map_or_else(BTreeMap::new, |next_ms| self.deleted.split_off(&next_ms));
        for key in std::mem::replace(&mut self.deleted, later).into_values().flatten() {
            self.delete(&key);
        }
    }

    /// A job is sent, also under another spelling of its site, taken back by zeros, or deleted.
    ///
    /// # Errors
    /// As [`SuperSummaries::follow`].
    pub fn see(&mut self, state: PublicationState, record: &str) -> Result<()> {
        if state == PublicationState::Respelled {
            // The job is still there, in the same row.
            return Ok(());
        }
        let key = key_of(record);
        if let Some(before) = self.jobs.remove(&key) {
            self.add(before, -1)?;
        }
        let Some(row) = self.row_of(record) else {
            return Ok(());
        };
        let number = |name: &str| field(record, name).parse().ok();
        let job = match state {
            PublicationState::Sent => number("WallDuration").zip(number("CpuDuration")),
            PublicationState::Retracted => Some((0, 0)),
            _ => None,
        };
        if let Some((wall_s, cpu_s)) = job {
            let job = LoadedJob { row, wall_s, cpu_s };
            self.add(job, 1)?;
            self.jobs.insert(key, job);
        }
        Ok(())
    }

    fn add(&mut self, job: LoadedJob, sign: i64) -> Result<()> {
        if let Some(row) = self.rows.get_mut(job.row) {
            row.now.add(sign, job.wall_s, job.cpu_s)?;
            self.touched.insert(job.row);
        }
        Ok(())
    }

    fn row_of(&mut self, record: &str) -> Option<usize> {
        let end_s: i64 = field(record, "EndTime").parse().ok()?;
        let month = Month::of_ms(end_s.checked_mul(1000)?)?;
        self.text.clear();
        self.text.extend_from_slice(&month.first_day().to_le_bytes());
        for name in FIELDS {
            self.text.extend_from_slice(field(record, name).as_bytes());
            self.text.push(b'\n');
        }
        let record = match self.by_text.get(self.text.as_slice()) {
            Some(at) => return Some(*at),
            None => as_summary(&MessageRecord::parse(MessageKind::JobV04.into(), record), month),
        };
        let key = record.server_key()?;
        let next = self.rows.len();
        let at = *self.by_key.entry(key.clone()).or_insert(next);
        if at == next {
            self.rows.push(SuperRow {
                record,
                key,
                now: RowSums::default(),
                stated: None,
            });
        }
        self.by_text.insert(self.text.clone().into_boxed_slice(), at);
        Some(at)
    }

    /// The server adds its jobs up. A row without jobs is not written.
    fn summarise(&mut self) {
        for at in std::mem::take(&mut self.touched) {
            if let Some(row) = self.rows.get_mut(at).filter(|row| row.now.job_n > 0) {
                row.stated = Some(row.now);
            }
        }
    }

    /// People have deleted a row.
    fn delete(&mut self, key: &ServerKey) {
        let row = self.by_key.get(key).and_then(|at| self.rows.get_mut(*at));
        if let Some(row) = row {
            row.stated = None;
        }
    }

    /// The rows whose sums differ from those of their jobs, as summaries with the sums on the server.
    #[must_use]
    pub fn stale(&self) -> BTreeMap<ServerKey, MessageRecord> {
        let stale = self.rows.iter().filter(|row| row.now.job_n == 0);
        let record = |row: &SuperRow| Some((row.key.clone(), with_sums(&row.record, row.stated?)));
        stale.filter_map(record).collect()
    }

    /// What the jobs of a key come to: a summary of them.
    #[must_use]
    pub fn now(&self, key: &ServerKey) -> Option<MessageRecord> {
        let row = self.rows.get(*self.by_key.get(key)?)?;
        Some(with_sums(&row.record, row.now))
    }
}

fn with_sums(record: &MessageRecord, sums: RowSums) -> MessageRecord {
    let mut record = record.clone();
    for (name, sum) in [
        ("NumberOfJobs", sums.job_n),
        ("WallDuration", sums.wall_s),
        ("CpuDuration", sums.cpu_s),
    ] {
        record.fields.insert(name.to_owned(), sum.to_string());
    }
    record
}

/// The summary the server makes of a job that ends in a month, without its sums.
fn as_summary(job: &MessageRecord, month: Month) -> MessageRecord {
    let mut fields: BTreeMap<String, String> = BTreeMap::new();
    let mut put = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value.to_owned());
        }
    };
    for name in ["Site", "GlobalUserName", "SubmitHost", "InfrastructureType"] {
        put(name, job.word(name));
    }
    // The VO of an FQAN takes precedence over the other fields.
    let fqan = job.word("FQAN").map(Fqan::parse);
    put("VO", fqan.map_or(job.word("VO"), |fqan| Some(fqan.vo)));
    put("VOGroup", fqan.map_or(job.word("VOGroup"), |fqan| fqan.group));
    put("VORole", fqan.map_or(job.word("VORole"), |fqan| fqan.role));
    // Jobs of both versions are read; a plain number is not a dictionary.
    let (benchmark, level) = benchmark_of(MessageKind::SummaryV04, |name| job.word(name));
    put("ServiceLevelType", benchmark);
    put("ServiceLevel", level);
    for name in ["NodeCount", "Processors"] {
        put(name, job.word(name).or(Some("0")));
    }
    put("Month", Some(&month.number().to_string()));
    put("Year", Some(&month.year().to_string()));
    MessageRecord {
        form: MessageKind::SummaryV02.into(),
        fields,
    }
}
