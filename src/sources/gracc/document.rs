//! The wanted fields of one line.

use crate::numbers::tally;
use crate::short_texts::is_same;
use crate::sources::json::marks::JsonIndex;
use crate::sources::json::{Malformed, Member, Scalar, Scanner};

macro_rules! keys {
    ($($name:ident = $text:literal,)+) => {
        /// Fields that are looked at. All others are stepped over.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Key { $($name,)+ }

        impl Key {
            const COUNT: usize = Self::ALL.len();
            const ALL: &[Self] = &[$(Self::$name,)+];
            const NAMES: &[&str] = &[$($text,)+];
        }
    };
}

keys! {
    Dn = "DN", Id = "_id", Grid = "Grid", Type = "type", Gpus = "GPUs", Host = "Host", Queue = "Queue", Count = "Count",
    EnvelopeType = "_type", VoName = "VOName", Memory = "Memory", Index = "_index", JobName = "JobName",
    EndTime = "EndTime", Source = "_source", SiteName = "SiteName", RecordId = "RecordId", ProbeName = "ProbeName",
    StartTime = "StartTime", QueueTime = "QueueTime", NodeCount = "NodeCount", Received = "@received",
    SubmitHost = "SubmitHost", LocalJobId = "LocalJobId", Processors = "Processors", CommonName = "CommonName",
    GlobalJobId = "GlobalJobId", ProjectName = "ProjectName", LocalUserId = "LocalUserId",
    CpuDuration = "CpuDuration", MachineName = "MachineName", WallDuration = "WallDuration",
    ResourceType = "ResourceType",
    MemoryMetric = "Memory_metric", CpuUser = "CpuDuration_user", HostDescription = "Host_description",
    ReportableVoName = "ReportableVOName", ExitCode = "Resource_ExitCode", CpuSystem = "CpuDuration_system",
    MemoryUnit = "Memory_storageUnit", MemoryDescription = "Memory_description", ExitSignal = "Resource_ExitSignal",
    JobStatus = "Resource_condor-JobStatus", Njobs = "Njobs", RawVoName = "RawVOName", RawProjectName = "RawProjectName",
    NormalFactor = "OIM_WLCGAPELNormalFactor", Network = "Network", NetworkUnit = "Network_storageUnit",
    Status = "Status", Protocol = "Resource_Protocol", IsNew = "Resource_IsNew",
}

/// At most one key for each [`place`]: most keys of a document are not read, and one comparison detects that.
const PLACES: [Option<Key>; 256] = {
    let mut places = [None; 256];
    let mut at = 0;
    while at < Key::COUNT {
        let name = Key::NAMES[at].as_bytes();
        let place = place(name[0], name[name.len() - 1], name.len());
        assert!(places[place].is_none(), "two keys in one place: choose other factors");
        places[place] = Some(Key::ALL[at]);
        at += 1;
    }
    places
};

/// Factors that give every key a place of its own.
const fn place(first: u8, last: u8, len: usize) -> usize {
    (first as usize + 3 * last as usize + 31 * len) % 256
}

impl Key {
    #[inline]
    fn of(key: &[u8]) -> Option<Self> {
        let (first, last) = (*key.first()?, *key.last()?);
        let found = (*PLACES.get(place(first, last, key.len()))?)?;
        is_same(found.name().as_bytes(), key).then_some(found)
    }

    /// The name in the record.
    pub(super) fn name(self) -> &'static str {
        tally(Self::NAMES.get(self as usize).copied())
    }
}

/// One line: either an index hit with its `_source`, or a bare `_source`. Used again for the next line, because clearing
/// it is cheaper than moving it.
pub(super) struct GraccDocument<'a> {
    values: [Scalar<'a>; Key::COUNT],
    /// The part of the line that is the record.
    is_object: bool,
    /// Some wanted field is a list or an object.
    is_nested: bool,
    /// It had bytes that are not UTF-8 before it was made flat.
    is_invalid: bool,
    /// Room for those of the next line.
    marks: JsonIndex,
}

/// The fields of an index hit outside the record.
const ENVELOPE: [Key; 3] = [Key::Id, Key::Index, Key::EnvelopeType];

impl<'a> GraccDocument<'a> {
    /// Before the first line.
    pub(super) fn empty() -> Self {
        Self {
            values: [Scalar::Absent; Key::COUNT],
            is_object: true,
            is_nested: false,
            is_invalid: false,
            marks: JsonIndex::default(),
        }
    }

    /// A record whose fields are known already.
    pub(super) fn of(fields: impl Iterator<Item = (&'a str, Scalar<'a>)>, is_invalid: bool) -> Self {
        let mut document = Self {
            is_invalid,
            ..Self::empty()
        };
        for (key, value) in fields {
            if let Some(key) = Key::of(key.as_bytes()) {
                document.set(key, value);
            }
        }
        document
    }

    /// A record of the fields of a line, all of which must be one JSON value.
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, Malformed> {
        let mut document = Self::empty();
        document.read(line)?;
        Ok(document)
    }

    /// Reads a line in place of the one before.
    pub(super) fn read(&mut self, line: &'a [u8]) -> Result<(), Malformed> {
        let mut scanner = Scanner::with(line, std::mem::take(&mut self.marks));
        let outcome = self.read_from(&mut scanner);
        self.marks = scanner.into_marks();
        outcome
    }

    fn read_from(&mut self, scanner: &mut Scanner<'a>) -> Result<(), Malformed> {
        self.clear();
        self.is_object = scanner.peek() == Some(b'{');
        if !self.is_object {
            scanner.scalar()?;
            return scanner.end();
        }
        let mut envelope = [Scalar::Absent; ENVELOPE.len()];
        let mut has_source = false;
        scanner.members_and_objects(Key::of, |member| {
            let (key, value) = match member {
                Member::Object(Some(Key::Source), scanner) => {
                    self.clear();
                    has_source = true;
                    return scanner.members(Key::of, |key, value| self.set(key, value));
                }
                Member::Object(key, scanner) => (key, scanner.scalar()?),
                Member::Value(key, value) => (Some(key), value),
            };
            let Some(key) = key else { return Ok(()) };
            if let Some(at) = ENVELOPE.iter().position(|own| *own == key)
                && let Some(slot) = envelope.get_mut(at)
            {
                *slot = value;
            }
            if !has_source {
                self.set(key, value);
            }
            Ok(())
        })?;
        scanner.end()?;
        if has_source {
            for (key, value) in ENVELOPE.into_iter().zip(envelope) {
                self.set(key, value);
            }
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.values = [Scalar::Absent; Key::COUNT];
        self.is_nested = false;
    }

    fn set(&mut self, key: Key, value: Scalar<'a>) {
        self.is_nested |= matches!(value, Scalar::Nested);
        if let Some(slot) = self.values.get_mut(key as usize) {
            *slot = value;
        }
    }

    /// The value of a field; of a repeated one the last.
    pub(super) fn get(&self, key: Key) -> Scalar<'a> {
        tally(self.values.get(key as usize).copied())
    }

    /// Whether some wanted field is a list or an object, as in the layout of May 2016.
    pub(super) fn is_nested(&self) -> bool {
        self.is_nested
    }

    /// Whether it had bytes that are not UTF-8 before it was made flat.
    pub(super) fn is_invalid(&self) -> bool {
        self.is_invalid
    }

    /// Whether the line is an object at all.
    pub(super) fn is_object(&self) -> bool {
        self.is_object
    }
}
