//! One individual job record: keys and values to typed fields, by the rules of the APEL 2.5 server.
//!
//! One rule of the server is left out on purpose: it refuses an `EndTime` later than now + 2 days. That depends on
//! the day of the run, and the same input must give the same bytes on any day.

use super::python;
use super::service_level::{self, ServiceLevel};
use crate::ledger::Reason;
use crate::pipeline::plan::Acceptance;
use crate::records::anomaly::Anomaly;
use crate::sources::clip::clip;
use crate::sources::fqan::Fqan;
use crate::sources::lanes::Places;
use crate::sources::refusal::Refusal;

/// Longest `LocalJobId` the server's column holds, in characters.
const JOB_ID_LIMIT: usize = 255;

/// The typed fields of one record.
#[derive(Clone, Debug, Default)]
pub(super) struct Job<'a> {
    pub(super) site: &'a str,
    pub(super) submit_host: Option<&'a str>,
    pub(super) machine_name: Option<&'a str>,
    pub(super) queue: Option<&'a str>,
    pub(super) local_job_id: &'a str,
    pub(super) local_user_id: Option<&'a str>,
    pub(super) global_user_name: Option<&'a str>,
    pub(super) vo: Option<&'a str>,
    pub(super) vo_group: Option<&'a str>,
    pub(super) vo_role: Option<&'a str>,
    pub(super) wall_s: i64,
    pub(super) cpu_s: i64,
    pub(super) core_n: Option<i64>,
    pub(super) node_n: Option<i64>,
    pub(super) start_s: i64,
    pub(super) end_s: i64,
    pub(super) infrastructure: Option<&'a str>,
    pub(super) memory_real_kb: Option<i64>,
    pub(super) memory_virtual_kb: Option<i64>,
    pub(super) service_level: Option<ServiceLevel>,
    pub(super) anomalies: u32,
}

macro_rules! fields {
    ($($name:ident,)+) => {
        /// The keys of an individual job record. Case matters.
        #[derive(Clone, Copy)]
        #[expect(clippy::upper_case_acronyms, reason = "the names are the keys of the format")]
        enum Field { $($name,)+ }

        const FIELD_N: usize = [$(stringify!($name)),+].len();

        impl Field {
            fn of(key: &str) -> Option<Self> {
                match key { $(stringify!($name) => Some(Self::$name),)+ _ => None }
            }

            /// The keys of messages before v0.2, which the server no longer knows.
            fn of_old(key: &str) -> Option<Self> {
                match key {
                    "LocalJobID" => Some(Self::LocalJobId),
                    "LocalUserID" => Some(Self::LocalUserId),
                    "UserFQAN" => Some(Self::FQAN),
                    "ScalingFactorUnit" => Some(Self::ServiceLevelType),
                    "ScalingFactor" => Some(Self::ServiceLevel),
                    _ => None,
                }
            }

            fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }
        }
    };
}

fields! {
    Site, SubmitHost, MachineName, Queue, LocalJobId, LocalUserId, GlobalUserName, FQAN, VO, VOGroup, VORole,
    WallDuration, CpuDuration, Processors, NodeCount, StartTime, EndTime, InfrastructureDescription,
    InfrastructureType, MemoryReal, MemoryVirtual, ServiceLevelType, ServiceLevel, UpdateTime, SubmitHostType,
}

/// The values of one record; null words are already gone, of a repeated key the last holds.
struct Values<'a>([Option<&'a str>; FIELD_N]);

impl<'a> Values<'a> {
    fn read(text: &'a str, acceptance: Acceptance, habits: &mut Habits<'a>) -> Result<Self, Refusal> {
        let mut values = [None; FIELD_N];
        for (nth, line) in lines(text).enumerate() {
            let (field, value) = if let Some(pair) = habits.pair(nth, line) {
                pair
            } else {
                let (key, value) = pair(line)?;
                let old = || Field::of_old(key).filter(|_| acceptance == Acceptance::Salvage);
                let Some(field) = Field::of(key).or_else(old) else {
                    return Err(Refusal::new(
                        Reason::UnknownField,
                        format!("{:?} is no key of an individual job record", clip(key)),
                    ));
                };
                habits.note(nth, field);
                (field, value)
            };
            if let Some(slot) = values.get_mut(field as usize) {
                *slot = (!python::is_null(value)).then_some(value);
            }
        }
        Ok(Self(values))
    }

    fn get(&self, field: Field) -> Option<&'a str> {
        self.0.get(field as usize).copied().flatten()
    }

    fn required(&self, field: Field) -> Result<&'a str, Refusal> {
        self.get(field)
            .ok_or_else(|| Refusal::new(Reason::MissingField, format!("{} is missing", field.name())))
    }

    /// A 32-bit integer, as the parameters of the server's procedures are.
    fn int(&self, field: Field, reason: Reason) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.get(field) else { return Ok(None) };
        match python::int(text).map(|value| (value, i32::try_from(value).is_ok())) {
            Some((value, true)) => Ok(Some(value)),
            Some((_, false)) => Err(Refusal::new(
                reason,
                format!(
                    "{} {:?} does not fit 32 bits, as the server requires",
                    field.name(),
                    clip(text)
                ),
            )),
            None => Err(Refusal::new(
                reason,
                format!("{} {:?} is not an integer", field.name(), clip(text)),
            )),
        }
    }

    fn duration_s(&self, field: Field) -> Result<i64, Refusal> {
        let text = self.required(field)?;
        match self.int(field, Reason::BadDuration)? {
            Some(value) if value >= 0 => Ok(value),
            _ => Err(Refusal::new(
                Reason::BadDuration,
                format!("{} {:?} is negative", field.name(), clip(text)),
            )),
        }
    }

    fn time_s(&self, field: Field) -> Result<i64, Refusal> {
        let text = self.required(field)?;
        python::datetime_s(text).ok_or_else(|| {
            Refusal::new(
                Reason::BadTime,
                format!(
                    "{} {:?} is neither Unix seconds nor YYYY-MM-DDTHH:MM:SSZ",
                    field.name(),
                    clip(text)
                ),
            )
        })
    }
}

/// Key and value of a line, without blanks around them.
pub(super) fn pair(line: &str) -> Result<(&str, &str), Refusal> {
    let parts =
        memchr::memchr(b':', line.as_bytes()).and_then(|colon| Some((line.get(..colon)?, line.get(colon + 1..)?)));
    let Some((key, value)) = parts else {
        let detail = if line.trim().is_empty() {
            "a blank line inside the record".to_owned()
        } else {
            format!("line {:?} has no colon", clip(line.trim()))
        };
        return Err(Refusal::new(Reason::FieldCount, detail));
    };
    Ok((python::strip(key), python::strip(value)))
}

/// Lines ended by LF, CR or both; a last line end starts no further line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut ends = Places::new(text.as_bytes(), [b'\n', b'\r']);
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let Some(end) = ends.next() else {
            start = None;
            return text.get(from..);
        };
        let mut next = end + 1;
        if text.as_bytes().get(end) == Some(&b'\r') && text.as_bytes().get(next) == Some(&b'\n') {
            ends.next();
            next += 1;
        }
        start = (next < text.len()).then_some(next);
        text.get(from..end)
    })
}

/// What records of one message mostly share: it is found once.
#[derive(Default)]
pub(super) struct Habits<'a> {
    /// The keys of the last record, in its order.
    fields: Vec<Field>,
    fqan: Option<(&'a str, Fqan<'a>)>,
    level: Option<(Stated<'a>, ServiceLevel)>,
}

/// `ServiceLevelType` and `ServiceLevel` as they stand in a record.
type Stated<'a> = (Option<&'a str>, Option<&'a str>);

impl<'a> Habits<'a> {
    /// Key and value of line number `nth` of a record, when it has the key it had in the last one.
    #[inline]
    fn pair(&self, nth: usize, line: &'a str) -> Option<(Field, &'a str)> {
        let field = *self.fields.get(nth)?;
        let value = line.strip_prefix(field.name())?.strip_prefix(':')?;
        Some((field, python::strip(value)))
    }

    /// Line number `nth` of a record has this key.
    fn note(&mut self, nth: usize, field: Field) {
        self.fields.truncate(nth);
        self.fields.push(field);
    }

    fn fqan(&mut self, text: &'a str) -> Fqan<'a> {
        match self.fqan {
            Some((known, fqan)) if known == text => fqan,
            _ => self.fqan.insert((text, Fqan::parse(text))).1,
        }
    }

    fn level(&mut self, stated: Stated<'a>, is_v04: bool) -> Result<ServiceLevel, Refusal> {
        if let Some((known, level)) = self.level
            && known == stated
        {
            return Ok(level);
        }
        let (kind, level) = stated;
        let found = if is_v04 {
            service_level::dictionary(kind, level)?
        } else {
            service_level::plain(kind, level)?
        };
        self.level = Some((stated, found));
        Ok(found)
    }
}

impl<'a> Job<'a> {
    /// What holds for every job, however it is written.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.local_job_id.len() > JOB_ID_LIMIT && self.local_job_id.chars().nth(JOB_ID_LIMIT).is_some() {
            return Err(Refusal::new(
                Reason::BadJobId,
                format!(
                    "LocalJobId {:?} is longer than {JOB_ID_LIMIT} characters",
                    clip(self.local_job_id)
                ),
            ));
        }
        if self.end_s < self.start_s {
            return Err(Refusal::new(
                Reason::BadTime,
                format!("EndTime {} is before StartTime {}", self.end_s, self.start_s),
            ));
        }
        Ok(())
    }

    /// Reads the text of one record, without the `%%` and without blanks around it.
    ///
    /// Salvage also reads the keys of v0.1, with the words for benchmarks that went with them; `custom` is a benchmark
    /// nobody knows. `habits` are those of records of the same message.
    pub(super) fn parse(
        text: &'a str,
        is_v04: bool,
        acceptance: Acceptance,
        habits: &mut Habits<'a>,
    ) -> Result<Box<Self>, Refusal> {
        let values = Values::read(text, acceptance, habits)?;
        let mut anomalies = 0;
        let mut count = |field: Field| -> Result<Option<i64>, Refusal> {
            let value = values.int(field, Reason::BadNumber)?;
            if value.is_some_and(|n| n < 0) {
                anomalies |= Anomaly::ValueDropped.bit();
            }
            Ok(value.filter(|&n| n >= 0))
        };
        // Null is stored as 0 by the server, and 0 means unknown.
        let core_n = count(Field::Processors)?.filter(|&n| n > 0);
        let node_n = count(Field::NodeCount)?.filter(|&n| n > 0);
        let (memory_real_kb, memory_virtual_kb) = (count(Field::MemoryReal)?, count(Field::MemoryVirtual)?);
        if core_n.is_none() {
            anomalies |= Anomaly::CoreUnknown.bit();
        }
        let mut job = Box::new(Self {
            site: values.required(Field::Site)?,
            submit_host: values.get(Field::SubmitHost),
            machine_name: values.get(Field::MachineName),
            queue: values.get(Field::Queue),
            local_job_id: values.required(Field::LocalJobId)?,
            local_user_id: values.get(Field::LocalUserId),
            global_user_name: values.get(Field::GlobalUserName),
            vo: values.get(Field::VO),
            vo_group: values.get(Field::VOGroup),
            vo_role: values.get(Field::VORole),
            wall_s: values.duration_s(Field::WallDuration)?,
            cpu_s: values.duration_s(Field::CpuDuration)?,
            core_n,
            node_n,
            start_s: values.time_s(Field::StartTime)?,
            end_s: values.time_s(Field::EndTime)?,
            infrastructure: values.get(Field::InfrastructureType),
            memory_real_kb,
            memory_virtual_kb,
            service_level: None,
            anomalies,
        });
        job.check()?;
        if let Some(fqan) = values.get(Field::FQAN) {
            let fqan = habits.fqan(fqan);
            job.vo = Some(fqan.vo).filter(|vo| !python::is_null(vo));
            job.vo_group = fqan.group;
            job.vo_role = fqan.role;
        }
        let (mut kind, level) = (values.get(Field::ServiceLevelType), values.get(Field::ServiceLevel));
        if acceptance == Acceptance::Salvage {
            kind = match kind {
                Some("HepSpec06") => Some("HEPSPEC"),
                Some("SpecInt2000") => Some("Si2k"),
                Some("custom") => return Ok(job),
                other => other,
            };
        }
        let service_level = habits.level((kind, level), is_v04)?;
        // The server stores a negative level and then fails to summarise; a benchmark below zero cannot be.
        if service_level.milli_per_core < 0 {
            job.anomalies |= Anomaly::ValueDropped.bit();
        } else {
            job.service_level = Some(service_level);
        }
        Ok(job)
    }
}
