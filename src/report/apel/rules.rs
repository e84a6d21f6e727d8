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

/// A key, how it is written, and whether it must be there.
pub(super) type FieldRule = (&'static str, ApelForm, bool);

pub(super) const JOB: &[FieldRule] = &[
    ("Site", ApelForm::Text, true),
    ("SubmitHost", ApelForm::Text, false),
    ("MachineName", ApelForm::Text, false),
    ("Queue", ApelForm::Text, false),
    ("LocalJobId", ApelForm::Text, true),
    ("LocalUserId", ApelForm::Text, false),
    ("GlobalUserName", ApelForm::Text, false),
    ("FQAN", ApelForm::Text, false),
    ("VO", ApelForm::Text, false),
    ("VOGroup", ApelForm::Text, false),
    ("VORole", ApelForm::Text, false),
    ("WallDuration", ApelForm::Int, true),
    ("CpuDuration", ApelForm::Int, true),
    ("Processors", ApelForm::Int, false),
    ("NodeCount", ApelForm::Int, false),
    ("StartTime", ApelForm::Time, true),
    ("EndTime", ApelForm::Time, true),
    ("InfrastructureDescription", ApelForm::Text, false),
    ("InfrastructureType", ApelForm::Text, false),
    ("MemoryReal", ApelForm::Int, false),
    ("MemoryVirtual", ApelForm::Int, false),
    ("ServiceLevelType", ApelForm::Text, false),
    ("ServiceLevel", ApelForm::Level, false),
    ("UpdateTime", ApelForm::Ignored, false),
    ("SubmitHostType", ApelForm::Ignored, false),
];

// Nodes, cores and the benchmark pass the server's parser when they are missing, and fail in its database.
pub(super) const SUMMARY: &[FieldRule] = &[
    ("Site", ApelForm::Text, true),
    ("Month", ApelForm::Int, true),
    ("Year", ApelForm::Int, true),
    ("GlobalUserName", ApelForm::Text, false),
    ("VO", ApelForm::Text, false),
    ("VOGroup", ApelForm::Text, false),
    ("VORole", ApelForm::Text, false),
    ("SubmitHost", ApelForm::Text, false),
    ("InfrastructureType", ApelForm::Text, false),
    ("InfrastructureDescription", ApelForm::Text, false),
    ("ServiceLevelType", ApelForm::Text, false),
    ("ServiceLevel", ApelForm::Level, true),
    ("NodeCount", ApelForm::Int, true),
    ("Processors", ApelForm::Int, true),
    ("EarliestEndTime", ApelForm::Time, false),
    ("LatestEndTime", ApelForm::Time, false),
    ("WallDuration", ApelForm::Int, true),
    ("CpuDuration", ApelForm::Int, true),
    ("NumberOfJobs", ApelForm::Int, true),
    ("UpdateTime", ApelForm::Ignored, false),
];

pub(super) const NORMALISED: &[FieldRule] = &[
    ("Site", ApelForm::Text, true),
    ("Month", ApelForm::Int, true),
    ("Year", ApelForm::Int, true),
    ("GlobalUserName", ApelForm::Text, false),
    ("VO", ApelForm::Text, false),
    ("VOGroup", ApelForm::Text, false),
    ("VORole", ApelForm::Text, false),
    ("SubmitHost", ApelForm::Text, false),
    ("Infrastructure", ApelForm::Text, false),
    ("InfrastructureDescription", ApelForm::Text, false),
    ("ServiceLevelType", ApelForm::Text, false),
    ("NodeCount", ApelForm::Int, true),
    ("Processors", ApelForm::Int, true),
    ("EarliestEndTime", ApelForm::Time, false),
    ("LatestEndTime", ApelForm::Time, false),
    ("WallDuration", ApelForm::Int, true),
    ("CpuDuration", ApelForm::Int, true),
    ("NormalisedWallDuration", ApelForm::Work, true),
    ("NormalisedCpuDuration", ApelForm::Work, true),
    ("NumberOfJobs", ApelForm::Int, true),
    ("UpdateTime", ApelForm::Ignored, false),
];

pub(super) const SYNC: &[FieldRule] = &[
    ("Site", ApelForm::Text, true),
    ("SubmitHost", ApelForm::Text, false),
    ("NumberOfJobs", ApelForm::Int, true),
    ("Month", ApelForm::Int, true),
    ("Year", ApelForm::Int, true),
    ("UpdateTime", ApelForm::Ignored, false),
];
