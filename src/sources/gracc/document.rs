//! The wanted fields of one line.

use crate::sources::json::marks::Marks;
use crate::sources::json::{Malformed, Scalar, Scanner, Text};

macro_rules! keys {
    ($($length:literal { $($name:ident = $text:literal,)+ })+) => {
        /// Fields that are looked at. All others are stepped over.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Key { $($($name,)+)+ }

        impl Key {
            const COUNT: usize = [$($($text),+),+].len();

            /// By length first: most keys of a document are none of these.
            fn of(key: &[u8]) -> Option<Self> {
                match key.len() {
                    $($length => {
                        $(if key == $text.as_bytes() {
                            return Some(Self::$name);
                        })+
                        None
                    })+
                    _ => None,
                }
            }

            /// The name in the record.
            pub(super) fn name(self) -> &'static str {
                match self { $($(Self::$name => $text,)+)+ }
            }
        }
    };
}

keys! {
    2 { Dn = "DN", }
    3 { Id = "_id", }
    4 { Grid = "Grid", Type = "type", Gpus = "GPUs", Host = "Host", }
    5 { Queue = "Queue", Count = "Count", EnvelopeType = "_type", }
    6 { VoName = "VOName", Memory = "Memory", Index = "_index", }
    7 { JobName = "JobName", EndTime = "EndTime", Source = "_source", }
    8 { SiteName = "SiteName", RecordId = "RecordId", }
    9 { ProbeName = "ProbeName", StartTime = "StartTime", QueueTime = "QueueTime", NodeCount = "NodeCount",
        Received = "@received", }
    10 { SubmitHost = "SubmitHost", LocalJobId = "LocalJobId", Processors = "Processors", CommonName = "CommonName", }
    11 { GlobalJobId = "GlobalJobId", ProjectName = "ProjectName", LocalUserId = "LocalUserId",
         CpuDuration = "CpuDuration", MachineName = "MachineName", }
    12 { WallDuration = "WallDuration", ResourceType = "ResourceType", }
    13 { MemoryMetric = "Memory_metric", }
    16 { CpuUser = "CpuDuration_user", HostDescription = "Host_description",
         ReportableVoName = "ReportableVOName", }
    17 { ExitCode = "Resource_ExitCode", }
    18 { CpuSystem = "CpuDuration_system", MemoryUnit = "Memory_storageUnit", MemoryDescription = "Memory_description", }
    19 { ExitSignal = "Resource_ExitSignal", }
    25 { JobStatus = "Resource_condor-JobStatus", }
}

/// One line: either an index hit with its `_source`, or a bare `_source`. Used again for the next line, because clearing
/// it is cheaper than moving it.
pub(super) struct Document<'a> {
    values: [Scalar<'a>; Key::COUNT],
    /// The part of the line that is the record.
    is_object: bool,
    /// Some wanted field is a list or an object.
    is_nested: bool,
    /// Bytes that are not UTF-8 were replaced before it was read.
    is_replaced: bool,
    /// Room for those of the next line.
    marks: Marks,
}

/// What stands beside the record in an index hit.
const ENVELOPE: [Key; 3] = [Key::Id, Key::Index, Key::EnvelopeType];

impl<'a> Document<'a> {
    /// Before the first line.
    pub(super) fn empty() -> Self {
        Self {
            values: [Scalar::Absent; Key::COUNT],
            is_object: true,
            is_nested: false,
            is_replaced: false,
            marks: Marks::default(),
        }
    }

    /// A record whose fields are known already.
    pub(super) fn of(fields: impl Iterator<Item = (&'a str, Scalar<'a>)>, is_replaced: bool) -> Self {
        let mut document = Self {
            is_replaced,
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
        scanner.object(|scanner, key| {
            let key = key_of(key);
            if key == Some(Key::Source) && scanner.peek() == Some(b'{') {
                self.clear();
                has_source = true;
                return scanner.object(|scanner, key| {
                    let value = scanner.scalar()?;
                    if let Some(key) = key_of(key) {
                        self.set(key, value);
                    }
                    Ok(())
                });
            }
            let value = scanner.scalar()?;
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
        self.values.get(key as usize).copied().unwrap_or_default()
    }

    /// Whether some wanted field is a list or an object, as in the layout of May 2016.
    pub(super) fn is_nested(&self) -> bool {
        self.is_nested
    }

    /// Whether bytes that are not UTF-8 were replaced before it was read.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_replaced
    }

    /// Whether the line is an object at all.
    pub(super) fn is_object(&self) -> bool {
        self.is_object
    }
}

fn key_of(key: Text<'_>) -> Option<Key> {
    match key.plain() {
        Some(plain) => Key::of(plain),
        None => Key::of(key.decode().0.as_bytes()),
    }
}
