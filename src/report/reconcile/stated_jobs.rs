//! Single jobs as messages and XML records state them.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;

use super::amount::Amount;
use super::job::{JobIdentityJob, JobIdentityNames, JobIdentityPlace, JobIdentityStanding, UNKNOWN, id_hash};
use super::level::DifferenceLevel;
use crate::absent;
use crate::amounts::too_large;
use crate::error::Result;
use crate::inspect::stand_in;
use crate::ledger::Reason;
use crate::numbers::{Comparand, counted_i64};
use crate::record::JobRow;
use crate::reference::benchmark::Benchmark;
use crate::report::apel::jobs::Levels;
use crate::report::publication::message_record::MessageRecord;
use crate::report::work_scale::WorkScale;
use crate::schema::batch::addend;
use crate::sources::apel::acceptance::Acceptance;
use crate::sources::hints::Hints;
use crate::sources::options::ReaderOptions;
use crate::sources::{Position, Sink, apel};
use crate::time::{DAY_MS, Month};

/// One job.
#[derive(Clone, Debug)]
pub struct StatedJob {
    /// Site.
    pub site: String,
    /// VO; empty when unknown.
    pub vo: String,
    /// LRMS server.
    pub cluster: String,
    /// CE.
    pub host: String,
    /// `grid`, `local` or another word.
    pub infrastructure: Option<String>,
    /// Id in its batch system.
    pub job_id: String,
    /// Start, Unix milliseconds.
    pub start_ms: Option<i64>,
    /// End, Unix milliseconds.
    pub end_ms: i64,
    /// Wall time, seconds.
    pub wall_s: i64,
    /// CPU time, milliseconds.
    pub cpu_ms: Option<i64>,
    /// Cores; 0 when unknown.
    pub core_n: i64,
    /// Nodes; 0 when unknown.
    pub node_n: i64,
    /// What scales it.
    pub level: Option<DifferenceLevel>,
    /// The file it was read from.
    pub file: String,
    /// Line of that file; 0 when it is not known.
    pub line: i64,
}

/// All jobs of one side.
#[derive(Clone, Debug, Default)]
pub struct StatedJobs {
    /// The key of jobs on APEL's server: site, id and end. Of several the last counts.
    jobs: BTreeMap<(String, String, i64), StatedJob>,
}

impl StatedJob {
    /// A job of a message; `None` when it has no end or no wall time.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when its CPU time is too large.
    pub fn of_message(record: &MessageRecord, file: &str, scale: WorkScale) -> Result<Option<Self>> {
        let (Some(end_ms), Some(wall_s)) = (record.end_s().and_then(|s| s.checked_mul(1000)), record.wall_s()) else {
            return Ok(None);
        };
        let in_ms = |s: i64| s.checked_mul(1000).ok_or_else(|| too_large("cpu_ms").at("file", file));
        let word = |name| record.value(name).to_owned();
        Ok(Some(Self {
            site: record.site().to_owned(),
            vo: record.vo().to_owned(),
            cluster: word("MachineName"),
            host: word("SubmitHost"),
            infrastructure: record.infrastructure().map(str::to_owned),
            job_id: absent::text(record.job_id()).to_owned(),
            start_ms: record.start_s().map(|s| s.product_to_compare(1000)),
            end_ms,
            wall_s,
            cpu_ms: record.cpu_s().map(in_ms).transpose()?,
            core_n: addend(record.number("Processors")),
            node_n: addend(record.number("NodeCount")),
            level: DifferenceLevel::chosen(&record.levels_e3(), scale),
            file: file.to_owned(),
            line: 0,
        }))
    }

    /// The month of its end.
    #[must_use]
    pub fn month(&self) -> Option<Month> {
        Month::of_ms(self.end_ms)
    }

    /// What it comes to.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the product that is too large.
    pub fn amount(&self) -> Result<Amount> {
        let cpu_ms = addend(self.cpu_ms);
        Amount::of_jobs(1, i128::from(self.wall_s), i128::from(cpu_ms), self.core_n, self.level)
    }
}

impl StatedJobs {
    /// Adds a job; one of the same key is replaced.
    pub fn put(&mut self, job: StatedJob) {
        let key = (job.site.to_lowercase(), job.job_id.to_lowercase(), job.end_ms);
        self.jobs.insert(key, job);
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &StatedJob> {
        self.jobs.values()
    }

    /// Reads a file of XML records, and reports what in it is not a job.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read.
    pub fn read_xml(&mut self, file: &str, text: &str, scale: WorkScale) -> Result<Vec<String>> {
        let input = Box::new(Cursor::new(text.as_bytes().to_vec()));
        let mut reading = XmlReading {
            into: self,
            file,
            scale,
            refused_n: 0,
            first: None,
            other_n: 0,
        };
        let options = ReaderOptions {
            // A bad record is reported, and does not take the others with it.
            acceptance: Acceptance::Salvage,
            ..stand_in(apel::DIALECT, &Hints::default())
        };
        for work in apel::pieces(input, Arc::new(options))? {
            work?(&mut reading);
        }
        let mut notes = Vec::new();
        if let Some(first) = reading.first {
            notes.push(format!(
                "{file}: {} records were refused; the first, {first}",
                reading.refused_n
            ));
        }
        if reading.other_n > 0 {
            notes.push(format!(
                "{file}: {} records are not of single jobs and were left out",
                reading.other_n
            ));
        }
        Ok(notes)
    }

    /// Those that ended in a month or within three days of it.
    #[must_use]
    pub fn month(&self, month: Month, names: &mut JobIdentityNames) -> Vec<JobIdentityJob> {
        let from_ms = i64::from(month.first_day() - 3) * DAY_MS;
        let until_ms = i64::from(month.next().first_day() + 3) * DAY_MS;
        let near = self.iter().filter(|job| (from_ms..until_ms).contains(&job.end_ms));
        near.filter_map(|job| {
            let (site, vo) = (names.id(&job.site), names.id(&job.vo));
            let [cluster, host] = [&job.cluster, &job.host].map(|word| names.id(word));
            let [cluster, host, own_vo] = [cluster, host, vo].map(|id| names.folded(id));
            Some(JobIdentityJob {
                record: 0,
                number: id_hash(&job.job_id),
                global: 0,
                place: JobIdentityPlace {
                    site: names.folded(site),
                    vo: own_vo,
                    month: job.month()?,
                },
                own_vo,
                spelled: (site, vo),
                cluster,
                host,
                source: names.id(""),
                file: names.id(&job.file),
                line: job.line,
                submit_ms: UNKNOWN,
                start_ms: job.start_ms.unwrap_or(UNKNOWN),
                end_ms: job.end_ms,
                wall_s: job.wall_s,
                cpu_ms: job.cpu_ms.unwrap_or(UNKNOWN),
                cpu_user_ms: UNKNOWN,
                core_n: job.core_n.max(0),
                level: job.level,
                standing: JobIdentityStanding::Counted,
            })
        })
        .collect()
    }
}

/// A reader of XML records.
struct XmlReading<'a> {
    into: &'a mut StatedJobs,
    file: &'a str,
    scale: WorkScale,
    refused_n: u64,
    first: Option<String>,
    other_n: u64,
}

impl Sink for XmlReading<'_> {
    fn rows_read(&mut self, _: u64) {}

    fn job(&mut self, row: &JobRow<'_>, at: Position, _: u32) {
        let (Some(end_ms), Some(wall_ms)) = (row.end_ms, row.wall_ms) else {
            self.reject(Reason::MissingField, at, 1, "it has no end or no wall time", b"");
            return;
        };
        let word = |word: Option<&str>| absent::text(word).to_owned();
        let kind = row
            .benchmark
            .and_then(Benchmark::parse)
            .zip(row.benchmark_milli_per_core);
        let levels: Levels = Benchmark::ALL.map(|each| kind.filter(|(kind, _)| *kind == each).map(|(_, e3)| e3));
        self.into.put(StatedJob {
            site: word(row.site),
            vo: word(row.vo),
            cluster: word(row.cluster),
            host: word(row.submit_host),
            infrastructure: row.infrastructure.map(str::to_owned),
            job_id: row.job_id.to_owned(),
            start_ms: row.start_ms,
            end_ms,
            wall_s: wall_ms.div_euclid(1000),
            cpu_ms: row.cpu_ms,
            core_n: addend(row.alloc_core_n),
            node_n: addend(row.alloc_node_n),
            level: DifferenceLevel::chosen(&levels, self.scale),
            file: self.file.to_owned(),
            line: counted_i64(at.line),
        });
    }

    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, _: &[u8]) {
        self.refused_n += rows;
        if self.first.is_none() {
            self.first = Some(format!("in line {}: {} ({detail})", at.line, reason.code()));
        }
    }

    fn out_of_scope(&mut self, _: Reason, rows: u64) {
        self.other_n += rows;
    }
}
