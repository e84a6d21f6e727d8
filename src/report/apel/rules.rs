//! The rules by which APEL's server takes or refuses a message, each with its name.

/// A rule that a message or record can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
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
    /// The ends of a summary lie in its month, the earliest before the latest.
    Ends,
    /// Durations are not negative.
    Negative,
    /// Benchmarks are of a known kind, in the form of the version.
    Benchmark,
    /// The database's columns hold the value.
    Database,
    /// Nothing lies in the future.
    Future,
}

impl Rule {
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
pub(super) enum Form {
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
pub(super) type FieldRule = (&'static str, Form, bool);

pub(super) const JOB: &[FieldRule] = &[
    ("Site", Form::Text, true),
    ("SubmitHost", Form::Text, false),
    ("MachineName", Form::Text, false),
    ("Queue", Form::Text, false),
    ("LocalJobId", Form::Text, true),
    ("LocalUserId", Form::Text, false),
    ("GlobalUserName", Form::Text, false),
    ("FQAN", Form::Text, false),
    ("VO", Form::Text, false),
    ("VOGroup", Form::Text, false),
    ("VORole", Form::Text, false),
    ("WallDuration", Form::Int, true),
    ("CpuDuration", Form::Int, true),
    ("Processors", Form::Int, false),
    ("NodeCount", Form::Int, false),
    ("StartTime", Form::Time, true),
    ("EndTime", Form::Time, true),
    ("InfrastructureDescription", Form::Text, false),
    ("InfrastructureType", Form::Text, false),
    ("MemoryReal", Form::Int, false),
    ("MemoryVirtual", Form::Int, false),
    ("ServiceLevelType", Form::Text, false),
    ("ServiceLevel", Form::Level, false),
    ("UpdateTime", Form::Ignored, false),
    ("SubmitHostType", Form::Ignored, false),
];

// Nodes, cores and the benchmark pass the server's parser when they are missing, and fail in its database.
pub(super) const SUMMARY: &[FieldRule] = &[
    ("Site", Form::Text, true),
    ("Month", Form::Int, true),
    ("Year", Form::Int, true),
    ("GlobalUserName", Form::Text, false),
    ("VO", Form::Text, false),
    ("VOGroup", Form::Text, false),
    ("VORole", Form::Text, false),
    ("SubmitHost", Form::Text, false),
    ("InfrastructureType", Form::Text, false),
    ("InfrastructureDescription", Form::Text, false),
    ("ServiceLevelType", Form::Text, false),
    ("ServiceLevel", Form::Level, true),
    ("NodeCount", Form::Int, true),
    ("Processors", Form::Int, true),
    ("EarliestEndTime", Form::Time, false),
    ("LatestEndTime", Form::Time, false),
    ("WallDuration", Form::Int, true),
    ("CpuDuration", Form::Int, true),
    ("NumberOfJobs", Form::Int, true),
    ("UpdateTime", Form::Ignored, false),
];

pub(super) const NORMALISED: &[FieldRule] = &[
    ("Site", Form::Text, true),
    ("Month", Form::Int, true),
    ("Year", Form::Int, true),
    ("GlobalUserName", Form::Text, false),
    ("VO", Form::Text, false),
    ("VOGroup", Form::Text, false),
    ("VORole", Form::Text, false),
    ("SubmitHost", Form::Text, false),
    ("Infrastructure", Form::Text, false),
    ("InfrastructureDescription", Form::Text, false),
    ("ServiceLevelType", Form::Text, false),
    ("NodeCount", Form::Int, true),
    ("Processors", Form::Int, true),
    ("EarliestEndTime", Form::Time, false),
    ("LatestEndTime", Form::Time, false),
    ("WallDuration", Form::Int, true),
    ("CpuDuration", Form::Int, true),
    ("NormalisedWallDuration", Form::Work, true),
    ("NormalisedCpuDuration", Form::Work, true),
    ("NumberOfJobs", Form::Int, true),
    ("UpdateTime", Form::Ignored, false),
];

pub(super) const SYNC: &[FieldRule] = &[
    ("Site", Form::Text, true),
    ("SubmitHost", Form::Text, false),
    ("NumberOfJobs", Form::Int, true),
    ("Month", Form::Int, true),
    ("Year", Form::Int, true),
    ("UpdateTime", Form::Ignored, false),
];
