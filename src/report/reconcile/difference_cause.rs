//! Why two accounts differ, and how much each cause makes.

use super::amount::Amount;

macro_rules! causes {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal;)+) => {
        /// Why two accounts of one site, VO and month differ.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Cause { $($(#[doc = $doc])+ $name,)+ }

        impl Cause {
            /// Every cause, in the order of reports.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The word in reports.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }
        }
    };
}

causes! {
    /// One side lacks jobs, or rows, the other has.
    MissingJobs = "missing_jobs";
    /// One side lacks every job of a day.
    MissingDay = "missing_day";
    /// One side lacks every job of an input file.
    MissingPart = "missing_part";
    /// One side has jobs twice, or more often.
    DoubleCounting = "double_counting";
    /// One side has another version of the same jobs, such as one of before their end.
    OtherVersion = "other_version";
    /// One side counts jobs that the other holds in another view of the same hours, such as payloads of pilots.
    OtherView = "other_view";
    /// A signed correction of one side.
    Correction = "correction";
    /// One side counts received summaries in place of jobs.
    SummariesForJobs = "summaries_for_jobs";
    /// The same usage is under another site or VO.
    OtherName = "other_name";
    /// Names are spelled in other letter case.
    CaseOfNames = "case_of_names";
    /// Jobs are on the other side of the edge of a month.
    MonthBoundary = "month_boundary";
    /// One side still has rows that were replaced under another key.
    StaleRows = "stale_rows";
    /// Wall time is times cores on one side.
    WallTimesCores = "wall_times_cores";
    /// Wall times of the same jobs differ otherwise.
    OtherWall = "other_wall";
    /// The number of cores of the same jobs differs.
    OtherCores = "other_cores";
    /// CPU time is multiplied by cores on one side.
    CpuTimesCores = "cpu_times_cores";
    /// CPU time is divided by cores on one side.
    CpuPerCore = "cpu_per_core";
    /// CPU time of one side is its wall time, times cores where there are several.
    CpuFromWall = "cpu_from_wall";
    /// CPU time of one side is user time alone.
    CpuUserOnly = "cpu_user_only";
    /// One side does not know the CPU time.
    CpuUnknown = "cpu_unknown";
    /// CPU times of the same jobs differ otherwise.
    OtherCpu = "other_cpu";
    /// Durations are hours on one side, and seconds on the other.
    HoursOrSeconds = "hours_or_seconds";
    /// Durations are minutes on one side, and seconds on the other.
    MinutesOrSeconds = "minutes_or_seconds";
    /// Durations are milliseconds on one side, and seconds on the other.
    MillisecondsOrSeconds = "milliseconds_or_seconds";
    /// One side knows no factor.
    MissingFactor = "missing_factor";
    /// Times are the same, work is not.
    OtherFactor = "other_factor";
    /// The factor of B is one that both sides had in use at another time.
    StaleFactor = "stale_factor";
    /// Work differs by the 250 between SI00 and HEPSPEC06.
    By250 = "by_250";
    /// One side scales by another benchmark.
    OtherBenchmark = "other_benchmark";
    /// Durations of one side are rounded to whole seconds.
    Rounding = "rounding";
    /// No rule proves why.
    Unexplained = "unexplained";
}

/// A cause, the numbers that prove it, and what it makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseShare {
    /// Cause.
    pub cause: Cause,
    /// Jobs it concerns.
    pub job_n: i128,
    /// By how much B is more than A because of it.
    pub amount: Amount,
    /// A sentence with the numbers.
    pub evidence: String,
}
