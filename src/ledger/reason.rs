//! The closed list of reasons a row can have for ending where it ended.

use std::fmt;

/// Where a row of input ended. Every row ends in exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// It is in `records`, or is a step folded into a record that is.
    Accepted,
    /// Another row has exactly the same content for the same job.
    Duplicate,
    /// Another row has more, or later, content for the same job.
    Superseded,
    /// It cannot be believed; `rejects` keeps its raw text.
    Rejected,
    /// It is sound, but not usage this pipeline accounts.
    OutOfScope,
}

impl Outcome {
    /// The word stored in the ledger.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Duplicate => "duplicate",
            Self::Superseded => "superseded",
            Self::Rejected => "rejected",
            Self::OutOfScope => "out_of_scope",
        }
    }

    /// The outcome whose ledger word is `text`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [
            Self::Accepted,
            Self::Duplicate,
            Self::Superseded,
            Self::Rejected,
            Self::OutOfScope,
        ]
        .into_iter()
        .find(|outcome| outcome.as_str() == text)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! reasons {
    ($($outcome:ident { $($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+ })+) => {
        /// Why a row ended where it did. The code is what the ledger and `rejects` store.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($($(#[doc = $doc])+ $name,)+)+
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$($(Self::$name,)+)+];

            /// The code stored in the ledger and in `rejects`.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $($(Self::$name => $code,)+)+ }
            }

            /// The outcome this reason belongs to.
            #[must_use]
            pub fn outcome(self) -> Outcome {
                match self { $($(Self::$name => Outcome::$outcome,)+)+ }
            }

            /// What it means, for people.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $($(Self::$name => concat!($($doc),+).trim_ascii(),)+)+ }
            }
        }
    };
}

reasons! {
    Accepted {
        /// A job record.
        Job = "job",
        /// A step row, folded into its job.
        Step = "step",
        /// A summary, pre-aggregated usage.
        SummaryRecord = "summary_record",
        /// A sync record: a count of jobs, to be compared.
        SyncRecord = "sync_record",
        /// A row of the machine's inventory: a node, event, partition, association, share, setting or waiting job.
        Inventory = "inventory",
    }
    Duplicate {
        /// A job row with the same content as the accepted row.
        SameContent = "same_content",
        /// A step row of a duplicate job row.
        SameContentStep = "same_content_step",
        /// A row of a file whose bytes were already read under another name.
        SameFile = "same_file",
        /// A summary with the same content as its later version.
        SameSummary = "same_summary",
    }
    Superseded {
        /// A job row that a fuller or later row of the same job replaces.
        FullerRecord = "fuller_record",
        /// A step row of a superseded job row.
        FullerRecordStep = "fuller_record_step",
        /// A summary that a later version of the same row replaces.
        LaterSummary = "later_summary",
        /// A summary that the later publication of its month no longer holds (snapshot; APEL's server would keep it).
        StaleSummary = "stale_summary",
        /// A refused row that was mended by hand and read again from a repair file.
        Repaired = "repaired",
    }
    Rejected {
        /// The file cannot be read in the format its source declares; what was read before the damage is kept.
        UnreadableFile = "unreadable_file",
        /// The file is not whole: its last record, or what holds its records, has no end, a row has NUL bytes where text was lost, or
        /// the tool reports that it could not print all.
        Truncated = "truncated",
        /// The fields cannot be distinguished or do not match the header.
        FieldCount = "field_count",
        /// A field that must be there is missing or empty.
        MissingField = "missing_field",
        /// A key the format does not know.
        UnknownField = "unknown_field",
        /// A number that is not valid, or does not fit.
        BadNumber = "bad_number",
        /// A time that is not valid, or not possible.
        BadTime = "bad_time",
        /// A duration that is not valid, or not possible.
        BadDuration = "bad_duration",
        /// A job identifier that is not valid.
        BadJobId = "bad_job_id",
        /// A state word this version does not know.
        UnknownState = "unknown_state",
        /// A step row whose job row is not in the file.
        StepWithoutJob = "step_without_job",
        /// A message whose header, layout or kind is wrong.
        BadMessage = "bad_message",
        /// A sound record in a message that is refused whole, as the APEL server does.
        MessageRefused = "message_refused",
        /// A document that is not well-formed JSON, or nests deeper than any record does.
        BadJson = "bad_json",
        /// A record that is not well-formed XML, or uses what no usage record needs (document types, own entities).
        BadXml = "bad_xml",
        /// A well-formed document that is not a usage record.
        NotARecord = "not_a_record",
        /// A benchmark that is not valid, or not of a known kind.
        BadBenchmark = "bad_benchmark",
        /// The name of a site or VO is longer than a folder name may be (200 bytes once encoded).
        NameTooLong = "name_too_long",
        /// Neither the record nor the pipeline names the site.
        SiteUnknown = "site_unknown",
        /// Neither the record's times nor its end determine when it ran.
        TimeUnknown = "time_unknown",
        /// A list of hosts that is not valid, or expands to more hosts than any cluster has.
        BadHostlist = "bad_hostlist",
        /// A row that contradicts itself, or another one of the same file about the same thing.
        Contradiction = "contradiction",
        /// The record is longer than the limit for one record.
        TooLong = "too_long",
        /// The input goes beyond a limit that keeps bombs out: nesting of XML elements, number of members, unpacked size.
        LimitExceeded = "limit_exceeded",
        /// No benchmark is known for the job and the pipeline is configured to reject it.
        BenchmarkMissing = "benchmark_missing",
        /// A summary without a benchmark, and the pipeline is configured to reject it.
        SummaryBenchmarkMissing = "summary_benchmark_missing",
        /// A job of more usage than the sums of its site and month can take: its records come to more than any site has.
        SumLimit = "sum_limit",
        /// A summary of more usage than the sums of its site and month can take: its summaries come to more than any site
        /// has.
        SummarySumLimit = "summary_sum_limit",
        /// A reservation of more time than the sums of its site and month can take: its reservations come to more than any
        /// site has.
        ReservationSumLimit = "reservation_sum_limit",
        /// A summary of a site, month and view that also have jobs, and the pipeline is configured to reject it.
        OverlapsJobs = "overlaps_jobs",
    }
    OutOfScope {
        /// A job that has not started, or ended without having run: it used nothing. Of Slurm, a job that ended without a start is a
        /// record without wall time, and only where the end is printed for the start, as up to 20.11, it is none.
        NotStarted = "not_started",
        /// A job that did not complete and whose log states no run time: cancelled or failed, most before it ran.
        NoRunTime = "no_run_time",
        /// A message of the tool among the rows, or a header that repeats the one before it; a header that changes the columns is
        /// no row.
        ToolMessage = "tool_message",
        /// A record of another type than job usage.
        OtherRecordType = "other_record_type",
        /// A line of a CE's log: who a job is in the grid, not what it used.
        GridIdentity = "grid_identity",
        /// A line of a CE's log to which no job of the batch system's log answers (yet).
        GridIdentityUnused = "grid_identity_unused",
        /// An aggregated record in XML (AUR), which APEL's server refuses too.
        AggregatedRecord = "aggregated_record",
        /// An OGF usage record (`urf` of 2003), which APEL's server refuses too.
        OgfUsageRecord = "ogf_usage_record",
        /// A record of stored bytes (`StAR`).
        StorageRecord = "storage_record",
        /// A virtual machine, or a summary of them.
        CloudRecord = "cloud_record",
        /// Usage of accelerators by themselves.
        AcceleratorRecord = "accelerator_record",
        /// A line of configuration that is no node, partition, association or setting of fair share by itself.
        Setting = "setting",
        /// A job of a listing of the queue that does not wait: it runs, or has ended.
        NotWaiting = "not_waiting",
        /// A row of a listing of shares about something else: a user, or a quality of service.
        OtherListed = "other_listed",
        /// A line that includes another file, which is read only if the pipeline names it.
        Include = "include",
        /// The record is outside the months requested from this run.
        OutsidePeriod = "outside_period",
        /// A summary of a site, month and view that also have jobs, and the pipeline sets that jobs count.
        JobsCount = "jobs_count",
        /// A job of a site, month and view that also have summaries, and the pipeline sets that summaries count.
        SummariesCount = "summaries_count",
        /// A row of a repair file whose original is not refused, or was mended by another file before.
        RepairUnmatched = "repair_unmatched",
    }
}

/// Under which reasons the rows of a job count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowReasons {
    /// Its own row.
    pub job: Reason,
    /// The rows of its steps.
    pub step: Reason,
}

impl Reason {
    /// The reasons of a job row and of its step rows once the versions of the job are weighed.
    #[must_use]
    pub fn of_rows(outcome: Outcome) -> RowReasons {
        let (job, step) = match outcome {
            Outcome::Accepted | Outcome::Rejected | Outcome::OutOfScope => (Self::Job, Self::Step),
            Outcome::Duplicate => (Self::SameContent, Self::SameContentStep),
            Outcome::Superseded => (Self::FullerRecord, Self::FullerRecordStep),
        };
        RowReasons { job, step }
    }

    /// Whether it is settled when the summaries of a month are, and not when its jobs are.
    #[must_use]
    pub fn is_of_summaries(self) -> bool {
        matches!(
            self,
            Self::SummaryRecord
                | Self::SyncRecord
                | Self::SameSummary
                | Self::LaterSummary
                | Self::StaleSummary
                | Self::SummaryBenchmarkMissing
                | Self::SummarySumLimit
                | Self::OverlapsJobs
                | Self::JobsCount
        )
    }

    /// The reason whose code is `code`.
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.code() == code)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
