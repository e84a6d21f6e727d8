//! The pipeline file with everything looked up and checked: the only thing that can run.

use std::path::PathBuf;
use std::sync::Arc;

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
    /// Recognised per file from its content.
    Auto,
}

impl Format {
    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sacct => "sacct",
            Self::Apel => "apel",
            Self::Gracc => "gracc",
            Self::Auto => "auto",
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

/// How rows may be refused before the run fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RejectLimit {
    /// At most this many.
    Count(u64),
    /// At most this fraction of the rows read; 1.0 means any.
    Fraction(f64),
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
    /// `user_group`
    UserGroup,
    /// `partition`
    Partition,
    /// `qos`
    Qos,
    /// `vo` as the record names it
    Vo,
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
    /// Cluster of records that do not name one.
    pub cluster: Option<String>,
    /// Zone of printed times without an offset; `None` refuses such times.
    pub zone: Option<Zone>,
    /// Delimiter of `sacct` text; `None` finds it from the header.
    pub delimiter: Option<String>,
    /// VO rule.
    pub vo: VoRule,
    /// APEL acceptance.
    pub acceptance: Acceptance,
    /// Own limit of rejected rows.
    pub max_rejected: Option<RejectLimit>,
    /// What of this source decides the bytes of its records: changes here mean reading again.
    pub fingerprint: String,
}

/// How a job is attributed to periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// Split over the periods it ran in.
    Prorated,
    /// All of it in the period of its end, as APEL and GRACC do.
    ByEnd,
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
    /// For jobs the table does not cover.
    pub missing: MissingBenchmark,
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
    /// Limit of rejected rows over all sources.
    pub max_rejected: Option<RejectLimit>,
    /// Sources in file order.
    pub sources: Vec<Arc<SourcePlan>>,
    /// Benchmarks; `None` leaves the work columns null.
    pub normalise: Option<NormalisePlan>,
    /// Signed corrections.
    pub corrections: Option<Arc<crate::reference::correction::CorrectionTable>>,
    /// What becomes of names; `None` keeps them.
    pub privacy: Option<Arc<crate::privacy::Privacy>>,
    /// What of this plan decides the bytes of `usage` besides the records.
    pub fingerprint: String,
}
