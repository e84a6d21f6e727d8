//! Job rows.

use std::borrow::Cow;

use super::clock::{self, Clock, Stamp};
use super::column::Role;
use super::cpu::CpuMeasured;
use super::energy;
use super::job_id::JobId;
use super::jobstats;
use super::later_allocation::LaterAllocation;
use super::recent_allocs::RecentAllocs;
use super::refusal::Refusal;
use super::requested;
use super::row::SacctRow;
use super::step::Steps;
use super::submit_line::SubmitOptions;
use super::tres::{self, Alloc};
use crate::ledger::Reason;
use crate::numbers::Comparand;
use crate::record::{Anomaly, Energy, EnergyReading, JobDetails, JobRow};
use crate::schema::batch::addend;
use crate::sources::byte_text::text_of;
use crate::sources::projection::ColumnPart;
use crate::sources::{Position, Sink};

/// The content of `AllocTRES` other than cores.
const OTHER_THAN_CORES: &[ColumnPart] = &[
    ColumnPart::Nodes,
    ColumnPart::Allocation,
    ColumnPart::RequestedMemory,
    ColumnPart::Energy,
];

/// What a job row that was read is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A job that started.
    Started,
    /// A job that has not.
    NotStarted,
}

/// One job, waiting for its steps.
///
/// It is filled again for every job row, and all that is read of one is set whether the row has it or not: clearing it
/// would take as long as filling it.
#[derive(Debug)]
pub(super) struct SacctJob<'t> {
    /// The values of its row, except those below.
    reported: JobRow<'t>,
    /// Position of the name in the piece.
    pub(super) name: Option<(usize, usize)>,
    /// Lines behind its row belong to the name.
    pub(super) is_name_longer: bool,
    /// Bits of [`Anomaly`].
    pub(super) anomalies: u32,
    cpu: CpuMeasured,
    /// Energy its allocation states.
    energy: energy::Stated,
    submitted: Option<SubmitOptions>,
    named: tres::NamedTres<'t>,
    allocs: RecentAllocs<'t>,
    mended: Vec<Mended>,
}

impl Default for SacctJob<'_> {
    fn default() -> Self {
        Self {
            reported: JobRow {
                view: "batch",
                ..JobRow::default()
            },
            name: None,
            is_name_longer: false,
            anomalies: 0,
            cpu: CpuMeasured::default(),
            energy: None,
            submitted: None,
            named: tres::NamedTres::default(),
            allocs: RecentAllocs::default(),
            mended: Vec::new(),
        }
    }
}

/// Where a text belongs.
type SacctPlace = for<'a> fn(&mut JobRow<'a>, &'a str);

/// A text that was not UTF-8, with the bytes that are none as escapes, and where it belongs.
#[derive(Debug)]
struct Mended {
    text: String,
    place: SacctPlace,
}

impl<'t> SacctJob<'t> {
    /// Reads a job row; what was there before is forgotten.
    pub(super) fn read(&mut self, row: &mut SacctRow<'t, '_>, clock: &mut Clock<'_>) -> Result<Read, Refusal> {
        let (id, raw) = (row.id(Role::JobId)?, row.id(Role::JobIdRaw)?);
        let state = row.state()?;
        if state == Some("PENDING") {
            return Ok(Read::NotStarted);
        }
        self.reported.state = state;
        self.times(row, clock)?;
        if let Some(rest) = [id, raw].into_iter().flatten().find(|id| id.is_array_rest) {
            let has_time = self.reported.start_ms.is_some() && self.reported.wall_ms.is_some_and(|ms| ms > 0);
            return if has_time && !never_ran(row) {
                Err(array_rest_ran(rest.base))
            } else {
                Ok(Read::NotStarted)
            };
        }
        if self.reported.start_ms.is_none() && self.reported.end_ms.is_none() {
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
        if self.reported.start_ms == self.reported.end_ms && never_ran(row) {
            return Ok(Read::NotStarted);
        }
        self.amounts(row)?;
        let held_ms = jobstats::held_ms(self.reported.wall_ms, self.reported.suspended_s);
        self.reported.jobstats = jobstats::of_row(row, held_ms);
        self.reported.energy = self.energy_of(row, held_ms);
        self.submitted = SubmitOptions::of_row(row);
        self.names(row, [id.or(raw), raw]);
        self.anomalies |= row.anomalies;
        Ok(Read::Started)
    }

    /// The energy of a job that held what it was given for so long (milliseconds).
    #[inline]
    fn energy_of(&self, row: &SacctRow<'_, '_>, held_ms: Option<i64>) -> Option<Energy> {
        if !row.projected.has_energy && self.energy.is_none() {
            return None;
        }
        // What Slurm prints of every job where nothing measures.
        if row.text(Role::ConsumedEnergyRaw) == b"0" {
            return Some(Energy::unknown(EnergyReading::Zero));
        }
        let stated = row.stated_energy(Role::ConsumedEnergyRaw).or(self.energy);
        let stated = stated.or_else(|| row.stated_energy(Role::ConsumedEnergy));
        energy::of_job(stated, self.reported.alloc_node_n, held_ms)
    }

    fn times(&mut self, row: &mut SacctRow<'t, '_>, clock: &mut Clock<'_>) -> Result<(), Refusal> {
        let submit = row.time(clock, Role::Submit)?;
        let submit_s = submit.map(|stamp| stamp.earlier_s);
        let mut eligible = row.time(clock, Role::Eligible)?.map(|stamp| stamp.not_before(submit_s));
        let start = row.time(clock, Role::Start)?;
        let end = row.time(clock, Role::End)?;
        let stated_suspended_s = row.duration_ms(Role::Suspended)?.map(|ms| ms / 1000);
        let mut wall_s = match row.int(Role::ElapsedRaw)? {
            Some(second) => Some(second),
            None => row.duration_ms(Role::Elapsed)?.map(|ms| ms / 1000),
        };
        let suspended_s = addend(stated_suspended_s);
        let length_s = wall_s.map(|wall_s| wall_s.sum_to_compare(suspended_s));
        let span = clock::span(start, end, length_s, submit_s);
        let mut start_s = span.start_s;
        let mut is_ambiguous = span.is_ambiguous;
        for stamp in [submit, eligible].into_iter().flatten() {
            // The later pass is out of the question when the job had started by then.
            is_ambiguous |= stamp.is_double() && start_s.is_none_or(|start_s| stamp.later_s <= start_s);
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
        match (start_s, span.end_s, length_s) {
            (None, Some(end_s), Some(length_s)) if row.projected.column(Role::Start).is_none() => {
                start_s = Some(end_s.difference_to_compare(length_s));
            }
            (Some(start_s), Some(end_s), None) => {
                let second = end_s.difference_to_compare(start_s).difference_to_compare(suspended_s);
                wall_s = (second >= 0).then_some(second);
                if second < 0 {
                    row.note(Anomaly::ValueDropped);
                }
            }
            _ => {}
        }
        if let Some(later) = LaterAllocation::of(submit_s, start_s, span.end_s, wall_s) {
            (start_s, wall_s) = (Some(later.start_s), later.wall_s);
            eligible = submit;
        }
        let ms = |second: Option<i64>| second.and_then(|s| s.checked_mul(1000));
        let earlier_ms = |stamp: Option<Stamp>| ms(stamp.map(|stamp| stamp.earlier_s));
        let reported = &mut self.reported;
        (reported.submit_ms, reported.eligible_ms) = (earlier_ms(submit), earlier_ms(eligible));
        (reported.start_ms, reported.end_ms) = (ms(start_s), ms(span.end_s));
        // What is beyond 63 bits is beyond the limit of a wall time, which refuses it.
        reported.wall_ms = wall_s.map(|second| second.product_to_compare(1000));
        reported.suspended_s = stated_suspended_s;
        Ok(())
    }

    fn amounts(&mut self, row: &mut SacctRow<'t, '_>) -> Result<(), Refusal> {
        self.cpu = CpuMeasured {
            total_ms: row.total_cpu_ms()?,
            ..CpuMeasured::default()
        };
        if self.cpu.total_ms.is_none() || row.projected.interest.any(&[ColumnPart::CpuParts]) {
            self.cpu.user_ms = row.duration_ms(Role::UserCpu)?;
            self.cpu.system_ms = row.duration_ms(Role::SystemCpu)?;
        }
        let allocated = row.text(Role::AllocTres);
        let mut allocated_cpu_n = None;
        let mut alloc: Option<Alloc> = None;
        self.named.clear();
        if allocated.is_empty() {
            self.named.add_requested(row.text(Role::ReqTres));
        } else {
            let refusal = |entry: &[u8]| {
                let why = format!("has an entry that is none: {}", super::refusal::quoted(entry));
                Refusal::of(Reason::BadNumber, row.layout, Role::AllocTres, allocated, &why)
            };
            if row.projected.interest.any(OTHER_THAN_CORES) {
                let found = self.allocs.read(allocated, &mut self.named).map_err(refusal)?;
                allocated_cpu_n = found.cpu;
                alloc = Some(found);
            } else {
                allocated_cpu_n = tres::cpu_n(allocated).map_err(refusal)?;
            }
        }
        if self.named.is_dropped || alloc.is_some_and(Alloc::is_unset) {
            row.note(Anomaly::ValueDropped);
        }
        self.energy = alloc.and_then(|alloc| alloc.energy);
        let reported = &mut self.reported;
        reported.alloc_gpu_n = alloc.and_then(|alloc| alloc.gpu);
        reported.alloc_memory_byte = alloc.and_then(|alloc| alloc.memory_byte);
        // Slurm leaves out a billing that truncates to zero.
        reported.alloc_billing_n = alloc.and_then(|alloc| alloc.billing.known());
        let cpu_n = row.count(Role::AllocCpus)?;
        // Of a job that never started, NNodes are the nodes it requested.
        let node_n = match row.count(Role::AllocNodes)? {
            None if reported.start_ms.is_none() => Some(0),
            None => row.count(Role::NNodes)?,
            some => some,
        };
        reported.alloc_core_n = allocated_cpu_n.or(cpu_n);
        reported.alloc_node_n = alloc.and_then(|alloc| alloc.node).or(node_n);
        reported.requested_core_n = requested::core_n(row, cpu_n);
        reported.requested_memory_byte = requested::memory_byte(row, reported.alloc_core_n, reported.alloc_node_n)?;
        reported.max_rss_byte = row.size(Role::MaxRss, 1)?.map(|(byte, _)| byte);
        reported.max_virtual_byte = row.size(Role::MaxVmSize, 1)?.map(|(byte, _)| byte);
        reported.time_limit_s = row.time_limit_s()?;
        let exit = row.exit()?;
        reported.exit_code = exit.map(|(code, _)| code);
        reported.exit_signal = exit.map(|(_, signal)| signal);
        Ok(())
    }

    fn names(&mut self, row: &SacctRow<'t, '_>, [id, raw_id]: [Option<JobId<'t>>; 2]) {
        self.anomalies = 0;
        self.mended.clear();
        let or = |role: Role, fallback: Role| match row.text(role) {
            b"" => row.text(fallback),
            text => text,
        };
        // Fallback: an identifier that is not there has no text.
        let base = |id: Option<JobId<'t>>| id.map(|id| id.base).unwrap_or_default();
        let text = RowText::new(row.projected.names(&row.fields));
        self.put(&text, base(id), |reported, text| reported.job_id = text);
        self.put(&text, base(raw_id), |reported, text| reported.raw_job_id = some(text));
        self.put(&text, row.text(Role::Cluster), |reported, text| {
            reported.cluster = some(text);
        });
        self.put(&text, row.text(Role::Account), |reported, text| {
            reported.account = some(text);
        });
        // A user or group that has left keeps the number, as everywhere in Slurm.
        let (user, group) = (or(Role::User, Role::Uid), or(Role::Group, Role::Gid));
        self.put(&text, user, |reported, text| reported.user = some(text));
        self.put(&text, group, |reported, text| reported.user_group = some(text));
        let (partition, qos) = (row.text(Role::Partition), row.text(Role::Qos));
        self.put(&text, partition, |reported, text| reported.partition = some(text));
        self.put(&text, qos, |reported, text| reported.qos = some(text));
        // A leading star marks the user's default key, a star alone that there is none.
        let wckey = row.text(Role::Wckey);
        let wckey = wckey.strip_prefix(b"*").unwrap_or(wckey);
        self.put(&text, wckey, |reported, text| reported.wckey = some(text));
        let reservation = row.text(Role::Reservation);
        self.put(&text, reservation, |reported, text| reported.reservation = some(text));
        let nodes = match row.text(Role::NodeList) {
            nodes if is_no_node(nodes) => b"",
            nodes => nodes,
        };
        self.put(&text, nodes, |reported, text| reported.node_list = some(text));
        self.put(&text, row.text(Role::JobName), name_it);
        let column = row.projected.column(Role::JobName);
        self.reported.row_byte_n = Some(row.fields.byte_n());
        self.name = column.and_then(|column| row.fields.bounds(column));
        self.is_name_longer = false;
    }

    /// Puts a name of the row where it belongs.
    #[inline]
    fn put(&mut self, row: &RowText<'t>, bytes: &'t [u8], place: SacctPlace) {
        match row.known(bytes) {
            Some(text) => place(&mut self.reported, text),
            None => self.put_looked_at(bytes, place),
        }
    }

    #[cold]
    fn put_looked_at(&mut self, bytes: &'t [u8], place: SacctPlace) {
        match looked_at(bytes, &mut self.anomalies) {
            Cow::Borrowed(text) => place(&mut self.reported, text),
            Cow::Owned(text) => self.mended.push(Mended { text, place }),
        }
    }

    /// It ran, so it must have used some CPU time.
    fn ran(&self) -> bool {
        self.reported.start_ms.is_some() && self.reported.wall_ms != Some(0)
    }

    /// Hands the job over.
    pub(super) fn emit(&mut self, text: &[u8], at: Position, steps: &Steps, sink: &mut dyn Sink) {
        let (cpu_ms, is_from_row) = self.cpu.used_ms(self.ran(), self.reported.end_ms.is_some(), steps);
        if cpu_ms.is_none() {
            self.anomalies |= Anomaly::CpuUnknown.bit();
        }
        let reported = &mut self.reported;
        reported.cpu_ms = cpu_ms;
        reported.cpu_user_ms = self.cpu.user_ms.filter(|_| is_from_row);
        reported.cpu_system_ms = self.cpu.system_ms.filter(|_| is_from_row);
        reported.max_rss_byte = reported.max_rss_byte.max(steps.max_rss_byte);
        reported.max_virtual_byte = reported.max_virtual_byte.max(steps.max_virtual_byte);
        reported.anomalies = self.anomalies;
        if self.named.is_empty() && self.mended.is_empty() && !self.is_name_longer && self.submitted.is_none() {
            sink.job(&self.reported, at, steps.count);
        } else {
            self.emit_more(text, at, steps, sink);
        }
    }

    /// Sends a job whose texts differ from those in its row.
    fn emit_more(&self, text: &[u8], at: Position, steps: &Steps, sink: &mut dyn Sink) {
        let mut anomalies = self.anomalies;
        let mut texts = |named: &[(&'t [u8], i64)]| -> Vec<(Cow<'t, str>, i64)> {
            let texts = named.iter().map(|&(name, n)| (looked_at(name, &mut anomalies), n));
            texts.collect()
        };
        let models = texts(&self.named.gpus);
        let (pools, licenses) = (texts(&self.named.burst_buffers), texts(&self.named.licenses));
        let (gpus, pools, licenses) = (
            tres::borrowed(&models),
            tres::borrowed(&pools),
            tres::borrowed(&licenses),
        );
        let longer = self.name.filter(|_| self.is_name_longer);
        let longer = longer.and_then(|(start, end)| text.get(start..end));
        let longer = longer.map(|name| looked_at(name, &mut anomalies));
        let details = JobDetails {
            burst_buffers: &pools,
            licenses: &licenses,
            ..SubmitOptions::details(self.submitted.as_ref())
        };
        let mut reported = JobRow {
            gpus: &gpus,
            details: details.known(),
            anomalies,
            row_byte_n: None,
            ..self.reported.clone()
        };
        for Mended { text, place } in &self.mended {
            place(&mut reported, text);
        }
        if let Some(name) = &longer {
            name_it(&mut reported, name);
        }
        sink.job(&reported, at, steps.count);
    }
}

/// Whether a job that ended where it began was never given anything: Slurm up to 20.11 prints the end for the start of a
/// job that never ran.
fn never_ran(row: &SacctRow<'_, '_>) -> bool {
    let text = |role: Role| row.layout.column(role).and_then(|column| row.fields.get(column));
    match (text(Role::NodeList), text(Role::AllocTres)) {
        (Some(nodes), Some(allocated)) => is_no_node(nodes) && allocated.is_empty(),
        (Some(nodes), None) => nodes == b"None assigned",
        (None, Some(allocated)) => allocated.is_empty(),
        (None, None) => false,
    }
}

/// Of a row for the tasks of an array that have not started, with the times of a job that ran.
pub(super) fn array_rest_ran(id: &[u8]) -> Refusal {
    Refusal {
        reason: Reason::Contradiction,
        detail: format!(
            "{} are tasks of an array that have not started, and the row has the start and the elapsed time of a job that ran",
            super::refusal::quoted(id)
        ),
    }
}

/// The text of `NodeList` without nodes.
pub(super) fn is_no_node(nodes: &[u8]) -> bool {
    matches!(nodes, b"" | b"None assigned" | b"(null)" | b"(unknown)")
}

fn name_it<'a>(reported: &mut JobRow<'a>, name: &'a str) {
    reported.job_name = some(name);
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

/// A row as text as far as its names go, so that each of them need not be checked for invalid UTF-8.
struct RowText<'t> {
    row: &'t [u8],
    /// `None` when some of it is not UTF-8.
    text: Option<&'t str>,
}

impl<'t> RowText<'t> {
    fn new(row: &'t [u8]) -> Self {
        // Fallback: of a row that is not UTF-8 every name is looked at by itself.
        let text = simdutf8::basic::from_utf8(row).ok();
        Self { row, text }
    }

    /// A name of the row; `None` when it must be looked at by itself.
    #[inline]
    fn known(&self, bytes: &[u8]) -> Option<&'t str> {
        if bytes.is_empty() {
            return Some("");
        }
        let from = bytes.as_ptr().addr().wrapping_sub(self.row.as_ptr().addr());
        self.text?.get(from..from.checked_add(bytes.len())?)
    }
}

fn looked_at<'a>(bytes: &'a [u8], anomalies: &mut u32) -> Cow<'a, str> {
    let text = text_of(bytes);
    if matches!(text, Cow::Owned(_)) {
        *anomalies |= Anomaly::InvalidText.bit();
    }
    text
}

fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
