//! The rules by which APEL's server takes or refuses a message, each with its name.

/// A rule that a message or record can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApelRule {
    /// The first line is a header the server knows.
    Header,
    /// A message has a record.
    Empty,
    /// Every line of a record is `Key: Value`.
    Line,
    /// The keys are those of the kind, letter case included.
    Key,
    /// The mandatory fields are there, and not null.
    Mandatory,
    /// Integers are written as such.
    Integer,
    /// Numbers are written as such.
    Number,
    /// Times are Unix seconds or `YYYY-MM-DDTHH:MM:SSZ`.
    Time,
    /// A job does not end before it starts.
    Order,
    /// A summary names a month from 1 to 12.
    Month,
    /// The ends of a summary are in its month, the earliest before the latest.
    Ends,
    /// Durations are not negative.
    Negative,
    /// Benchmarks are of a known kind, in the form of the version.
    Benchmark,
    /// The database's columns hold the value.
    Database,
    /// No time is in the future.
    Future,
}

impl ApelRule {
    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Empty => "empty",
            Self::Line => "line",
            Self::Key => "key",
            Self::Mandatory => "mandatory",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Time => "time",
            Self::Order => "order",
            Self::Month => "month",
            Self::Ends => "ends",
            Self::Negative => "negative",
            Self::Benchmark => "benchmark",
            Self::Database => "database",
            Self::Future => "future",
        }
    }
}

/// How a field's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApelForm {
    Text,
    Int,
    Time,
    /// A benchmark value, or a dictionary of them.
    Level,
    /// Work: a whole number, or a dictionary of numbers.
    Work,
    /// Taken and thrown away.
    Ignored,
}

/// A key of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldRule {
    pub(super) key: &'static str,
    /// How its value is written.
    pub(super) form: ApelForm,
    pub(super) is_required: bool,
}

const fn required(key: &'static str, form: ApelForm) -> FieldRule {
    FieldRule {
        key,
        form,
        is_required: true,
    }
}

const fn optional(key: &'static str, form: ApelForm) -> FieldRule {
    FieldRule {
        key,
        form,
        is_required: false,
    }
}

pub(super) const JOB: &[FieldRule] = &[
    required("Site", ApelForm::Text),
    optional("SubmitHost", ApelForm::Text),
    optional("MachineName", ApelForm::Text),
    optional("Queue", ApelForm::Text),
    required("LocalJobId", ApelForm::Text),
    optional("LocalUserId", ApelForm::Text),
    optional("GlobalUserName", ApelForm::Text),
    optional("FQAN", ApelForm::Text),
    optional("VO", ApelForm::Text),
    optional("VOGroup", ApelForm::Text),
    optional("VORole", ApelForm::Text),
    required("WallDuration", ApelForm::Int),
    required("CpuDuration", ApelForm::Int),
    optional("Processors", ApelForm::Int),
    optional("NodeCount", ApelForm::Int),
    required("StartTime", ApelForm::Time),
    required("EndTime", ApelForm::Time),
    optional("InfrastructureDescription", ApelForm::Text),
    optional("InfrastructureType", ApelForm::Text),
    optional("MemoryReal", ApelForm::Int),
    optional("MemoryVirtual", ApelForm::Int),
    optional("ServiceLevelType", ApelForm::Text),
    optional("ServiceLevel", ApelForm::Level),
    optional("UpdateTime", ApelForm::Ignored),
    optional("SubmitHostType", ApelForm::Ignored),
];

// Nodes, cores and the benchmark pass the server's parser when they are missing, and fail in its database.
pub(super) const SUMMARY: &[FieldRule] = &[
    required("Site", ApelForm::Text),
    required("Month", ApelForm::Int),
    required("Year", ApelForm::Int),
    optional("GlobalUserName", ApelForm::Text),
    optional("VO", ApelForm::Text),
    optional("VOGroup", ApelForm::Text),
    optional("VORole", ApelForm::Text),
    optional("SubmitHost", ApelForm::Text),
    optional("InfrastructureType", ApelForm::Text),
    optional("InfrastructureDescription", ApelForm::Text),
    optional("ServiceLevelType", ApelForm::Text),
    required("ServiceLevel", ApelForm::Level),
    required("NodeCount", ApelForm::Int),
    required("Processors", ApelForm::Int),
    optional("EarliestEndTime", ApelForm::Time),
    optional("LatestEndTime", ApelForm::Time),
    required("WallDuration", ApelForm::Int),
    required("CpuDuration", ApelForm::Int),
    required("NumberOfJobs", ApelForm::Int),
    optional("UpdateTime", ApelForm::Ignored),
];

pub(super) const NORMALISED: &[FieldRule] = &[
    required("Site", ApelForm::Text),
    required("Month", ApelForm::Int),
    required("Year", ApelForm::Int),
    optional("GlobalUserName", ApelForm::Text),
    optional("VO", ApelForm::Text),
    optional("VOGroup", ApelForm::Text),
    optional("VORole", ApelForm::Text),
    optional("SubmitHost", ApelForm::Text),
    optional("Infrastructure", ApelForm::Text),
    optional("InfrastructureDescription", ApelForm::Text),
    optional("ServiceLevelType", ApelForm::Text),
    required("NodeCount", ApelForm::Int),
    required("Processors", ApelForm::Int),
    optional("EarliestEndTime", ApelForm::Time),
    optional("LatestEndTime", ApelForm::Time),
    required("WallDuration", ApelForm::Int),
    required("CpuDuration", ApelForm::Int),
    required("NormalisedWallDuration", ApelForm::Work),
    required("NormalisedCpuDuration", ApelForm::Work),
    required("NumberOfJobs", ApelForm::Int),
    optional("UpdateTime", ApelForm::Ignored),
];

pub(super) const SYNC: &[FieldRule] = &[
    required("Site", ApelForm::Text),
    optional("SubmitHost", ApelForm::Text),
    required("NumberOfJobs", ApelForm::Int),
    required("Month", ApelForm::Int),
    required("Year", ApelForm::Int),
    optional("UpdateTime", ApelForm::Ignored),
];
