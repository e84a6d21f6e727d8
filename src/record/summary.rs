//! One summary as read, and the same sealed: owned, with site, VO, identity and provenance.

use std::sync::Arc;

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

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
    /// Dimensions, in the order of [`WORDS`].
    pub words: [Option<String>; WORDS.len()],
    /// Numbers, in the order of [`NUMBERS`].
    pub numbers: [Option<i64>; NUMBERS.len()],
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

/// Columns of [`Summary::words`].
pub(crate) const WORDS: [&str; 16] = [
    "vo",
    "vo_group",
    "vo_role",
    "global_user",
    "submit_host",
    "infrastructure",
    "infrastructure_description",
    "service_level_type",
    "benchmark",
    "stated_vo",
    "view",
    "account",
    "cluster",
    "payload_site",
    "vo_name",
    "reportable_vo",
];

/// Columns of [`Summary::numbers`]. Times are Unix milliseconds, the benchmark is in thousandths.
pub(crate) const NUMBERS: [&str; 15] = [
    "benchmark_per_core",
    "alloc_node_n",
    "alloc_core_n",
    "earliest_end_utc",
    "latest_end_utc",
    "wall_s",
    "wall_fraction_ms",
    "cpu_ms",
    "normalised_wall_s",
    "normalised_cpu_s",
    "job_n",
    "sync_job_n",
    "alloc_gpu_n",
    "exit_code",
    "network_byte",
];

impl Summary {
    /// Seals a row of `source`. The rule of identity is the key of APEL's server: site, month, user, VO, group, role,
    /// submit host, infrastructure, benchmark type and value, nodes and cores, texts compared without regard to case
    /// and to blanks at their end. VO is the one the record states, so that a mapping does not merge what it sent apart.
    /// Where the reader gives a key of its own, it replaces all of these but site and month.
    #[must_use]
    pub fn seal(row: &SummaryRow<'_>, site: &str, month: Month, source: &str, vo: Option<&str>) -> Self {
        let is_sync = row.kind == SummaryKind::Sync;
        let words = [
            vo,
            row.vo_group,
            row.vo_role,
            row.global_user,
            row.submit_host,
            row.infrastructure,
            row.infrastructure_description,
            row.service_level_type,
            row.benchmark,
            row.vo,
            Some(row.view),
            row.account,
            row.cluster,
            row.payload_site,
            row.vo_name.filter(|name| Some(*name) != vo),
            row.reportable_vo.filter(|name| Some(*name) != vo),
        ]
        .map(|word| word.map(str::to_owned));
        let numbers = [
            row.benchmark_milli_per_core,
            row.alloc_node_n,
            row.alloc_core_n,
            row.earliest_end_ms,
            row.latest_end_ms,
            row.wall_ms.map(|ms| ms.div_euclid(1000)),
            row.wall_ms.map(|ms| ms.rem_euclid(1000)),
            row.cpu_ms,
            row.normalised_wall_s,
            row.normalised_cpu_s,
            row.job_n.filter(|_| !is_sync),
            row.job_n.filter(|_| is_sync),
            row.alloc_gpu_n,
            row.exit_code,
            row.network_byte,
        ];
        let mut key = Vec::with_capacity(256);
        identify(row, site, month, &mut key);
        let summary_id = xxh3_128(&key);
        key.clear();
        for word in &words {
            put(&mut key, word.as_deref());
        }
        for number in numbers {
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

    /// A text column.
    #[must_use]
    pub fn word(&self, column: &str) -> Option<&str> {
        let at = WORDS.iter().position(|name| *name == column)?;
        self.words.get(at)?.as_deref()
    }

    /// A number column.
    #[must_use]
    pub fn number(&self, column: &str) -> Option<i64> {
        let at = NUMBERS.iter().position(|name| *name == column)?;
        self.numbers.get(at).copied().flatten()
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
        // The server stores no null: unknown is 0.
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
