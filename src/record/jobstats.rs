//! What Jobstats measured of a job while it ran.

/// What the comment of a job holds of Jobstats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobstatsOutcome {
    /// A summary.
    Summary,
    /// A mark that the job was too short to be sampled.
    TooShort,
    /// A mark that no data of the job was found.
    NoData,
    /// A summary that cannot be read.
    Damaged,
}

impl JobstatsOutcome {
    /// The word stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::TooShort => "too_short",
            Self::NoData => "no_data",
            Self::Damaged => "damaged",
        }
    }
}

/// The summary of a job by Jobstats, added up over its nodes and GPUs. `None` is unknown: a sum is known where every node,
/// or every GPU, states its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jobstats {
    /// What the comment holds; all else is unknown where it is not a summary.
    pub outcome: JobstatsOutcome,
    /// How long the job ran as the summary states it, whole seconds.
    pub span_s: Option<i64>,
    /// Most host memory used on each node, added up, bytes.
    pub memory_used_byte: Option<i64>,
    /// Host memory that the job could use, bytes.
    pub memory_total_byte: Option<i64>,
    /// Time that GPUs whose utilisation is stated were held, milliseconds.
    pub gpu_stated_ms: Option<i64>,
    /// The part of it in which they were busy: utilisation times that time, milliseconds.
    pub gpu_busy_ms: Option<i64>,
    /// Most memory used on each GPU, added up, bytes.
    pub gpu_memory_used_byte: Option<i64>,
    /// Memory of these GPUs, bytes.
    pub gpu_memory_total_byte: Option<i64>,
}

impl Jobstats {
    /// One of which nothing else is known.
    #[must_use]
    pub fn of(outcome: JobstatsOutcome) -> Self {
        Self {
            outcome,
            span_s: None,
            memory_used_byte: None,
            memory_total_byte: None,
            gpu_stated_ms: None,
            gpu_busy_ms: None,
            gpu_memory_used_byte: None,
            gpu_memory_total_byte: None,
        }
    }

    /// The numbers, in the order of the columns of `records`.
    #[must_use]
    pub fn numbers(&self) -> [Option<i64>; 7] {
        [
            self.span_s,
            self.memory_used_byte,
            self.memory_total_byte,
            self.gpu_stated_ms,
            self.gpu_busy_ms,
            self.gpu_memory_used_byte,
            self.gpu_memory_total_byte,
        ]
    }
}
