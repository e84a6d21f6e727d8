//! The jobs of a lake that can be sent, with the benchmark values that held for each.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;

use crate::error::Result;
use crate::lake::refused_records::ID_COLUMN;
use crate::reference::benchmark::Benchmark;
use crate::report::lake::{Lake, LakePiece, Selection};
use crate::schema::batch::{decimal, int, number, text, time, word};
use crate::summarise::correction_effect::{CorrectionEffects, Corrections, EffectColumns};
use crate::time::Month;

/// Why something of the lake is not in the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobMessageLeftOut {
    /// The job never started: there is no usage to report.
    NeverStarted,
    /// The CPU time of the job is unknown, and every message must report it.
    CpuUnknown,
    /// No benchmark is known for it, or another than the requested one.
    BenchmarkMissing,
    /// It arrived as a summary, so single jobs cannot be reported.
    OnlySummaries,
    /// A correction added it, so neither single jobs nor a benchmark can be reported.
    AddedByCorrection,
    /// It arrived normalised, so the benchmark cannot be reported.
    AlreadyNormalised,
    /// A text holds what no message can carry: a line end, `%%`, a word that means null, blanks at an end.
    UnwritableText,
    /// The server would refuse the record, and its whole message with it.
    Refused,
    /// The sums of its month cannot take it: usage does not hold it.
    SumLimit,
    /// Another job of its site has its number and its end (in another cluster, for example): the server would keep only one.
    SameKey,
}

impl JobMessageLeftOut {
    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeverStarted => "never_started",
            Self::CpuUnknown => "cpu_unknown",
            Self::BenchmarkMissing => "benchmark_missing",
            Self::OnlySummaries => "only_summaries",
            Self::AddedByCorrection => "added_by_correction",
            Self::AlreadyNormalised => "already_normalised",
            Self::UnwritableText => "unwritable_text",
            Self::Refused => "refused",
            Self::SumLimit => "sum_limit",
            Self::SameKey => "same_key",
        }
    }

    /// Whether usage is missing from the messages because of it.
    #[must_use]
    pub fn is_loss(self) -> bool {
        self != Self::NeverStarted
    }
}

/// Why jobs are left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOutWhy {
    /// The reason.
    pub reason: JobMessageLeftOut,
    /// The rule that requires it; empty where there is none.
    pub rule: String,
}

impl LeftOutWhy {
    /// By a rule.
    #[must_use]
    pub fn by_rule(reason: JobMessageLeftOut, rule: impl Into<String>) -> Self {
        let rule = rule.into();
        Self { reason, rule }
    }
}

impl From<JobMessageLeftOut> for LeftOutWhy {
    fn from(reason: JobMessageLeftOut) -> Self {
        Self::by_rule(reason, "")
    }
}

/// Jobs left out.
pub type LeftOutCounts = BTreeMap<LeftOutWhy, i64>;

/// One job that can be sent; times in Unix seconds.
#[derive(Clone, Debug)]
pub struct SendableJob<'a> {
    /// UTC month of its end.
    pub month: Month,
    /// LRMS server or Slurm cluster.
    pub cluster: Option<&'a str>,
    /// CE.
    pub submit_host: Option<&'a str>,
    /// Job id of the batch system; empty when only groups are wanted.
    pub job_id: &'a str,
    /// VO.
    pub vo: Option<&'a str>,
    /// VOMS name as the record states it.
    pub fqan: Option<&'a str>,
    /// VO group.
    pub vo_group: Option<&'a str>,
    /// VO role.
    pub vo_role: Option<&'a str>,
    /// Local user.
    pub user: Option<&'a str>,
    /// Subject.
    pub global_user: Option<&'a str>,
    /// Queue or partition.
    pub queue: Option<&'a str>,
    /// `grid` or `local`.
    pub infrastructure: Option<&'a str>,
    /// The pipeline's source it came from.
    pub source: &'a str,
    /// The dialect it was read from.
    pub format: &'a str,
    /// Start.
    pub start_s: i64,
    /// End.
    pub end_s: i64,
    /// End, Unix milliseconds.
    pub end_ms: i64,
    /// Wall time, not times cores.
    pub wall_s: i64,
    /// What whole seconds leave of it, milliseconds.
    pub wall_fraction_ms: i64,
    /// CPU time, milliseconds; 0 where it is unknown.
    pub cpu_ms: i64,
    /// Its CPU time is unknown.
    pub is_cpu_unknown: bool,
    /// Cores.
    pub core_n: Option<i64>,
    /// Nodes.
    pub node_n: Option<i64>,
    /// Largest resident memory, byte.
    pub max_rss_byte: Option<i64>,
    /// Largest virtual memory, byte.
    pub max_virtual_byte: Option<i64>,
    /// Value per core in thousandths, by [`Benchmark::ALL`].
    pub levels_e3: Levels,
    /// Which of them have more decimals in the lake.
    pub are_levels_rounded: [bool; 3],
}

/// Values per core in thousandths, by [`Benchmark::ALL`].
pub type Levels = [Option<i64>; 3];

/// What is wanted of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobMessageWanted {
    /// Jobs that can be reported one by one.
    Jobs,
    /// The columns that groups of reportable jobs need.
    Groups,
    /// The same of all jobs that started: unknown CPU time adds nothing and is counted, and so is a missing benchmark.
    Everything,
}

/// Columns every message needs.
const COLUMNS: [&str; 20] = [
    "source",
    "format",
    "view",
    "cluster",
    "submit_host",
    "vo",
    "vo_group",
    "vo_role",
    "global_user",
    "infrastructure",
    "record_utc",
    "start_utc",
    "end_utc",
    "wall_s",
    "wall_fraction_ms",
    "cpu_ms",
    "alloc_core_n",
    "alloc_node_n",
    "benchmark",
    "benchmark_per_core",
];

/// Columns only messages of single jobs need.
const JOB_COLUMNS: [&str; 5] = ["job_id", "user", "partition", "max_rss_byte", "max_virtual_byte"];

/// The values by which the lake scales each job, by [`Benchmark::ALL`]; records of before version
/// [`FACTORS_SINCE`] do not have them.
const FACTOR_COLUMNS: [&str; 3] = ["hs06_per_core", "hs23_per_core", "si00_per_core"];

/// The first version of `records` that records the benchmark of each job.
const FACTORS_SINCE: u32 = 2;

/// The column only messages of single jobs need that records of before version [`FQAN_SINCE`] do not have.
const FQAN_COLUMN: &str = "fqan";

/// The first version of `records` that records how the source stated a job's VOMS name.
const FQAN_SINCE: u32 = 9;

/// Calls `see` with the site and every job of the selection that can be sent, and counts the others. Jobs do not count
/// where summaries do. Corrections are applied: what they void is not seen.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read, and what `see` fails with.
pub fn each_job(
    lake: &Lake,
    selection: &Selection,
    wanted: JobMessageWanted,
    left_out: &mut LeftOutCounts,
    mut see: impl FnMut(&str, &SendableJob<'_>) -> Result<()>,
) -> Result<()> {
    let corrections = lake.corrections()?;
    for piece in job_pieces(lake, selection)? {
        each_job_of(lake, &piece, selection, wanted, &corrections, left_out, |job| {
            see(&piece.site, job)
        })?;
    }
    Ok(())
}

/// The pieces of a lake in which batch jobs count.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read.
pub fn job_pieces(lake: &Lake, selection: &Selection) -> Result<Vec<LakePiece>> {
    let displaced = lake.summarised_places()?;
    let mut pieces = lake.record_pieces(selection)?;
    pieces.retain(|piece| !displaced.contains(&(piece.site.to_lowercase(), piece.month)));
    Ok(pieces)
}

/// The jobs of one piece; see [`each_job`].
///
/// # Errors
/// As [`each_job`].
pub fn each_job_of(
    lake: &Lake,
    piece: &LakePiece,
    selection: &Selection,
    wanted: JobMessageWanted,
    corrections: &Corrections,
    left_out: &mut LeftOutCounts,
    mut see: impl FnMut(&SendableJob<'_>) -> Result<()>,
) -> Result<()> {
    let is_by_job = wanted == JobMessageWanted::Jobs;
    let version = lake.manifest.file(&piece.path).map_or(0, |file| file.schema_version);
    let effects = corrections.of_site(&piece.site);
    let mut columns: BTreeSet<&str> = COLUMNS.into_iter().chain(effects.columns()).collect();
    if is_by_job {
        columns.extend(JOB_COLUMNS);
        columns.extend((version >= FQAN_SINCE).then_some(FQAN_COLUMN));
    }
    if version >= FACTORS_SINCE {
        columns.extend(FACTOR_COLUMNS);
    }
    let refused = lake.refused_records(piece)?;
    columns.extend((!refused.are_within_sums()).then_some(ID_COLUMN));
    let columns: Vec<&str> = columns.into_iter().collect();
    for batch in lake.whole_piece_batches(piece, &columns)? {
        let batch = batch?;
        let rows = Rows::new(&batch, is_by_job)?;
        let refused = refused.rows_beyond_sums(&batch)?;
        let looked_at = effects.of_batch(&batch)?;
        for row in 0..batch.num_rows() {
            let Some(job) = rows.job(row, selection, wanted, &effects, &looked_at, left_out) else {
                continue;
            };
            if refused.binary_search(&row).is_ok() {
                *left_out.entry(JobMessageLeftOut::SumLimit.into()).or_default() += 1;
            } else {
                see(&job)?;
            }
        }
    }
    Ok(())
}

macro_rules! rows {
    ($($name:ident: $array:ident = $get:ident,)+; $($job:ident: $job_array:ident = $job_get:ident,)+) => {
        struct Rows<'a> {
            $($name: &'a arrow_array::$array,)+
            $($job: Option<&'a arrow_array::$job_array>,)+
            fqan: Option<&'a arrow_array::StringArray>,
            factors: [Option<&'a arrow_array::Decimal128Array>; 3],
        }

        impl<'a> Rows<'a> {
            fn new(batch: &'a RecordBatch, is_by_job: bool) -> Result<Self> {
                Ok(Self {
                    $($name: $get(batch, stringify!($name))?,)+
                    $($job: is_by_job.then(|| $job_get(batch, stringify!($job))).transpose()?,)+
                    fqan: batch.column_by_name(FQAN_COLUMN).and_then(|column| column.as_string_opt()),
                    factors: FACTOR_COLUMNS.map(|name| batch.column_by_name(name)?.as_primitive_opt()),
                })
            }
        }
    };
}

rows! {
    source: StringArray = text,
    format: StringArray = text,
    view: StringArray = text,
    cluster: StringArray = text,
    submit_host: StringArray = text,
    vo: StringArray = text,
    vo_group: StringArray = text,
    vo_role: StringArray = text,
    global_user: StringArray = text,
    infrastructure: StringArray = text,
    start_utc: TimestampMillisecondArray = time,
    end_utc: TimestampMillisecondArray = time,
    wall_s: Int64Array = int,
    wall_fraction_ms: Int64Array = int,
    cpu_ms: Int64Array = int,
    alloc_core_n: Int64Array = int,
    alloc_node_n: Int64Array = int,
    benchmark: StringArray = text,
    benchmark_per_core: Decimal128Array = decimal,
    ;
    job_id: StringArray = text,
    user: StringArray = text,
    partition: StringArray = text,
    max_rss_byte: Int64Array = int,
    max_virtual_byte: Int64Array = int,
}

/// The benchmarks of one job, by [`Benchmark::ALL`].
struct JobLevels {
    e3: Levels,
    /// Which of them have more decimals in the lake.
    are_rounded: [bool; 3],
}

impl<'a> Rows<'a> {
    fn job(
        &self,
        row: usize,
        selection: &Selection,
        wanted: JobMessageWanted,
        effects: &'a CorrectionEffects<'a>,
        looked_at: &EffectColumns<'a>,
        left_out: &mut LeftOutCounts,
    ) -> Option<SendableJob<'a>> {
        // Without an end it still ran when it was last seen.
        let end_ms = number(self.end_utc, row)?;
        let month = Month::of_ms(end_ms).filter(|_| selection.days.has_ms(end_ms))?;
        if self.view.value(row) != "batch" {
            return None;
        }
        let mut vo = word(self.vo, row);
        if !effects.is_empty() {
            let effect = effects.of(looked_at, row, end_ms);
            if effect.is_void {
                return None;
            }
            vo = effect.vo;
        }
        if !selection.has_vo(vo) {
            return None;
        }
        let mut count = |why: JobMessageLeftOut| *left_out.entry(why.into()).or_default() += 1;
        let Some(start_ms) = number(self.start_utc, row) else {
            count(JobMessageLeftOut::NeverStarted);
            return None;
        };
        let cpu_ms = number(self.cpu_ms, row);
        let levels = self.levels(row);
        let lacks = match (cpu_ms, levels.e3) {
            (None, _) => Some(JobMessageLeftOut::CpuUnknown),
            (_, [None, None, None]) => Some(JobMessageLeftOut::BenchmarkMissing),
            _ => None,
        };
        if let Some(why) = lacks {
            count(why);
            if wanted != JobMessageWanted::Everything {
                return None;
            }
        }
        let optional = |column: Option<&'a arrow_array::StringArray>| column.and_then(|column| word(column, row));
        let amount = |column: Option<&'a arrow_array::Int64Array>| column.and_then(|column| number(column, row));
        Some(SendableJob {
            month,
            cluster: word(self.cluster, row),
            submit_host: word(self.submit_host, row),
            // Fallback: groups of jobs have no ids, which are read for messages of single jobs only.
            job_id: optional(self.job_id).unwrap_or_default(),
            vo,
            fqan: optional(self.fqan),
            vo_group: word(self.vo_group, row),
            vo_role: word(self.vo_role, row),
            user: optional(self.user),
            global_user: word(self.global_user, row),
            queue: optional(self.partition),
            infrastructure: word(self.infrastructure, row),
            source: self.source.value(row),
            format: self.format.value(row),
            start_s: start_ms.div_euclid(1000),
            end_s: end_ms.div_euclid(1000),
            end_ms,
            wall_s: self.wall_s.value(row),
            wall_fraction_ms: self.wall_fraction_ms.value(row),
            // Fallback: APEL's messages have no unknown CPU time, its guide sets 0.
            cpu_ms: cpu_ms.unwrap_or(0),
            is_cpu_unknown: cpu_ms.is_none(),
            core_n: number(self.alloc_core_n, row).filter(|n| *n > 0),
            node_n: number(self.alloc_node_n, row).filter(|n| *n > 0),
            max_rss_byte: amount(self.max_rss_byte),
            max_virtual_byte: amount(self.max_virtual_byte),
            levels_e3: levels.e3,
            are_levels_rounded: levels.are_rounded,
        })
    }

    /// The values by which the lake scales the job, to thousandths as the server stores them; of records of before
    /// version [`FACTORS_SINCE`] what the job states itself. What a pipeline's `order` excludes scales no job.
    fn levels(&self, row: usize) -> JobLevels {
        if self.factors.iter().any(Option::is_some) {
            let e4 = self.factors.map(|column| column.and_then(|column| number(column, row)));
            return JobLevels {
                e3: e4.map(|e4| i64::try_from((e4? + 5).div_euclid(10)).ok()),
                are_rounded: e4.map(|e4| e4.is_some_and(|e4| e4 % 10 != 0)),
            };
        }
        let stated = word(self.benchmark, row).zip(number(self.benchmark_per_core, row));
        let e3 = Benchmark::ALL.map(|kind| {
            let own = stated.filter(|(name, milli)| *name == kind.as_str() && *milli > 0);
            own.and_then(|(_, milli)| i64::try_from(milli).ok())
        });
        JobLevels {
            e3,
            are_rounded: [false; 3],
        }
    }
}
