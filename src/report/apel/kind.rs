//! Which message is written.

use super::server_key::ServerTable;

/// A kind and version of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
pub enum MessageKind {
    /// Single jobs, with one benchmark.
    #[value(name = "job-v0.3")]
    JobV03,
    /// Single jobs, with a dictionary of benchmarks.
    #[value(name = "job-v0.4")]
    JobV04,
    /// Jobs of a month added up, with one benchmark.
    #[value(name = "summary-v0.2")]
    SummaryV02,
    /// Jobs of a month added up, with a dictionary of benchmarks.
    #[value(name = "summary-v0.4")]
    SummaryV04,
    /// Jobs of a month added up, with work in place of a benchmark.
    #[value(name = "normalised-v0.3")]
    NormalisedV03,
    /// The same with dictionaries of work.
    #[value(name = "normalised-v0.4")]
    NormalisedV04,
    /// Only the number of jobs by submit host, to find out whether all arrived.
    #[value(name = "sync")]
    Sync,
}

impl MessageKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::JobV03,
        Self::JobV04,
        Self::SummaryV02,
        Self::SummaryV04,
        Self::NormalisedV03,
        Self::NormalisedV04,
        Self::Sync,
    ];

    /// The word of the command line, of file names and of the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JobV03 => "job-v0.3",
            Self::JobV04 => "job-v0.4",
            Self::SummaryV02 => "summary-v0.2",
            Self::SummaryV04 => "summary-v0.4",
            Self::NormalisedV03 => "normalised-v0.3",
            Self::NormalisedV04 => "normalised-v0.4",
            Self::Sync => "sync",
        }
    }

    /// The first line of such a message. A normalised summary v0.3 goes by the header of a summary: the version decides.
    #[must_use]
    pub fn header(self) -> &'static str {
        match self {
            Self::JobV03 => "APEL-individual-job-message: v0.3",
            Self::JobV04 => "APEL-individual-job-message: v0.4",
            Self::SummaryV02 => "APEL-summary-job-message: v0.2",
            Self::SummaryV04 => "APEL-summary-job-message: v0.4",
            Self::NormalisedV03 => "APEL-summary-job-message: v0.3",
            Self::NormalisedV04 => "APEL-normalised-summary-message: v0.4",
            Self::Sync => "APEL-sync-message: v0.1",
        }
    }

    /// The kind whose header is `line`, as the server routes it: any version of a job that is not v0.4 takes the rules
    /// of v0.3, and a sync message may have any.
    #[must_use]
    pub fn of_header(line: &str) -> Option<Self> {
        let (name, version) = line.split_once(':')?;
        match (name.trim(), version.trim()) {
            ("APEL-individual-job-message", "v0.4") => Some(Self::JobV04),
            ("APEL-individual-job-message", _) => Some(Self::JobV03),
            ("APEL-sync-message", _) => Some(Self::Sync),
            ("APEL-summary-job-message", "v0.2") => Some(Self::SummaryV02),
            ("APEL-summary-job-message", "v0.3") => Some(Self::NormalisedV03),
            ("APEL-summary-job-message", "v0.4") => Some(Self::SummaryV04),
            ("APEL-normalised-summary-message", "v0.4") => Some(Self::NormalisedV04),
            _ => None,
        }
    }

    /// The table of the server its records are loaded into.
    #[must_use]
    pub fn table(self) -> ServerTable {
        match self {
            Self::JobV03 | Self::JobV04 => ServerTable::JobRecords,
            Self::SummaryV02 | Self::SummaryV04 => ServerTable::Summaries,
            Self::NormalisedV03 | Self::NormalisedV04 => ServerTable::NormalisedSummaries,
            Self::Sync => ServerTable::SyncRecords,
        }
    }

    /// Whether its records are single jobs.
    #[must_use]
    pub fn is_job(self) -> bool {
        matches!(self, Self::JobV03 | Self::JobV04)
    }

    /// Whether it carries work in place of a benchmark.
    #[must_use]
    pub fn is_normalised(self) -> bool {
        matches!(self, Self::NormalisedV03 | Self::NormalisedV04)
    }

    /// Whether benchmarks are a dictionary, so that a record can name several.
    #[must_use]
    pub fn has_dictionary(self) -> bool {
        matches!(self, Self::JobV04 | Self::SummaryV04 | Self::NormalisedV04)
    }
}
