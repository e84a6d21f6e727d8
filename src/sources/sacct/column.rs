//! What `sacct` can print: every column of every release, with the type its text has and the part it plays here.

use super::job_id::JobId;
use super::{duration, memory, scalar, state, tres};
use crate::sources::interest::Part;

/// The type a column's text must have. It tells apart fields when a free text holds the delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A job or step identifier.
    Id,
    /// Decimal digits, perhaps negative, or nothing.
    Int,
    /// A count or a size: decimal, perhaps with a fraction and a unit, or nothing.
    Number,
    /// An instant, or a word that stands for none.
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

impl Kind {
    /// Whether the text may hold delimiters and line breaks.
    pub(super) fn is_free(self) -> bool {
        matches!(self, Self::Free | Self::Key)
    }

    /// Whether a non-empty text of this kind is good evidence of being in the right column.
    pub(super) fn is_strict(self) -> bool {
        !matches!(self, Self::Word | Self::Line | Self::Free | Self::Key)
    }

    /// Whether `text` can stand in a column of this kind.
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
    pub(super) fn parts(self) -> &'static [Part] {
        match self {
            Self::JobId
            | Self::JobIdRaw
            | Self::State
            | Self::Start
            | Self::End
            | Self::Elapsed
            | Self::ElapsedRaw
            | Self::Suspended => &[],
            Self::Cluster => &[Part::Cluster],
            Self::Account => &[Part::Account],
            Self::User | Self::Uid | Self::Group | Self::Gid => &[Part::User],
            Self::Partition => &[Part::Partition],
            Self::Qos => &[Part::Qos],
            Self::Wckey => &[Part::Wckey],
            Self::Reservation => &[Part::Reservation],
            Self::JobName => &[Part::JobName],
            Self::NodeList => &[Part::NodeList],
            Self::Submit | Self::Eligible => &[Part::Queueing],
            // Where no total is told, it is the sum of its parts.
            Self::TotalCpu | Self::UserCpu | Self::SystemCpu | Self::TresUsageInTot => &[Part::Cpu, Part::CpuParts],
            Self::AllocTres => &[Part::Cores, Part::Nodes, Part::Allocation, Part::RequestedMemory],
            Self::AllocCpus => &[Part::Cores, Part::RequestedMemory],
            Self::AllocNodes | Self::NNodes => &[Part::Nodes, Part::RequestedMemory],
            Self::ReqMem | Self::ReqNodes => &[Part::RequestedMemory],
            Self::ReqCpus | Self::ReqTres => &[Part::RequestedCores, Part::RequestedMemory],
            Self::MaxRss | Self::MaxVmSize => &[Part::PeakMemory],
            Self::Timelimit | Self::TimelimitRaw => &[Part::TimeLimit],
            Self::ExitCode => &[Part::Exit],
        }
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

/// Columns by lower-case name. Renamed columns stand under both names.
const COLUMNS: &[(&str, Kind, Option<Role>)] = &[
    ("account", Kind::Word, Some(Role::Account)),
    ("admincomment", Kind::Free, None),
    ("alloccpus", Kind::Number, Some(Role::AllocCpus)),
    ("allocgres", Kind::Line, None),
    ("allocnodes", Kind::Number, Some(Role::AllocNodes)),
    ("alloctres", Kind::Tres, Some(Role::AllocTres)),
    ("associd", Kind::Int, None),
    ("avecpu", Kind::Duration, None),
    ("avecpufreq", Kind::Number, None),
    ("avediskread", Kind::Number, None),
    ("avediskwrite", Kind::Number, None),
    ("avepages", Kind::Number, None),
    ("averss", Kind::Number, None),
    ("avevmsize", Kind::Number, None),
    ("blockid", Kind::Line, None),
    ("cluster", Kind::Word, Some(Role::Cluster)),
    ("comment", Kind::Free, None),
    ("constraints", Kind::Free, None),
    ("consumedenergy", Kind::Number, None),
    ("consumedenergyraw", Kind::Number, None),
    ("container", Kind::Free, None),
    ("cputime", Kind::Duration, None),
    ("cputimeraw", Kind::Int, None),
    ("cputimeraw/totalcpu", Kind::EitherCpu, Some(Role::TotalCpu)),
    ("dbindex", Kind::Int, None),
    ("derivedexitcode", Kind::Exit, None),
    ("elapsed", Kind::Duration, Some(Role::Elapsed)),
    ("elapsedraw", Kind::Int, Some(Role::ElapsedRaw)),
    ("eligible", Kind::Time, Some(Role::Eligible)),
    ("end", Kind::Time, Some(Role::End)),
    ("exclusive", Kind::Line, None),
    ("exitcode", Kind::Exit, Some(Role::ExitCode)),
    ("extra", Kind::Free, None),
    ("failednode", Kind::Line, None),
    ("flags", Kind::Line, None),
    ("gid", Kind::Int, Some(Role::Gid)),
    ("group", Kind::Line, Some(Role::Group)),
    ("jobid", Kind::Id, Some(Role::JobId)),
    ("jobidraw", Kind::Id, Some(Role::JobIdRaw)),
    ("jobname", Kind::Free, Some(Role::JobName)),
    ("layout", Kind::Layout, None),
    ("licenses", Kind::Free, None),
    ("maxdiskread", Kind::Number, None),
    ("maxdiskreadnode", Kind::Line, None),
    ("maxdiskreadtask", Kind::Number, None),
    ("maxdiskwrite", Kind::Number, None),
    ("maxdiskwritenode", Kind::Line, None),
    ("maxdiskwritetask", Kind::Number, None),
    ("maxpages", Kind::Number, None),
    ("maxpagesnode", Kind::Line, None),
    ("maxpagestask", Kind::Number, None),
    ("maxrss", Kind::Number, Some(Role::MaxRss)),
    ("maxrssnode", Kind::Line, None),
    ("maxrsstask", Kind::Number, None),
    ("maxvmsize", Kind::Number, Some(Role::MaxVmSize)),
    ("maxvmsizenode", Kind::Line, None),
    ("maxvmsizetask", Kind::Number, None),
    ("mcslabel", Kind::Line, None),
    ("mincpu", Kind::Duration, None),
    ("mincpunode", Kind::Line, None),
    ("mincputask", Kind::Number, None),
    ("ncpus", Kind::Number, Some(Role::AllocCpus)),
    ("nnodes", Kind::Number, Some(Role::NNodes)),
    ("nodelist", Kind::Line, Some(Role::NodeList)),
    ("ntasks", Kind::Number, None),
    ("originalsluid", Kind::Word, None),
    ("oversubscribe", Kind::Line, None),
    ("partition", Kind::Word, Some(Role::Partition)),
    ("planned", Kind::Duration, None),
    ("plannedcpu", Kind::Duration, None),
    ("plannedcpuraw", Kind::Int, None),
    ("priority", Kind::Int, None),
    ("qos", Kind::Word, Some(Role::Qos)),
    ("qosraw", Kind::Int, None),
    ("qosreq", Kind::Word, None),
    ("reason", Kind::Line, None),
    ("reqcpufreq", Kind::Word, None),
    ("reqcpufreqgov", Kind::Word, None),
    ("reqcpufreqmax", Kind::Word, None),
    ("reqcpufreqmin", Kind::Word, None),
    ("reqcpus", Kind::Number, Some(Role::ReqCpus)),
    ("reqgres", Kind::Line, None),
    ("reqmem", Kind::Number, Some(Role::ReqMem)),
    ("reqnodes", Kind::Number, Some(Role::ReqNodes)),
    ("reqreservation", Kind::Line, None),
    ("reqtres", Kind::Tres, Some(Role::ReqTres)),
    ("reservation", Kind::Line, Some(Role::Reservation)),
    ("reservationid", Kind::Line, None),
    ("reserved", Kind::Duration, None),
    ("restarts", Kind::Int, None),
    ("resvcpu", Kind::Duration, None),
    ("resvcpuraw", Kind::Int, None),
    ("segmentsize", Kind::Number, None),
    ("sluid", Kind::Word, None),
    ("start", Kind::Time, Some(Role::Start)),
    ("state", Kind::State, Some(Role::State)),
    ("stderr", Kind::Free, None),
    ("stdin", Kind::Free, None),
    ("stdout", Kind::Free, None),
    ("submit", Kind::Time, Some(Role::Submit)),
    ("submitline", Kind::Free, None),
    ("suspended", Kind::Duration, Some(Role::Suspended)),
    ("systemcomment", Kind::Free, None),
    ("systemcpu", Kind::Duration, Some(Role::SystemCpu)),
    ("timelimit", Kind::Limit, Some(Role::Timelimit)),
    ("timelimitraw", Kind::Limit, Some(Role::TimelimitRaw)),
    ("totalcpu", Kind::Duration, Some(Role::TotalCpu)),
    ("tresusageinave", Kind::Tres, None),
    ("tresusageinmax", Kind::Tres, None),
    ("tresusageinmaxnode", Kind::Tres, None),
    ("tresusageinmaxtask", Kind::Tres, None),
    ("tresusageinmin", Kind::Tres, None),
    ("tresusageinminnode", Kind::Tres, None),
    ("tresusageinmintask", Kind::Tres, None),
    ("tresusageintot", Kind::Tres, Some(Role::TresUsageInTot)),
    ("tresusageoutave", Kind::Tres, None),
    ("tresusageoutmax", Kind::Tres, None),
    ("tresusageoutmaxnode", Kind::Tres, None),
    ("tresusageoutmaxtask", Kind::Tres, None),
    ("tresusageoutmin", Kind::Tres, None),
    ("tresusageoutminnode", Kind::Tres, None),
    ("tresusageoutmintask", Kind::Tres, None),
    ("tresusageouttot", Kind::Tres, None),
    ("uid", Kind::Int, Some(Role::Uid)),
    ("user", Kind::Word, Some(Role::User)),
    ("usercpu", Kind::Duration, Some(Role::UserCpu)),
    ("wckey", Kind::Key, Some(Role::Wckey)),
    ("wckeyid", Kind::Int, None),
    ("workdir", Kind::Free, None),
];

/// Kind and role of the column called `name`, in any letter case; `None` when no release prints such a column.
pub(super) fn lookup(name: &[u8]) -> Option<(Kind, Option<Role>)> {
    COLUMNS
        .iter()
        .find(|(known, ..)| known.as_bytes().eq_ignore_ascii_case(name))
        .map(|&(_, kind, role)| (kind, role))
}
