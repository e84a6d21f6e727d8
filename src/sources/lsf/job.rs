//! One `JOB_FINISH` event to one job.

use std::borrow::Cow;

use super::event;
use crate::ledger::Reason;
use crate::numbers::{Comparand, Extent, Part};
use crate::record::{Anomaly, JobRow};
use crate::sources::Sink;
use crate::sources::host_slots::HostSlots;
use crate::sources::lines::LogRecord;
use crate::sources::refusal::{Refusal, instant_ms, known, whole};
use crate::sources::truncate::clip;

/// Fields before the list of asked hosts, by 0-based place.
const END: usize = 2;
const JOB_ID: usize = 3;
const CORES: usize = 6;
const SUBMIT: usize = 7;
const START: usize = 10;
const USER: usize = 11;
const QUEUE: usize = 12;
const FROM_HOST: usize = 16;
const ASKED_HOSTS: usize = 22;

/// Fields behind the list of execution hosts, counted from its end.
const JOB_NAME: usize = 2;
const USER_TIME: usize = 4;
const SYSTEM_TIME: usize = 5;
const PROJECT: usize = 24;
const EXIT_STATUS: usize = 25;
const INDEX: usize = 29;
const MAX_MEMORY: usize = 30;
const MAX_SWAP: usize = 31;

struct LsfFields<'a> {
    fields: Vec<Cow<'a, str>>,
    /// Where the list of execution hosts begins and ends.
    hosts: (usize, usize),
}

impl<'a> LsfFields<'a> {
    /// Two lists of variable length, each after its count, shift what follows them.
    fn of(text: &'a str) -> Result<Self, Refusal> {
        let mut fields = Self {
            fields: event::fields(text)?,
            hosts: (0, 0),
        };
        let asked = fields.count("numAskedHosts", ASKED_HOSTS)?;
        let at = ASKED_HOSTS.further(1).further(asked);
        let used = fields.count("numExHosts", at)?;
        let first = at.further(1);
        fields.hosts = (first, first.further(used));
        Ok(fields)
    }

    fn text(&self, name: &str, at: usize) -> Result<&str, Refusal> {
        self.fields.get(at).map(|field| &**field).ok_or_else(|| {
            Refusal::new(
                Reason::FieldCount,
                format!("{} fields: {name} would be field {at}", self.fields.len()),
            )
        })
    }

    /// A field behind the hosts.
    fn late(&self, name: &str, behind: usize) -> Result<&str, Refusal> {
        self.text(name, self.hosts.1.further(behind))
    }

    fn count(&self, name: &str, at: usize) -> Result<usize, Refusal> {
        let text = self.text(name, at)?;
        usize::try_from(whole(name, text)?)
            .map_err(|_| Refusal::new(Reason::BadNumber, format!("{name} {:?} is negative", clip(text))))
    }

    fn time_ms(&self, name: &str, at: usize) -> Result<Option<i64>, Refusal> {
        let ms = instant_ms(name, self.text(name, at)?)?;
        Ok(Some(ms).filter(|ms| *ms != 0))
    }

    /// A number of seconds; -1 means that it was not measured.
    fn seconds_ms(&self, name: &str, behind: usize) -> Result<Option<i64>, Refusal> {
        let text = self.late(name, behind)?;
        match crate::sources::decimal::scaled(text, 3) {
            Some(ms) if ms.value >= 0 => Ok(Some(ms.value)),
            Some(ms) if ms.value == -1000 => Ok(None),
            _ => Err(Refusal::new(
                Reason::BadDuration,
                format!("{name} {:?} is not a duration in seconds", clip(text)),
            )),
        }
    }
}

/// Gives an event its outcome. Times are taken as written: a site's host factors (field `hostFactor`) scale neither.
pub(super) fn take(record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
    let fields = LsfFields::of(&record.text)?;
    let place = |behind: usize| fields.hosts.1.further(behind);
    record.whole(fields.fields.len() > place(MAX_SWAP).further(1))?;
    let number = whole("jobId", fields.text("jobId", JOB_ID)?)?;
    if number <= 0 {
        return Err(Refusal::new(Reason::BadJobId, format!("jobId {number} is none")));
    }
    let end_ms = fields
        .time_ms("eventTime", END)?
        .ok_or_else(|| Refusal::new(Reason::TimeUnknown, "the event has no time"))?;
    let start_ms = fields.time_ms("startTime", START)?;
    let user_ms = fields.seconds_ms("ru_utime", USER_TIME)?;
    let system_ms = fields.seconds_ms("ru_stime", SYSTEM_TIME)?;
    let hosts = fields.fields.part(fields.hosts.0..fields.hosts.1);
    let placed = placed_hosts(hosts)?;
    let node_list = placed.list();
    let asked_core_n = whole("numProcessors", fields.text("numProcessors", CORES)?)?;
    let mut anomalies = record.anomalies();
    if record.text.contains('\n') {
        anomalies |= Anomaly::Reassembled.bit();
    }
    let late = |name: &str, behind: usize| {
        // Fallback: what old versions do not write is unknown.
        let text = fields.late(name, behind).ok()?;
        // Fallback: what they write as -1, or not as a number, is unknown.
        whole(name, text).ok().filter(|n| *n >= 0)
    };
    let index = late("idx", INDEX).filter(|index| *index > 0);
    let job_id = match index {
        Some(index) => format!("{number}[{index}]"),
        None => number.to_string(),
    };
    // 0 is a size that was not taken, not a job of no size.
    let size_kb = |name: &str, behind: usize| late(name, behind).filter(|kb| *kb > 0);
    let memory_byte = |name: &str, behind: usize| size_kb(name, behind).and_then(|kb| kb.checked_mul(1024));
    let status = late("exitStatus", EXIT_STATUS);
    // What wait(2) gives: the exit code above, the signal below.
    let (exit_code, exit_signal) = match status {
        Some(status) if status & 0x7f != 0 => (None, Some(status & 0x7f)),
        Some(status) => (Some(status >> 8 & 0xff), None),
        None => (None, None),
    };
    let row = JobRow {
        view: "batch",
        job_id: &job_id,
        submit_host: known(fields.text("fromHost", FROM_HOST)?),
        // Fallback: old versions write no project at all.
        account: fields.late("projectName", PROJECT).ok().and_then(known),
        user: known(fields.text("userName", USER)?),
        partition: known(fields.text("queue", QUEUE)?),
        // Fallback: old versions write no name of a job.
        job_name: fields.late("jobName", JOB_NAME).ok().and_then(known),
        submit_ms: fields.time_ms("submitTime", SUBMIT)?,
        start_ms,
        end_ms: Some(end_ms),
        wall_ms: Some(start_ms.map_or(0, |start_ms| (end_ms - start_ms).max(0))),
        cpu_ms: user_ms.zip(system_ms).map(|(user, system)| user.sum_to_compare(system)),
        cpu_user_ms: user_ms,
        cpu_system_ms: system_ms,
        alloc_core_n: match placed.slot_n() {
            // Never dispatched: it held nothing, whatever it requested.
            0 => start_ms.map(|_| asked_core_n),
            n => Some(n),
        },
        alloc_node_n: Some(placed.host_n()).filter(|n| *n > 0),
        max_rss_byte: memory_byte("maxRMem", MAX_MEMORY),
        max_virtual_byte: memory_byte("maxRSwap", MAX_SWAP),
        node_list: known(&node_list),
        exit_code,
        exit_signal,
        anomalies,
        ..JobRow::default()
    };
    sink.job(&row, record.at, 0);
    Ok(())
}

/// The list of execution hosts: a host once per slot, or `16*host`.
fn placed_hosts<'a>(hosts: &'a [Cow<'_, str>]) -> Result<HostSlots<'a>, Refusal> {
    let mut placed = HostSlots::default();
    for host in hosts {
        let (n, name) = match host.split_once('*') {
            Some((n, name)) => (whole("the slots of an execution host", n)?, name),
            None => (1, &**host),
        };
        let n = Some(n).filter(|n| (0..=i64::from(u32::MAX)).contains(n));
        n.and_then(|n| placed.add(name, n)).ok_or_else(|| {
            let detail = format!("{:?} is not a number of slots and a host", clip(host));
            Refusal::new(Reason::BadNumber, detail)
        })?;
    }
    Ok(placed)
}
