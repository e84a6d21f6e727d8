//! One summary as read, and the same sealed: owned, with site, VO, identity and provenance.

use std::sync::Arc;

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::column_struct::column_struct;
use crate::ledger::Reason;
use crate::time::Month;

/// What kind of aggregate a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SummaryKind {
    /// Jobs of a month added up, with the benchmark they ran under (APEL summary v0.2, v0.4).
    #[default]
    Summary,
    /// The same with work instead of a benchmark: times are already multiplied by it (APEL v0.3, normalised v0.4).
    NormalisedSummary,
    /// A count of jobs only, sent to check whether all arrived. It is not usage.
    Sync,
}

impl SummaryKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Summary, Self::NormalisedSummary, Self::Sync];

    /// The word stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::NormalisedSummary => "normalised_summary",
            Self::Sync => "sync",
        }
    }

    /// The reason of one that counts.
    #[must_use]
    pub fn accepted(self) -> Reason {
        match self {
            Self::Summary | Self::NormalisedSummary => Reason::SummaryRecord,
            Self::Sync => Reason::SyncRecord,
        }
    }

    /// The kind whose word is `text`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// One aggregate as a source states it: borrowed, typed, in the units of the names. `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryRow<'a> {
    /// What it is.
    pub kind: SummaryKind,
    /// Whose account of the hours it is: `batch`, `payload`, ... (see [`super::JobRow::view`]).
    pub view: &'a str,
    /// Site as the record names it; the pipeline's `site` wins.
    pub site: Option<&'a str>,
    /// UTC month in which the jobs ended; `None` when the record names none that exists.
    pub month: Option<Month>,
    /// Its key among all others of its site and month, in place of the key of APEL's server.
    pub identity_key: Option<&'a str>,
    /// VO as the record names it; the pipeline's `vo` wins.
    pub vo: Option<&'a str>,
    /// The VO's name as the jobs printed it, where the record also has the one it was corrected to.
    pub vo_name: Option<&'a str>,
    /// The short name of the VO that the record states next to it.
    pub reportable_vo: Option<&'a str>,
    /// VO group.
    pub vo_group: Option<&'a str>,
    /// VO role.
    pub vo_role: Option<&'a str>,
    /// Account or project that pays.
    pub account: Option<&'a str>,
    /// Certificate subject or token subject.
    pub global_user: Option<&'a str>,
    /// GRACC probe.
    pub cluster: Option<&'a str>,
    /// Site where payloads report they ran, as opposed to the site that reports them.
    pub payload_site: Option<&'a str>,
    /// CE or host the jobs were submitted through.
    pub submit_host: Option<&'a str>,
    /// `grid`, `local`, ...
    pub infrastructure: Option<&'a str>,
    /// Client, CE and LRMS (`APEL-CREAM-SLURM`); part of no identity.
    pub infrastructure_description: Option<&'a str>,
    /// Benchmark type as the record spells it.
    pub service_level_type: Option<&'a str>,
    /// The same as one of `hs06`, `hs23`, `si00`; `None` when it is not one of them.
    pub benchmark: Option<&'a str>,
    /// Value per core of that benchmark, in thousandths.
    pub benchmark_milli_per_core: Option<i64>,
    /// Nodes of each job.
    pub alloc_node_n: Option<i64>,
    /// Cores of each job.
    pub alloc_core_n: Option<i64>,
    /// GPUs of each job.
    pub alloc_gpu_n: Option<i64>,
    /// Exit code of each job.
    pub exit_code: Option<i64>,
    /// When it was made, as it states, Unix milliseconds; part of no identity and of no content.
    pub made_ms: Option<i64>,
    /// Earliest end, Unix milliseconds.
    pub earliest_end_ms: Option<i64>,
    /// Latest end, Unix milliseconds.
    pub latest_end_ms: Option<i64>,
    /// Elapsed wall-clock time, **not** times cores, milliseconds.
    pub wall_ms: Option<i64>,
    /// CPU time, milliseconds.
    pub cpu_ms: Option<i64>,
    /// Wall time times the benchmark's value, seconds of that benchmark.
    pub normalised_wall_s: Option<i64>,
    /// CPU time times the benchmark's value, seconds of that benchmark.
    pub normalised_cpu_s: Option<i64>,
    /// Jobs.
    pub job_n: Option<i64>,
    /// Bytes transferred.
    pub network_byte: Option<i64>,
}

/// One summary on its way through the records room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Site it is accounted to.
    pub site: String,
    /// Month it is accounted to.
    pub month: Month,
    /// What it is.
    pub kind: SummaryKind,
    /// Name of the pipeline's source.
    pub source: String,
    /// Dimensions.
    pub words: SummaryWords,
    /// Numbers.
    pub numbers: SummaryNumbers,
    /// When it was made, as it states, Unix milliseconds.
    pub made_ms: Option<i64>,
    /// Input file.
    pub file_id: Arc<str>,
    /// Line on which it starts.
    pub line: i64,
    /// Offset at which it starts.
    pub byte_offset: i64,
    /// Identity: what APEL's server replaces rows by.
    pub summary_id: u128,
    /// Hash of its content.
    pub content_hash: u64,
    /// Whether a later publication of its month no longer holds it; unknown when the source does not state what a
    /// publication is.
    pub is_stale: Option<bool>,
    /// What became of it.
    pub reason: Reason,
}

column_struct! {
    /// The dimensions of a summary.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SummaryWords: Option<String> {
        /// VO after the pipeline's rule.
        vo
        /// Group of the VO.
        vo_group
        /// Role of the VO.
        vo_role
        /// Identity in the grid.
        global_user
        /// Submit host.
        submit_host
        /// Infrastructure: `grid`, `local`, ...
        infrastructure
        /// What describes the infrastructure.
        infrastructure_description
        /// What GRACC calls the kind of benchmark.
        service_level_type
        /// Benchmark its jobs ran under.
        benchmark
        /// VO as the record states it.
        stated_vo
        /// Whose account of the hours it is.
        view
        /// Account.
        account
        /// Cluster.
        cluster
        /// Site of the payload.
        payload_site
        /// Name of the VO where it is another.
        vo_name
        /// Reportable name of the VO where it is another.
        reportable_vo
    }
}

column_struct! {
    /// The numbers of a summary. `None` is unknown.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SummaryNumbers: Option<i64> {
        /// Value of the benchmark for one core, thousandths.
        benchmark_per_core
        /// Nodes of each job.
        alloc_node_n
        /// Cores of each job.
        alloc_core_n
        /// Earliest end, Unix milliseconds.
        earliest_end_utc
        /// Latest end, Unix milliseconds.
        latest_end_utc
        /// Wall time, whole seconds.
        wall_s
        /// What whole seconds leave of the wall time, milliseconds.
        wall_fraction_ms
        /// CPU time, milliseconds.
        cpu_ms
        /// Wall time times the benchmark's value, seconds of that benchmark.
        normalised_wall_s
        /// CPU time times the benchmark's value, seconds of that benchmark.
        normalised_cpu_s
        /// Jobs that are usage.
        job_n
        /// Jobs a sync record counts.
        sync_job_n
        /// GPUs of each job.
        alloc_gpu_n
        /// Exit code of the jobs.
        exit_code
        /// Bytes transferred.
        network_byte
    }
}

impl Summary {
    /// Seals a row of `source`. The rule of identity is the key of APEL's server: site, month, user, VO, group, role,
    /// submit host, infrastructure, benchmark type and value, nodes and cores, texts compared without regard to case
    /// and to blanks at their end. VO is the one the record states, so that a mapping does not merge what it sent apart.
    /// Where the reader gives a key of its own, it replaces all of these but site and month.
    #[must_use]
    pub fn seal(row: &SummaryRow<'_>, site: &str, month: Month, source: &str, vo: Option<&str>) -> Self {
        let is_sync = row.kind == SummaryKind::Sync;
        let owned = |word: Option<&str>| word.map(str::to_owned);
        let words = SummaryWords {
            vo: owned(vo),
            vo_group: owned(row.vo_group),
            vo_role: owned(row.vo_role),
            global_user: owned(row.global_user),
            submit_host: owned(row.submit_host),
            infrastructure: owned(row.infrastructure),
            infrastructure_description: owned(row.infrastructure_description),
            service_level_type: owned(row.service_level_type),
            benchmark: owned(row.benchmark),
            stated_vo: owned(row.vo),
            view: owned(Some(row.view)),
            account: owned(row.account),
            cluster: owned(row.cluster),
            payload_site: owned(row.payload_site),
            vo_name: owned(row.vo_name.filter(|name| Some(*name) != vo)),
            reportable_vo: owned(row.reportable_vo.filter(|name| Some(*name) != vo)),
        };
        let numbers = SummaryNumbers {
            benchmark_per_core: row.benchmark_milli_per_core,
            alloc_node_n: row.alloc_node_n,
            alloc_core_n: row.alloc_core_n,
            earliest_end_utc: row.earliest_end_ms,
            latest_end_utc: row.latest_end_ms,
            wall_s: row.wall_ms.map(|ms| ms.div_euclid(1000)),
            wall_fraction_ms: row.wall_ms.map(|ms| ms.rem_euclid(1000)),
            cpu_ms: row.cpu_ms,
            normalised_wall_s: row.normalised_wall_s,
            normalised_cpu_s: row.normalised_cpu_s,
            job_n: row.job_n.filter(|_| !is_sync),
            sync_job_n: row.job_n.filter(|_| is_sync),
            alloc_gpu_n: row.alloc_gpu_n,
            exit_code: row.exit_code,
            network_byte: row.network_byte,
        };
        let mut key = Vec::with_capacity(256);
        identify(row, site, month, &mut key);
        let summary_id = xxh3_128(&key);
        key.clear();
        for word in words.each() {
            put(&mut key, word.as_deref());
        }
        for number in numbers.each() {
            // Fallback: unknown is a number of its own in what is hashed.
            key.extend_from_slice(&number.unwrap_or(i64::MIN).to_le_bytes());
        }
        Self {
            site: site.to_owned(),
            month,
            kind: row.kind,
            source: source.to_owned(),
            words,
            numbers,
            made_ms: row.made_ms,
            file_id: Arc::from(""),
            line: 0,
            byte_offset: 0,
            summary_id,
            content_hash: xxh3_64(&key),
            is_stale: None,
            reason: row.kind.accepted(),
        }
    }

    /// Whether it holds usage: sync records only count.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        self.kind != SummaryKind::Sync
    }
}

fn identify(row: &SummaryRow<'_>, site: &str, month: Month, key: &mut Vec<u8>) {
    for word in [row.kind.as_str(), site] {
        put(key, Some(&folded(word)));
    }
    if let Some(own) = row.identity_key {
        put(key, Some(own));
        key.extend_from_slice(&month.first_day().to_le_bytes());
        return;
    }
    for word in [
        row.global_user,
        row.vo,
        row.vo_role,
        row.vo_group,
        row.submit_host,
        row.infrastructure,
        row.service_level_type,
    ] {
        put(key, word.map(folded).as_deref());
    }
    key.extend_from_slice(&month.first_day().to_le_bytes());
    for number in [row.benchmark_milli_per_core, row.alloc_node_n, row.alloc_core_n] {
        // Fallback: the server stores no null: unknown is 0 there.
        key.extend_from_slice(&number.unwrap_or(0).to_le_bytes());
    }
}

/// A text as APEL's server compares it.
fn folded(word: &str) -> String {
    word.trim_end().to_lowercase()
}

fn put(into: &mut Vec<u8>, word: Option<&str>) {
    let word = word.unwrap_or("\u{0}");
    into.extend_from_slice(&word.len().to_le_bytes());
    into.extend_from_slice(word.as_bytes());
}
