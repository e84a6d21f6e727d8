//! What `sacct` can print: every column of every release, with the type its text has and the part it plays here.

use super::job_id::JobId;
use super::{duration, memory, scalar, state, tres};
use crate::sources::projection::ColumnPart;

/// The type a column's text must have. It separates fields when a free text contains the delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SacctKind {
    /// A job or step identifier.
    Id,
    /// Decimal digits, perhaps negative, or nothing.
    Int,
    /// A count or a size: decimal, perhaps with a fraction and a unit, or nothing.
    Number,
    /// An instant, or a word that means none.
    Time,
    /// A duration, or nothing.
    Duration,
    /// Measured CPU time as a duration, or allocated CPU time as whole seconds: APEL takes either.
    EitherCpu,
    /// A time limit: duration, minutes or a word.
    Limit,
    /// A state word with what follows it.
    State,
    /// `rc:signal`, or nothing.
    Exit,
    /// `name=value,...`, or nothing.
    Tres,
    /// How a step's tasks were laid out, or nothing (job rows).
    Layout,
    /// One word or nothing: no white space.
    Word,
    /// Anything on one line.
    Line,
    /// Anything: the delimiter and line breaks included.
    Free,
    /// A workload key: the user's own text, but a default key starts with `*`.
    Key,
}

impl SacctKind {
    /// Whether the text may hold delimiters and line breaks.
    pub(super) fn is_free(self) -> bool {
        matches!(self, Self::Free | Self::Key)
    }

    /// Whether a non-empty text of this kind is good evidence of being in the right column.
    pub(super) fn is_strict(self) -> bool {
        !matches!(self, Self::Word | Self::Line | Self::Free | Self::Key)
    }

    /// Whether `text` can be in a column of this kind.
    pub(super) fn accepts(self, text: &[u8]) -> bool {
        match self {
            Self::Free => true,
            Self::Key => text.first() == Some(&b'*') && Self::Line.accepts(text),
            Self::Id => JobId::parse(text).is_some(),
            Self::Int => {
                let digits = text.strip_prefix(b"-").unwrap_or(text);
                digits.iter().all(u8::is_ascii_digit)
            }
            Self::Number => text.is_empty() || memory::parse(text, 1).is_ok(),
            Self::Time => looks_like_time(text),
            Self::Duration => text.is_empty() || text == b"INVALID" || duration::parse_ms(text).is_some(),
            Self::EitherCpu => Self::Duration.accepts(text) || Self::Int.accepts(text),
            Self::Limit => {
                text.is_empty()
                    || duration::is_word(text)
                    || scalar::int(text).is_some()
                    || duration::parse_ms(text).is_some()
            }
            Self::State => text.is_empty() || state::known(state::first_word(text)).is_some(),
            Self::Exit => text.is_empty() || scalar::exit(text).is_some(),
            Self::Tres => text.is_empty() || tres::looks_like(text),
            Self::Layout => text.is_empty() || LAYOUTS.iter().any(|word| text.starts_with(word.as_bytes())),
            Self::Word => !text.iter().any(u8::is_ascii_whitespace),
            Self::Line => !text.contains(&b'\n'),
        }
    }
}

/// The shape of an instant in any of the formats, without looking at its value.
fn looks_like_time(text: &[u8]) -> bool {
    match text {
        b"" | b"Unknown" | b"None" | b"N/A" => true,
        digits if digits.iter().all(u8::is_ascii_digit) => true,
        [y @ .., _] if y.len() >= 18 => {
            text.get(4) == Some(&b'-') && text.get(7) == Some(&b'-') && text.get(13) == Some(&b':')
        }
        _ => false,
    }
}

/// What task layouts begin with.
const LAYOUTS: &[&str] = &["Unknown", "Block", "Cyclic", "CCyclic", "Plane", "Arbitrary"];

macro_rules! roles {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// The columns this reader uses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Role { $($(#[doc = $doc])+ $name,)+ }

        impl Role {
            /// All of them, in the order of their places.
            pub(super) const ALL: &[Self] = &[$(Self::$name,)+];

            /// How many there are.
            pub(super) const COUNT: usize = Self::ALL.len();

            /// Its place in a table of columns.
            pub(super) fn index(self) -> usize {
                self as usize
            }
        }
    };
}

roles! {
    /// `Cluster`
    Cluster,
    /// `JobID`
    JobId,
    /// `JobIDRaw`
    JobIdRaw,
    /// `JobName`
    JobName,
    /// `Partition`
    Partition,
    /// `QOS`
    Qos,
    /// `WCKey`
    Wckey,
    /// `Reservation`
    Reservation,
    /// `Account`
    Account,
    /// `Group`
    Group,
    /// `GID`
    Gid,
    /// `User`
    User,
    /// `UID`
    Uid,
    /// `Submit`
    Submit,
    /// `Eligible`
    Eligible,
    /// `Start`
    Start,
    /// `End`
    End,
    /// `Elapsed`
    Elapsed,
    /// `ElapsedRaw`
    ElapsedRaw,
    /// `Suspended`
    Suspended,
    /// `State`
    State,
    /// `ExitCode`
    ExitCode,
    /// `AllocCPUS`, which `sacct` also prints as `NCPUS`
    AllocCpus,
    /// `ReqCPUS`
    ReqCpus,
    /// `AllocNodes`
    AllocNodes,
    /// `NNodes`
    NNodes,
    /// `ReqNodes`
    ReqNodes,
    /// `AllocTRES`
    AllocTres,
    /// `ReqMem`
    ReqMem,
    /// `ReqTRES`
    ReqTres,
    /// `AdminComment`
    AdminComment,
    /// `ConsumedEnergyRaw`
    ConsumedEnergyRaw,
    /// `ConsumedEnergy`
    ConsumedEnergy,
    /// `SubmitLine`
    SubmitLine,
    /// `Timelimit`
    Timelimit,
    /// `TimelimitRaw`
    TimelimitRaw,
    /// `NodeList`
    NodeList,
    /// `TotalCPU`
    TotalCpu,
    /// `UserCPU`
    UserCpu,
    /// `SystemCPU`
    SystemCpu,
    /// `MaxRSS`
    MaxRss,
    /// `MaxVMSize`
    MaxVmSize,
    /// `TRESUsageInTot`
    TresUsageInTot,
}

impl Role {
    /// The parts of a job it is read for; none when every job needs it.
    pub(super) fn parts(self) -> &'static [ColumnPart] {
        match self {
            Self::JobId
            | Self::JobIdRaw
            | Self::State
            // An allocation that replaced another one begins at its submission.
            | Self::Submit
            | Self::Start
            | Self::End
            | Self::Elapsed
            | Self::ElapsedRaw
            | Self::Suspended => &[],
            Self::Cluster => &[ColumnPart::Cluster],
            Self::Account => &[ColumnPart::Account],
            Self::User | Self::Uid | Self::Group | Self::Gid => &[ColumnPart::User],
            Self::Partition => &[ColumnPart::Partition],
            Self::Qos => &[ColumnPart::Qos],
            Self::Wckey => &[ColumnPart::Wckey],
            Self::Reservation => &[ColumnPart::Reservation],
            Self::JobName => &[ColumnPart::JobName],
            Self::NodeList => &[ColumnPart::NodeList],
            Self::Eligible => &[ColumnPart::Queueing],
            // A missing total is the sum of its parts.
            Self::TotalCpu | Self::UserCpu | Self::SystemCpu | Self::TresUsageInTot => {
                &[ColumnPart::Cpu, ColumnPart::CpuParts]
            }
            Self::AllocTres => &[
                ColumnPart::Cores,
                ColumnPart::Nodes,
                ColumnPart::Allocation,
                ColumnPart::RequestedMemory,
                ColumnPart::Energy,
            ],
            Self::AllocCpus => &[ColumnPart::Cores, ColumnPart::RequestedMemory],
            // Nodes bound the energy of a job.
            Self::AllocNodes | Self::NNodes => &[ColumnPart::Nodes, ColumnPart::RequestedMemory, ColumnPart::Energy],
            Self::ReqMem | Self::ReqNodes => &[ColumnPart::RequestedMemory],
            Self::ReqCpus => &[ColumnPart::RequestedCores, ColumnPart::RequestedMemory],
            Self::ReqTres => &[
                ColumnPart::RequestedCores,
                ColumnPart::RequestedMemory,
                ColumnPart::Allocation,
            ],
            Self::MaxRss | Self::MaxVmSize => &[ColumnPart::PeakMemory],
            Self::AdminComment => &[ColumnPart::Jobstats],
            Self::ConsumedEnergyRaw | Self::ConsumedEnergy => &[ColumnPart::Energy],
            Self::SubmitLine => &[ColumnPart::Submission],
            Self::Timelimit | Self::TimelimitRaw => &[ColumnPart::TimeLimit],
            Self::ExitCode => &[ColumnPart::Exit],
        }
    }

    /// Whether `sacct` writes a text here in every row of a job or a step, if only `Unknown` or a zero.
    pub(super) fn is_always_stated(self) -> bool {
        matches!(
            self,
            Self::Start | Self::End | Self::Elapsed | Self::ElapsedRaw | Self::State
        )
    }

    /// Whether surplus fields of a row must be shared out so that this column has its own text and nothing else: all that is
    /// read but the comment, which few dumps are taken for and whose text shows where it ends, and energy and the line of
    /// submission, which are left unknown in such a row. Rows are put together the same whether anybody reads these.
    pub(super) fn is_separated(self) -> bool {
        !matches!(
            self,
            Self::AdminComment | Self::ConsumedEnergyRaw | Self::ConsumedEnergy | Self::SubmitLine
        )
    }
}

/// The columns a step row is read for.
pub(super) const STEP_ROLES: &[Role] = &[
    Role::JobId,
    Role::JobIdRaw,
    Role::TotalCpu,
    Role::MaxRss,
    Role::MaxVmSize,
    Role::TresUsageInTot,
];

/// Columns by lower-case name. Renamed columns are listed under both names.
const COLUMNS: &[(&str, SacctKind, Option<Role>)] = &[
    ("account", SacctKind::Word, Some(Role::Account)),
    ("admincomment", SacctKind::Free, Some(Role::AdminComment)),
    ("alloccpus", SacctKind::Number, Some(Role::AllocCpus)),
    ("allocgres", SacctKind::Line, None),
    ("allocnodes", SacctKind::Number, Some(Role::AllocNodes)),
    ("alloctres", SacctKind::Tres, Some(Role::AllocTres)),
    ("associd", SacctKind::Int, None),
    ("avecpu", SacctKind::Duration, None),
    ("avecpufreq", SacctKind::Number, None),
    ("avediskread", SacctKind::Number, None),
    ("avediskwrite", SacctKind::Number, None),
    ("avepages", SacctKind::Number, None),
    ("averss", SacctKind::Number, None),
    ("avevmsize", SacctKind::Number, None),
    ("blockid", SacctKind::Line, None),
    ("cluster", SacctKind::Word, Some(Role::Cluster)),
    ("comment", SacctKind::Free, None),
    ("constraints", SacctKind::Free, None),
    ("consumedenergy", SacctKind::Number, Some(Role::ConsumedEnergy)),
    ("consumedenergyraw", SacctKind::Number, Some(Role::ConsumedEnergyRaw)),
    ("container", SacctKind::Free, None),
    ("cputime", SacctKind::Duration, None),
    ("cputimeraw", SacctKind::Int, None),
    ("cputimeraw/totalcpu", SacctKind::EitherCpu, Some(Role::TotalCpu)),
    ("dbindex", SacctKind::Int, None),
    ("derivedexitcode", SacctKind::Exit, None),
    ("elapsed", SacctKind::Duration, Some(Role::Elapsed)),
    ("elapsedraw", SacctKind::Int, Some(Role::ElapsedRaw)),
    ("eligible", SacctKind::Time, Some(Role::Eligible)),
    ("end", SacctKind::Time, Some(Role::End)),
    ("exclusive", SacctKind::Line, None),
    ("exitcode", SacctKind::Exit, Some(Role::ExitCode)),
    ("extra", SacctKind::Free, None),
    ("failednode", SacctKind::Line, None),
    ("flags", SacctKind::Line, None),
    ("gid", SacctKind::Int, Some(Role::Gid)),
    ("group", SacctKind::Line, Some(Role::Group)),
    ("jobid", SacctKind::Id, Some(Role::JobId)),
    ("jobidraw", SacctKind::Id, Some(Role::JobIdRaw)),
    ("jobname", SacctKind::Free, Some(Role::JobName)),
    ("layout", SacctKind::Layout, None),
    ("licenses", SacctKind::Free, None),
    ("maxdiskread", SacctKind::Number, None),
    ("maxdiskreadnode", SacctKind::Line, None),
    ("maxdiskreadtask", SacctKind::Number, None),
    ("maxdiskwrite", SacctKind::Number, None),
    ("maxdiskwritenode", SacctKind::Line, None),
    ("maxdiskwritetask", SacctKind::Number, None),
    ("maxpages", SacctKind::Number, None),
    ("maxpagesnode", SacctKind::Line, None),
    ("maxpagestask", SacctKind::Number, None),
    ("maxrss", SacctKind::Number, Some(Role::MaxRss)),
    ("maxrssnode", SacctKind::Line, None),
    ("maxrsstask", SacctKind::Number, None),
    ("maxvmsize", SacctKind::Number, Some(Role::MaxVmSize)),
    ("maxvmsizenode", SacctKind::Line, None),
    ("maxvmsizetask", SacctKind::Number, None),
    ("mcslabel", SacctKind::Line, None),
    ("mincpu", SacctKind::Duration, None),
    ("mincpunode", SacctKind::Line, None),
    ("mincputask", SacctKind::Number, None),
    ("ncpus", SacctKind::Number, Some(Role::AllocCpus)),
    ("nnodes", SacctKind::Number, Some(Role::NNodes)),
    ("nodelist", SacctKind::Line, Some(Role::NodeList)),
    ("ntasks", SacctKind::Number, None),
    ("originalsluid", SacctKind::Word, None),
    ("oversubscribe", SacctKind::Line, None),
    ("partition", SacctKind::Word, Some(Role::Partition)),
    ("planned", SacctKind::Duration, None),
    ("plannedcpu", SacctKind::Duration, None),
    ("plannedcpuraw", SacctKind::Int, None),
    ("priority", SacctKind::Int, None),
    ("qos", SacctKind::Word, Some(Role::Qos)),
    ("qosraw", SacctKind::Int, None),
    ("qosreq", SacctKind::Word, None),
    ("reason", SacctKind::Line, None),
    ("reqcpufreq", SacctKind::Word, None),
    ("reqcpufreqgov", SacctKind::Word, None),
    ("reqcpufreqmax", SacctKind::Word, None),
    ("reqcpufreqmin", SacctKind::Word, None),
    ("reqcpus", SacctKind::Number, Some(Role::ReqCpus)),
    ("reqgres", SacctKind::Line, None),
    ("reqmem", SacctKind::Number, Some(Role::ReqMem)),
    ("reqnodes", SacctKind::Number, Some(Role::ReqNodes)),
    ("reqreservation", SacctKind::Line, None),
    ("reqtres", SacctKind::Tres, Some(Role::ReqTres)),
    ("reservation", SacctKind::Line, Some(Role::Reservation)),
    ("reservationid", SacctKind::Line, None),
    ("reserved", SacctKind::Duration, None),
    ("restarts", SacctKind::Int, None),
    ("resvcpu", SacctKind::Duration, None),
    ("resvcpuraw", SacctKind::Int, None),
    ("segmentsize", SacctKind::Number, None),
    ("sluid", SacctKind::Word, None),
    ("start", SacctKind::Time, Some(Role::Start)),
    ("state", SacctKind::State, Some(Role::State)),
    ("stderr", SacctKind::Free, None),
    ("stdin", SacctKind::Free, None),
    ("stdout", SacctKind::Free, None),
    ("submit", SacctKind::Time, Some(Role::Submit)),
    ("submitline", SacctKind::Free, Some(Role::SubmitLine)),
    ("suspended", SacctKind::Duration, Some(Role::Suspended)),
    ("systemcomment", SacctKind::Free, None),
    ("systemcpu", SacctKind::Duration, Some(Role::SystemCpu)),
    ("timelimit", SacctKind::Limit, Some(Role::Timelimit)),
    ("timelimitraw", SacctKind::Limit, Some(Role::TimelimitRaw)),
    ("totalcpu", SacctKind::Duration, Some(Role::TotalCpu)),
    ("tresusageinave", SacctKind::Tres, None),
    ("tresusageinmax", SacctKind::Tres, None),
    ("tresusageinmaxnode", SacctKind::Tres, None),
    ("tresusageinmaxtask", SacctKind::Tres, None),
    ("tresusageinmin", SacctKind::Tres, None),
    ("tresusageinminnode", SacctKind::Tres, None),
    ("tresusageinmintask", SacctKind::Tres, None),
    ("tresusageintot", SacctKind::Tres, Some(Role::TresUsageInTot)),
    ("tresusageoutave", SacctKind::Tres, None),
    ("tresusageoutmax", SacctKind::Tres, None),
    ("tresusageoutmaxnode", SacctKind::Tres, None),
    ("tresusageoutmaxtask", SacctKind::Tres, None),
    ("tresusageoutmin", SacctKind::Tres, None),
    ("tresusageoutminnode", SacctKind::Tres, None),
    ("tresusageoutmintask", SacctKind::Tres, None),
    ("tresusageouttot", SacctKind::Tres, None),
    ("uid", SacctKind::Int, Some(Role::Uid)),
    ("user", SacctKind::Word, Some(Role::User)),
    ("usercpu", SacctKind::Duration, Some(Role::UserCpu)),
    ("wckey", SacctKind::Key, Some(Role::Wckey)),
    ("wckeyid", SacctKind::Int, None),
    ("workdir", SacctKind::Free, None),
];

/// Kind and role of the column called `name`, in any letter case; `None` when no release prints such a column.
pub(super) fn lookup(name: &[u8]) -> Option<(SacctKind, Option<Role>)> {
    COLUMNS
        .iter()
        .find(|(known, ..)| known.as_bytes().eq_ignore_ascii_case(name))
        .map(|&(_, kind, role)| (kind, role))
}
