//! One individual job record: keys and values to typed fields, by the rules of the APEL 2.5 server.
//!
//! One rule of the server is left out on purpose: it refuses an `EndTime` later than now + 2 days. That depends on
//! the day of the run, and the same input must give the same bytes on any day.

use super::acceptance::Acceptance;
use super::python_scalars;
use super::service_level::{self, ServiceLevel};
use super::values::{ApelReader, ApelText, ApelValues, Field};
use crate::ledger::Reason;
use crate::record::UnchangedColumns;
use crate::record::anomaly::Anomaly;
use crate::sources::fqan::Fqan;
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;

/// Longest `LocalJobId` the server's column holds, in characters.
const JOB_ID_LIMIT: usize = 255;

/// The typed fields of one record.
#[derive(Clone, Debug, Default)]
pub(super) struct ApelJob<'a> {
    pub(super) site: &'a str,
    pub(super) submit_host: Option<&'a str>,
    pub(super) machine_name: Option<&'a str>,
    pub(super) queue: Option<&'a str>,
    pub(super) local_job_id: &'a str,
    pub(super) local_user_id: Option<&'a str>,
    pub(super) global_user_name: Option<&'a str>,
    pub(super) fqan: Option<&'a str>,
    pub(super) vo: Option<&'a str>,
    pub(super) vo_group: Option<&'a str>,
    pub(super) vo_role: Option<&'a str>,
    pub(super) wall_s: i64,
    pub(super) cpu_s: i64,
    pub(super) core_n: Option<i64>,
    pub(super) node_n: Option<i64>,
    pub(super) start_s: i64,
    pub(super) end_s: i64,
    /// The decimal digits of [`Self::end_s`], where the record has them.
    pub(super) end_digits: Option<&'a str>,
    pub(super) infrastructure: Option<&'a str>,
    pub(super) memory_real_kb: Option<i64>,
    pub(super) memory_virtual_kb: Option<i64>,
    pub(super) service_level: Option<ServiceLevel>,
    pub(super) anomalies: u32,
    pub(super) repeats: UnchangedColumns,
    /// Bytes of the record.
    pub(super) row_byte_n: Option<usize>,
}

/// What records of one message mostly share: it is found once.
#[derive(Default)]
pub(super) struct RecordCache<'a> {
    reader: ApelReader<'a>,
    meanings: Meanings<'a>,
    repeated: Repeated,
    /// Whether the last record was read to its end.
    is_last_sound: bool,
}

/// What the values of the last record mean.
#[derive(Default)]
struct Meanings<'a> {
    fqan: Option<(&'a str, Fqan<'a>)>,
    level: Option<(StatedLevel<'a>, ServiceLevel)>,
}

/// `ServiceLevelType` and `ServiceLevel` as written in a record.
#[derive(Clone, Copy)]
struct StatedLevel<'a> {
    kind: Option<&'a str>,
    level: Option<&'a str>,
}

impl<'a> Meanings<'a> {
    fn fqan(&mut self, text: &'a str) -> Fqan<'a> {
        match self.fqan {
            Some((known, fqan)) if is_same(known, text) => fqan,
            _ => self.fqan.insert((text, Fqan::parse(text))).1,
        }
    }

    fn level(&mut self, stated: StatedLevel<'a>, is_v04: bool) -> Result<ServiceLevel, Refusal> {
        if let Some((known, level)) = self.level
            && are_same(known.kind, stated.kind)
            && are_same(known.level, stated.level)
        {
            return Ok(level);
        }
        let StatedLevel { kind, level } = stated;
        let found = if is_v04 {
            service_level::dictionary(kind, level)?
        } else {
            service_level::plain(kind, level)?
        };
        self.level = Some((stated, found));
        Ok(found)
    }
}

/// Whether two texts are the same: those of records that follow one another mostly are to the place.
fn is_same(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other) || one == other
}

fn are_same(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => is_same(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// The texts of a job that follow from nothing but fields which did not change.
#[derive(Default)]
struct Repeated {
    /// What was asked last, which mostly is asked again.
    changed: u32,
    texts: UnchangedColumns,
}

impl Repeated {
    fn of(&mut self, changed: u32) -> UnchangedColumns {
        const VO: u32 = Field::FQAN.bit() | Field::VO.bit() | Field::VOGroup.bit() | Field::VORole.bit();
        const LEVEL: u32 = Field::ServiceLevelType.bit() | Field::ServiceLevel.bit();
        const OF: [(u32, UnchangedColumns); 9] = [
            (Field::SubmitHost.bit(), UnchangedColumns::SUBMIT_HOST),
            (Field::MachineName.bit(), UnchangedColumns::CLUSTER),
            (Field::Queue.bit(), UnchangedColumns::PARTITION),
            (Field::LocalUserId.bit(), UnchangedColumns::USER),
            (Field::GlobalUserName.bit(), UnchangedColumns::GLOBAL_USER),
            (Field::FQAN.bit(), UnchangedColumns::FQAN),
            (
                VO,
                UnchangedColumns::VO
                    .and(UnchangedColumns::VO_GROUP)
                    .and(UnchangedColumns::VO_ROLE),
            ),
            (Field::InfrastructureType.bit(), UnchangedColumns::INFRASTRUCTURE),
            (LEVEL, UnchangedColumns::BENCHMARK),
        ];
        // The columns that no record of the kind contains.
        const NEVER: UnchangedColumns = UnchangedColumns::VIEW
            .and(UnchangedColumns::ACCOUNT)
            .and(UnchangedColumns::QOS)
            .and(UnchangedColumns::WCKEY)
            .and(UnchangedColumns::STATE);
        if changed != self.changed {
            let same = OF.iter().map(|(fields, texts)| texts.when(changed & fields == 0));
            self.texts = same.fold(NEVER, UnchangedColumns::and);
            self.changed = changed;
        }
        self.texts
    }
}

impl<'a> ApelJob<'a> {
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

    /// Takes the values of one record; after an error its content is undefined.
    ///
    /// Salvage also reads the keys of v0.1, with the words for benchmarks that went with them; `custom` is a benchmark
    /// of an unknown name. `habits` are those of records of the same message.
    pub(super) fn read(
        &mut self,
        text: ApelText<'a>,
        is_v04: bool,
        acceptance: Acceptance,
        RecordCache {
            reader,
            meanings,
            repeated,
            is_last_sound,
        }: &mut RecordCache<'a>,
    ) -> Result<(), Refusal> {
        // Until it is: a refused record is not sent to the sink, so no later row may repeat its texts.
        let is_after_sound = std::mem::take(is_last_sound);
        let row_byte_n = text.whole.len();
        let values = reader.read(text, acceptance)?;
        self.fill(values, meanings, is_v04, acceptance)?;
        self.row_byte_n = Some(row_byte_n);
        *is_last_sound = true;
        self.repeats = repeated.of(values.changed()).when(is_after_sound);
        Ok(())
    }

    fn fill(
        &mut self,
        values: &ApelValues<'a>,
        meanings: &mut Meanings<'a>,
        is_v04: bool,
        acceptance: Acceptance,
    ) -> Result<(), Refusal> {
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
        let end_s = values.time_s(Field::EndTime);
        // Ten characters that are a number of ten digits are those digits.
        let is_digits = |text: &&str| text.len() == 10 && matches!(end_s, Ok(1_000_000_000..=9_999_999_999));
        let end_digits = values.get(Field::EndTime).filter(is_digits);
        *self = Self {
            site: values.required(Field::Site)?,
            submit_host: values.get(Field::SubmitHost),
            machine_name: values.get(Field::MachineName),
            queue: values.get(Field::Queue),
            local_job_id: values.required(Field::LocalJobId)?,
            local_user_id: values.get(Field::LocalUserId),
            global_user_name: values.get(Field::GlobalUserName),
            fqan: values.get(Field::FQAN),
            vo: values.get(Field::VO),
            vo_group: values.get(Field::VOGroup),
            vo_role: values.get(Field::VORole),
            wall_s: values.duration_s(Field::WallDuration)?,
            cpu_s: values.duration_s(Field::CpuDuration)?,
            core_n,
            node_n,
            start_s: values.time_s(Field::StartTime)?,
            end_s: end_s?,
            end_digits,
            infrastructure: values.get(Field::InfrastructureType),
            memory_real_kb,
            memory_virtual_kb,
            service_level: None,
            anomalies,
            repeats: UnchangedColumns::default(),
            row_byte_n: None,
        };
        self.check()?;
        if let Some(fqan) = self.fqan {
            let fqan = meanings.fqan(fqan);
            self.vo = Some(fqan.vo).filter(|vo| !python_scalars::is_null(vo));
            self.vo_group = fqan.group;
            self.vo_role = fqan.role;
        }
        let (mut kind, level) = (values.get(Field::ServiceLevelType), values.get(Field::ServiceLevel));
        if acceptance == Acceptance::Salvage {
            kind = match kind {
                Some("HepSpec06") => Some("HEPSPEC"),
                Some("SpecInt2000") => Some("Si2k"),
                Some("custom") => return Ok(()),
                other => other,
            };
        }
        let service_level = meanings.level(StatedLevel { kind, level }, is_v04)?;
        // The server stores a negative level and then fails to summarise; a benchmark below zero cannot be.
        if service_level.milli_per_core < 0 {
            self.anomalies |= Anomaly::ValueDropped.bit();
        } else {
            self.service_level = Some(service_level);
        }
        Ok(())
    }
}
