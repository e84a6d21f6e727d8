//! Job rows.

use std::borrow::Cow;

use super::clock::{self, Clock, Stamp};
use super::column::Role;
use super::cpu::Measured;
use super::job_id::JobId;
use super::memory::{MIB, Per};
use super::refusal::Refusal;
use super::row::Row;
use super::step::Steps;
use super::tres::{self, Alloc};
use crate::ledger::Reason;
use crate::records::{Anomaly, JobRow};
use crate::sources::interest::Part;
use crate::sources::{Position, Sink};

/// What is in `AllocTRES` beside the cores.
const BESIDE_CORES: &[Part] = &[Part::Nodes, Part::Allocation, Part::RequestedMemory];

/// What a job row that was read is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A job that started.
    Started,
    /// A job that has not.
    NotStarted,
}

/// One job, waiting for its steps.
#[derive(Debug, Default)]
pub(super) struct Job<'t> {
    /// The part of its row its names are in, or the first line of it.
    row: &'t [u8],
    /// Where the name stands in the piece.
    pub(super) name: Option<(usize, usize)>,
    /// Bits of [`Anomaly`].
    pub(super) anomalies: u32,
    id: &'t [u8],
    raw_id: &'t [u8],
    cluster: &'t [u8],
    account: &'t [u8],
    user: &'t [u8],
    group: &'t [u8],
    partition: &'t [u8],
    qos: &'t [u8],
    reservation: &'t [u8],
    node_list: &'t [u8],
    state: Option<&'static str>,
    submit_s: Option<i64>,
    eligible_s: Option<i64>,
    start_s: Option<i64>,
    end_s: Option<i64>,
    wall_s: Option<i64>,
    suspended_s: Option<i64>,
    cpu: Measured,
    core_n: Option<i64>,
    node_n: Option<i64>,
    alloc: Option<Alloc>,
    gpus: Vec<(&'t [u8], i64)>,
    requested_memory_byte: Option<i64>,
    max_rss_byte: Option<i64>,
    max_virtual_byte: Option<i64>,
    time_limit_s: Option<i64>,
    exit: Option<(i64, i64)>,
}

impl<'t> Job<'t> {
    /// Reads a job row; what was there before is forgotten.
    pub(super) fn read(&mut self, row: &mut Row<'t, '_>, clock: &mut Clock<'_>) -> Result<Read, Refusal> {
        let (id, raw) = (row.id(Role::JobId)?, row.id(Role::JobIdRaw)?);
        let state = row.state()?;
        if state == Some("PENDING") || [id, raw].iter().flatten().any(|id: &JobId<'_>| id.is_array_rest) {
            return Ok(Read::NotStarted);
        }
        self.gpus.clear();
        *self = Self {
            row: row.heard.names(&row.fields),
            id: id.or(raw).map(|id| id.base).unwrap_or_default(),
            raw_id: raw.map(|raw| raw.base).unwrap_or_default(),
            state,
            gpus: std::mem::take(&mut self.gpus),
            ..Self::default()
        };
        self.times(row, clock)?;
        if self.start_s.is_none() && self.end_s.is_none() {
            return if state.is_none_or(waits) {
                Ok(Read::NotStarted)
            } else {
                Err(Refusal {
                    reason: Reason::TimeUnknown,
                    detail: format!(
                        "Start and End: neither is known of a job that is {}",
                        state.unwrap_or("in no state")
                    ),
                })
            };
        }
        self.amounts(row)?;
        self.names(row);
        self.anomalies = row.anomalies;
        Ok(Read::Started)
    }

    fn times(&mut self, row: &mut Row<'t, '_>, clock: &mut Clock<'_>) -> Result<(), Refusal> {
        let submit = row.time(clock, Role::Submit)?;
        let eligible = row.time(clock, Role::Eligible)?;
        let start = row.time(clock, Role::Start)?;
        let end = row.time(clock, Role::End)?;
        self.suspended_s = row.duration_ms(Role::Suspended)?.map(|ms| ms / 1000);
        self.wall_s = match row.int(Role::ElapsedRaw)? {
            Some(second) => Some(second),
            None => row.duration_ms(Role::Elapsed)?.map(|ms| ms / 1000),
        };
        let suspended_s = self.suspended_s.unwrap_or(0);
        let length_s = self.wall_s.map(|wall_s| wall_s.saturating_add(suspended_s));
        let span = clock::span(start, end, length_s);
        (self.start_s, self.end_s) = (span.start_s, span.end_s);
        let mut is_ambiguous = span.is_ambiguous;
        for (stamp, slot) in [(submit, &mut self.submit_s), (eligible, &mut self.eligible_s)] {
            *slot = stamp.map(|stamp| stamp.earlier_s);
            // The later pass is out of the question when the job had started by then.
            is_ambiguous |= stamp.is_some_and(|stamp: Stamp| {
                stamp.is_double() && span.start_s.is_none_or(|start_s| stamp.later_s <= start_s)
            });
        }
        if is_ambiguous {
            row.note(Anomaly::AmbiguousTime);
        }
        if [submit, eligible, start, end]
            .iter()
            .flatten()
            .any(|stamp| stamp.is_skipped)
        {
            row.note(Anomaly::SkippedTime);
        }
        match (self.start_s, self.end_s, length_s) {
            (None, Some(end_s), Some(length_s)) if row.heard.column(Role::Start).is_none() => {
                self.start_s = Some(end_s.saturating_sub(length_s));
            }
            (Some(start_s), Some(end_s), None) => {
                let second = end_s.saturating_sub(start_s).saturating_sub(suspended_s);
                self.wall_s = (second >= 0).then_some(second);
                if second < 0 {
                    row.note(Anomaly::ValueDropped);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn amounts(&mut self, row: &mut Row<'t, '_>) -> Result<(), Refusal> {
        self.cpu.total_ms = row.total_cpu_ms()?;
        if self.cpu.total_ms.is_none() || row.heard.interest.any(&[Part::CpuParts]) {
            self.cpu.user_ms = row.duration_ms(Role::UserCpu)?;
            self.cpu.system_ms = row.duration_ms(Role::SystemCpu)?;
        }
        let allocated = row.text(Role::AllocTres);
        let mut allocated_cpu_n = None;
        if !allocated.is_empty() {
            let refusal = |entry: &[u8]| {
                let why = format!("has an entry that is none: {}", super::refusal::quoted(entry));
                Refusal::of(Reason::BadNumber, row.layout, Role::AllocTres, allocated, &why)
            };
            if row.heard.interest.any(BESIDE_CORES) {
                let alloc = tres::alloc(allocated, &mut self.gpus).map_err(refusal)?;
                allocated_cpu_n = alloc.cpu;
                self.alloc = Some(alloc);
            } else {
                allocated_cpu_n = tres::cpu_n(allocated).map_err(refusal)?;
            }
        }
        let alloc = self.alloc.unwrap_or_default();
        let cpu_n = row.count(Role::AllocCpus)?;
        // Of a job that never started, NNodes are the nodes it asked for.
        let node_n = match row.count(Role::AllocNodes)? {
            None if self.start_s.is_none() => Some(0),
            None => row.count(Role::NNodes)?,
            some => some,
        };
        self.core_n = allocated_cpu_n.or(cpu_n);
        self.node_n = alloc.node.or(node_n);
        if let Some((byte, per)) = row.size(Role::ReqMem, MIB)? {
            let times = match per {
                Per::Job => Some(1),
                Per::Cpu => row.count(Role::ReqCpus)?.or(self.core_n),
                Per::Node => row.count(Role::ReqNodes)?.or(self.node_n),
            };
            self.requested_memory_byte = times.and_then(|times| byte.checked_mul(times));
            if self.requested_memory_byte.is_none() {
                row.note(Anomaly::ValueDropped);
            }
        }
        if row.heard.interest.any(&[Part::PeakMemory]) {
            self.max_rss_byte = row.size(Role::MaxRss, 1)?.map(|(byte, _)| byte);
            self.max_virtual_byte = row.size(Role::MaxVmSize, 1)?.map(|(byte, _)| byte);
        }
        self.time_limit_s = row.time_limit_s()?;
        self.exit = row.exit()?;
        Ok(())
    }

    fn names(&mut self, row: &Row<'t, '_>) {
        let or = |role: Role, fallback: Role| match row.text(role) {
            b"" => row.text(fallback),
            text => text,
        };
        self.cluster = row.text(Role::Cluster);
        self.account = row.text(Role::Account);
        // A user or group that has left keeps the number, as everywhere in Slurm.
        self.user = or(Role::User, Role::Uid);
        self.group = or(Role::Group, Role::Gid);
        self.partition = row.text(Role::Partition);
        self.qos = row.text(Role::Qos);
        self.reservation = row.text(Role::Reservation);
        self.node_list = match row.text(Role::NodeList) {
            b"None assigned" | b"(null)" | b"(unknown)" => b"",
            text => text,
        };
        self.name = row
            .heard
            .column(Role::JobName)
            .and_then(|column| row.fields.bounds(column));
    }

    /// It ran, so it must have used some CPU time.
    fn ran(&self) -> bool {
        self.start_s.is_some() && self.wall_s != Some(0)
    }

    /// Hands the job over.
    pub(super) fn emit(&self, text: &[u8], at: Position, steps: &Steps, sink: &mut dyn Sink) {
        let mut anomalies = self.anomalies;
        let (cpu_ms, is_from_row) = self.cpu.used_ms(self.ran(), self.end_s.is_some(), steps);
        if cpu_ms.is_none() {
            anomalies |= Anomaly::CpuUnknown.bit();
        }
        let row = RowText::new(self.row);
        let mut decode = |bytes| row.decode(bytes, &mut anomalies);
        let name = self
            .name
            .and_then(|(start, end)| text.get(start..end))
            .unwrap_or_default();
        let (job_id, raw) = (decode(self.id), decode(self.raw_id));
        let (cluster, account) = (decode(self.cluster), decode(self.account));
        let (user, group) = (decode(self.user), decode(self.group));
        let (partition, qos) = (decode(self.partition), decode(self.qos));
        let (reservation, nodes) = (decode(self.reservation), decode(self.node_list));
        let job_name = decode(name);
        let (models, gpus): (Vec<_>, Vec<_>);
        let gpus = if self.gpus.is_empty() {
            &[][..]
        } else {
            models = self.gpus.iter().map(|&(model, n)| (decode(model), n)).collect();
            gpus = models.iter().map(|(model, n)| (model.as_ref(), *n)).collect();
            &gpus
        };
        let ms = |second: Option<i64>| second.and_then(|s| s.checked_mul(1000));
        let row = JobRow {
            view: "batch",
            cluster: some(&cluster),
            job_id: &job_id,
            raw_job_id: some(&raw),
            account: some(&account),
            user: some(&user),
            user_group: some(&group),
            partition: some(&partition),
            qos: some(&qos),
            reservation: some(&reservation),
            job_name: some(&job_name),
            submit_ms: ms(self.submit_s),
            eligible_ms: ms(self.eligible_s),
            start_ms: ms(self.start_s),
            end_ms: ms(self.end_s),
            wall_ms: ms(self.wall_s),
            suspended_s: self.suspended_s,
            cpu_ms,
            cpu_user_ms: self.cpu.user_ms.filter(|_| is_from_row),
            cpu_system_ms: self.cpu.system_ms.filter(|_| is_from_row),
            alloc_core_n: self.core_n,
            alloc_node_n: self.node_n,
            alloc_gpu_n: self.alloc.map(|alloc| alloc.gpu),
            gpus,
            alloc_memory_byte: self.alloc.and_then(|alloc| alloc.memory_byte),
            requested_memory_byte: self.requested_memory_byte,
            max_rss_byte: self.max_rss_byte.max(steps.max_rss_byte),
            max_virtual_byte: self.max_virtual_byte.max(steps.max_virtual_byte),
            // Slurm leaves out a billing that truncates to zero.
            alloc_billing_n: self.alloc.map(|alloc| alloc.billing.unwrap_or(0)),
            time_limit_s: self.time_limit_s,
            node_list: some(&nodes),
            state: self.state,
            exit_code: self.exit.map(|(code, _)| code),
            exit_signal: self.exit.map(|(_, signal)| signal),
            anomalies,
            ..JobRow::default()
        };
        sink.job(&row, at, steps.count);
    }
}

/// States of a job that waits (again) and holds nothing.
pub(super) fn waits(state: &str) -> bool {
    matches!(
        state,
        "CONFIGURING"
            | "REQUEUED"
            | "REQUEUE_FED"
            | "REQUEUE_HOLD"
            | "SPECIAL_EXIT"
            | "RESV_DEL_HOLD"
            | "SUSPENDED"
            | "?"
    )
}

/// A row as text as far as its names go, so that not each of them need be looked at for what is no text.
struct RowText<'t> {
    row: &'t [u8],
    /// `None` when some of it is none.
    text: Option<&'t str>,
}

impl<'t> RowText<'t> {
    fn new(row: &'t [u8]) -> Self {
        let text = std::str::from_utf8(row).ok();
        Self { row, text }
    }

    /// A name of the row, or of what follows it.
    #[inline]
    fn decode(&self, bytes: &'t [u8], anomalies: &mut u32) -> Cow<'t, str> {
        if bytes.is_empty() {
            return Cow::Borrowed("");
        }
        let from = bytes.as_ptr().addr().wrapping_sub(self.row.as_ptr().addr());
        let known = self
            .text
            .and_then(|text| text.get(from..from.checked_add(bytes.len())?));
        known.map_or_else(|| looked_at(bytes, anomalies), Cow::Borrowed)
    }
}

fn looked_at<'a>(bytes: &'a [u8], anomalies: &mut u32) -> Cow<'a, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    *anomalies |= Anomaly::InvalidText.bit();
    String::from_utf8_lossy(bytes)
}

fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
