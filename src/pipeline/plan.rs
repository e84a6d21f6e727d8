//! The pipeline file with everything looked up and checked: the only thing that can run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::as_of::AsOf;
use crate::sources::inventory;
use crate::time::Zone;

/// The dialect family a source is declared to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Slurm `sacct` text with a header.
    Sacct,
    /// APEL messages.
    Apel,
    /// GRACC index dumps.
    Gracc,
    /// PBS and Torque accounting logs.
    Pbs,
    /// SGE and UGE accounting files.
    Sge,
    /// LSF `lsb.acct` files.
    Lsf,
    /// `HTCondor` job histories.
    Htcondor,
    /// BLAH accounting logs of a CE.
    Blah,
    /// Standard Workload Format.
    Swf,
    /// Recognised per file from its content.
    Auto,
    /// What the batch system says about its own machine: of an `[[inventory]]`, not of a `[[source]]`.
    Inventory(inventory::Kind),
}

impl Format {
    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sacct => "sacct",
            Self::Apel => "apel",
            Self::Gracc => "gracc",
            Self::Pbs => "pbs",
            Self::Sge => "sge",
            Self::Lsf => "lsf",
            Self::Htcondor => "htcondor",
            Self::Blah => "blah",
            Self::Swf => "swf",
            Self::Auto => "auto",
            Self::Inventory(kind) => kind.as_str(),
        }
    }
}

/// What a whole APEL message does when one of its records is bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acceptance {
    /// The message is refused whole, as the APEL server does.
    #[default]
    StrictApel,
    /// Its good records are kept.
    Salvage,
}

/// What only the logs of batch systems need to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogOptions {
    /// BLAH accounting logs that give the jobs of this source their grid identity: paths as in
    /// [`SourcePlan::paths`]. Empty when jobs are taken as the batch system logs them.
    pub blah: Vec<String>,
    /// Unix second at which the times of a workload begin whose header does not say it (SWF).
    pub unix_start_time: Option<i64>,
    /// The start of a job without a wait time is its submit time (SWF).
    pub is_start_submit: bool,
    /// The reference its times arrive scaled to; `None` when they are raw.
    pub scaled_to: Option<ScaledTo>,
}

/// A reference that worker nodes scale times to before they are logged: `$cpumult` and `$wallmult` of Torque, `cputmult`
/// before a history of `HTCondor`, host factors of LSF and SGE. Such time is the raw one times the node's value over the
/// reference's, so scaled time times the reference is the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaledTo {
    /// In which benchmark.
    pub benchmark: crate::reference::benchmark::Benchmark,
    /// Value per core in ten-thousandths.
    pub value_e4_per_core: i64,
    /// CPU times are scaled.
    pub is_cpu: bool,
    /// Wall times are scaled.
    pub is_wall: bool,
    /// Raw times are got back by the values of nodes.
    pub unscale: bool,
}

/// Which version of a summary counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replacement {
    /// The last version of each row, as APEL's server replaces them; rows are never retracted.
    #[default]
    Upsert,
    /// The rows of the last publication of each month.
    Snapshot,
}

/// What a publication is complete for, at each month and kind of summary it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publication {
    /// Everything its source has of that month.
    Source,
    /// Everything its source has of that month at each site it names.
    Site,
}

/// Which input files are one publication: a month may be too large for one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parts {
    /// Each file is one of its own.
    #[default]
    File,
    /// The files of a folder, which took its place when the last of them did.
    Folder,
    /// Files that arrived at most so long after one another, by the arrival in their names; a file whose name tells none
    /// is one of its own.
    Within {
        /// Longest pause, milliseconds.
        pause_ms: i64,
    },
}

/// How a source publishes summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Publishing {
    /// Which version counts.
    pub replacement: Replacement,
    /// What a publication is complete for; `None` when the pipeline does not say.
    pub publication: Option<Publication>,
    /// Of which files one is made.
    pub parts: Parts,
}

/// What counts where a site, month and view have jobs and summaries. They are the same hours, told twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Jobs; the summaries are out of scope.
    Jobs,
    /// Summaries; the jobs are out of scope.
    Summaries,
    /// Jobs; the summaries are rejected.
    Reject,
}

impl Overlap {
    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Jobs => "jobs",
            Self::Summaries => "summaries",
            Self::Reject => "reject",
        }
    }
}

/// How much may be refused before the run fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RejectLimit {
    /// At most this many.
    Count(u64),
    /// At most this fraction of what was read; 1.0 means any.
    Fraction(f64),
}

/// What a source, or the whole pipeline, may refuse; `None` where the pipeline does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RejectLimits {
    /// `max_rejected`: rows that may be refused.
    pub max_rejected: Option<RejectLimit>,
    /// `max_unread`: files of which nothing need be read.
    pub max_unread: Option<RejectLimit>,
}

/// Where a record's VO comes from.
#[derive(Clone, Debug)]
pub enum VoRule {
    /// The record names it.
    Record,
    /// A column of the record, such as `account`.
    Column(VoColumn),
    /// A table, first match wins.
    Table(Arc<crate::reference::vo::VoTable>),
    /// GRACC's corrections and known VOs.
    Corrections(Arc<crate::reference::vo_corrections::VoCorrections>),
    /// Always this one.
    Value(String),
}

/// Columns of a record a VO may be taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoColumn {
    /// `account`
    Account,
    /// `user`
    User,
    /// `global_user`: certificate or token subject
    GlobalUser,
    /// `user_group`
    UserGroup,
    /// `partition`
    Partition,
    /// `qos`
    Qos,
    /// `vo` as the record names it
    Vo,
}

/// Where a pipeline file names a source and its paths, for messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The pipeline file as people named it.
    pub file: String,
    /// Line of the source.
    pub line: usize,
    /// Line of each path.
    pub path_lines: Vec<usize>,
}

impl Written {
    /// `file:line: ` of the path with this place in the list; nothing where no file names it.
    #[must_use]
    pub fn of_path(&self, nth: usize) -> String {
        if self.file.is_empty() {
            return String::new();
        }
        let line = self.path_lines.get(nth).unwrap_or(&self.line);
        format!("{}:{line}: ", self.file)
    }
}

/// One `[[source]]`, resolved.
#[derive(Clone, Debug)]
pub struct SourcePlan {
    /// Its name.
    pub name: String,
    /// Its dialect.
    pub format: Format,
    /// Paths, globs, directories and URLs, made absolute against the pipeline file.
    pub paths: Vec<String>,
    /// Site of every record; `None` takes the record's.
    pub site: Option<String>,
    /// Where the site comes from when the source does not name it.
    pub site_rule: crate::reference::site::SiteRule,
    /// Cluster of records that do not name one.
    pub cluster: Option<String>,
    /// Infrastructure of records that do not state one.
    pub infrastructure: Option<StatedInfrastructure>,
    /// Zone of printed times without an offset; `None` refuses such times.
    pub zone: Option<Zone>,
    /// Delimiter of `sacct` text; `None` finds it from the header.
    pub delimiter: Option<String>,
    /// Fixed order of the columns of sacct text without a header.
    pub layout: Option<crate::sources::sacct::FixedOrder>,
    /// VO rule.
    pub vo: VoRule,
    /// APEL acceptance.
    pub acceptance: Acceptance,
    /// What only the logs of batch systems need to be told.
    pub logs: LogOptions,
    /// Which nodes are of each kind a machine file tells of, as host lists.
    pub nodes_by_kind: BTreeMap<String, String>,
    /// How summaries replace one another.
    pub publishing: Publishing,
    /// Own limits of what may be refused.
    pub limits: RejectLimits,
    /// Where the pipeline file names it.
    pub written: Written,
    /// What of this source decides the bytes of its records: changes here mean reading again.
    pub fingerprint: String,
}

/// Through which infrastructure the jobs of a source came, where their records do not state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedInfrastructure {
    /// `grid`
    Grid,
    /// `local`: submitted at the site
    Local,
}

impl StatedInfrastructure {
    /// Words of the pipeline file, which records get as well: APEL's.
    pub const WORDS: &[(&str, Self)] = &[("grid", Self::Grid), ("local", Self::Local)];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Local => "local",
        }
    }
}

/// How a job is attributed to periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// Split over the periods it ran in.
    Prorated,
    /// All of it in the period of its end, as APEL and GRACC do.
    ByEnd,
}

impl SourcePlan {
    /// The word of `infrastructure`, for records that do not state one.
    #[must_use]
    pub fn stated_infrastructure(&self) -> Option<&'static str> {
        self.infrastructure.map(StatedInfrastructure::as_str)
    }

    /// Whether it tells of the machine instead of the jobs.
    #[must_use]
    pub fn is_inventory(&self) -> bool {
        matches!(self.format, Format::Inventory(_))
    }
}

impl Attribution {
    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prorated => "prorated",
            Self::ByEnd => "by-end",
        }
    }
}

/// Finest period of `usage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Calendar month.
    Month,
    /// Calendar day.
    Day,
}

/// What to do with a job no benchmark is known for.
#[derive(Clone, Debug, PartialEq)]
pub enum MissingBenchmark {
    /// Work stays unknown; counted.
    Null,
    /// The job is rejected with `benchmark_missing`.
    Reject,
    /// This value is used; counted.
    Fallback {
        /// Which benchmark.
        benchmark: crate::reference::benchmark::Benchmark,
        /// Value per core in ten-thousandths.
        value_e4_per_core: i64,
    },
}

/// `[normalise]`, resolved.
#[derive(Clone, Debug)]
pub struct NormalisePlan {
    /// The dated table.
    pub table: Arc<crate::reference::benchmark::BenchmarkTable>,
    /// Where a job's benchmark is looked for, the first step first.
    pub order: Vec<crate::reference::benchmark::Level>,
    /// By source: the reference its times arrive scaled to.
    pub scaled: BTreeMap<String, ScaledTo>,
    /// For jobs the table does not cover.
    pub missing: MissingBenchmark,
}

impl NormalisePlan {
    /// Without a `[normalise]`: work that is stated counts, and what states none is counted.
    #[must_use]
    pub fn stated() -> Self {
        Self {
            table: Arc::default(),
            order: vec![crate::reference::benchmark::Level::Record],
            scaled: BTreeMap::new(),
            missing: MissingBenchmark::Null,
        }
    }

    /// Whether no table is ever looked into: only what records state counts.
    #[must_use]
    pub fn is_of_records_alone(&self) -> bool {
        matches!(self.order.as_slice(), [crate::reference::benchmark::Level::Record])
    }
}

/// A pipeline that can run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// The pipeline file.
    pub file: PathBuf,
    /// Folder or URL of the lake.
    pub output: String,
    /// First month and day of an allocation year.
    pub allocation_year_start: (i8, i8),
    /// Zone in which days, months and allocation years are cut.
    pub calendar_zone: Zone,
    /// Attribution.
    pub attribution: Attribution,
    /// Grain.
    pub grain: Grain,
    /// What counts where jobs and summaries overlap; without it an overlap fails the run.
    pub overlap: Option<Overlap>,
    /// Jobs that two files tell of with other times or another cluster count twice; else they stop the run.
    pub keeps_copies: bool,
    /// Limits of what may be refused over all sources.
    pub limits: RejectLimits,
    /// Sources in file order, then inventories in file order.
    pub sources: Vec<Arc<SourcePlan>>,
    /// By name of an inventory: when its files were true if they do not say.
    pub as_of: BTreeMap<String, AsOf>,
    /// By name of an inventory: whether its listings name all nodes, where the pipeline says.
    pub complete: BTreeMap<String, bool>,
    /// True overhead; `None` leaves its datasets out.
    pub overhead: Option<crate::pipeline::overhead::plan::OverheadPlan>,
    /// Benchmarks: without a `[normalise]` those that records and summaries state.
    pub normalise: NormalisePlan,
    /// What jobs are charged by, ordered by policy, version and options.
    pub tariffs: Vec<Arc<crate::charge::Tariff>>,
    /// Node types, of which installed capacity is made.
    pub capacity: Option<Arc<crate::reference::node_type::NodeTypeTable>>,
    /// Signed corrections.
    pub corrections: Option<Arc<crate::reference::correction::CorrectionTable>>,
    /// What becomes of names; `None` keeps them.
    pub privacy: Option<Arc<crate::privacy::Privacy>>,
    /// What of this plan decides the bytes of `usage` besides the records and the benchmarks.
    pub fingerprint: String,
}
