//! One document to one outcome.

use std::borrow::Cow;
use std::fmt::Write;

use super::document::{GraccDocument, Key};
use super::fields::GraccFields;
use super::summary;
use crate::absent;
use crate::ledger::Reason;
use crate::numbers::{Comparand, Part};
use crate::record::JobRow;
use crate::record::anomaly::Anomaly;
use crate::sources::fqan::Fqan;
use crate::sources::json::Scalar;
use crate::sources::refusal::Refusal;
use crate::sources::{Position, Sink};

/// Buffers reused from document to document.
#[derive(Default)]
pub(super) struct GraccScratch {
    pub(super) view: String,
    pub(super) identity: String,
}

/// Gives the well-formed document of `line` its outcome.
pub(super) fn take(
    line: &[u8],
    document: &GraccDocument<'_>,
    at: Position,
    scratch: &mut GraccScratch,
    sink: &mut dyn Sink,
) {
    let mut fields = GraccFields::new(document);
    let outcome = kind(document, &mut fields).and_then(|kind| match kind {
        RecordKind::Other(reason) => {
            sink.out_of_scope(reason, 1);
            Ok(())
        }
        RecordKind::Summary(of) => summary::take(of, &mut fields, at, scratch, sink),
        RecordKind::Job => job(&mut fields, at, scratch, sink),
    });
    if let Err(bad) = outcome {
        sink.reject(bad.reason, at, 1, &bad.detail, line);
    }
}

/// The content of a document.
enum RecordKind {
    /// A job.
    Job,
    /// Jobs or transfers of a day added up.
    Summary(summary::Of),
    /// What is not accounted here.
    Other(Reason),
}

fn kind(document: &GraccDocument<'_>, fields: &mut GraccFields<'_, '_>) -> Result<RecordKind, Refusal> {
    if !document.is_object() {
        return Err(not_a_record("the line is JSON, but not an object"));
    }
    let kind = match fields.text(Key::Type)? {
        Some(kind) => Some(kind),
        None => fields.text(Key::EnvelopeType)?,
    };
    let has = |key| document.get(key) != Scalar::Absent;
    let index = fields.text(Key::Index)?;
    let is_summary_index = index.as_deref().is_some_and(is_of_summaries);
    let has_id = [Key::RecordId, Key::LocalJobId, Key::GlobalJobId].into_iter().any(has);
    if is_summary_index || (has(Key::Count) && !has_id) {
        let is_of_transfers = index.is_some_and(|index| index.contains("-transfer."))
            || (has(Key::StartTime) && !has(Key::EndTime) && !has(Key::SiteName));
        return Ok(RecordKind::Summary(if is_of_transfers {
            summary::Of::Transfers
        } else {
            summary::Of::Jobs
        }));
    }
    // Since Elasticsearch 7 every document is of the type `_doc`.
    match kind.as_deref() {
        None | Some("JobUsageRecord" | "UsageRecord" | "_doc" | "doc") => {}
        Some(_) => return Ok(RecordKind::Other(Reason::OtherRecordType)),
    }
    let has_usage = [Key::WallDuration, Key::CpuDuration, Key::StartTime, Key::EndTime]
        .into_iter()
        .any(has);
    if !has_id && !has_usage {
        return Err(not_a_record(
            "the document has neither a record or job id nor times nor durations",
        ));
    }
    Ok(RecordKind::Job)
}

/// Whether the name of an index has `.summary` in it. Nearly every document names its index: a search of a word in so short a
/// text costs more than to look behind its points.
fn is_of_summaries(index: &str) -> bool {
    let index = index.as_bytes();
    memchr::memchr_iter(b'.', index).any(|point| index.part(point..).starts_with(b".summary"))
}

fn not_a_record(why: &str) -> Refusal {
    Refusal {
        reason: Reason::NotARecord,
        detail: why.to_owned(),
    }
}

/// Start, end and wall time in milliseconds, the missing start or end from the other two as GRACC's own input stage does. A missing
/// wall time is left open: it is the end less the start.
fn span(fields: &mut GraccFields<'_, '_>) -> Result<(i64, i64, Option<i64>), Refusal> {
    let (start, end) = (fields.time_ms(Key::StartTime)?, fields.time_ms(Key::EndTime)?);
    let wall = fields.duration_ms(Key::WallDuration)?;
    if [start, end, wall].contains(&None) {
        fields.notice(Anomaly::TimeAssumed);
    }
    match (start, end, wall) {
        (Some(start), Some(end), wall) => Ok((start, end, wall)),
        (Some(start), None, Some(wall)) => Ok((start, start.sum_to_compare(wall), Some(wall))),
        (None, Some(end), Some(wall)) => Ok((end.difference_to_compare(wall), end, Some(wall))),
        _ => {
            let missing: Vec<&str> = [
                (start.is_none(), Key::StartTime),
                (end.is_none(), Key::EndTime),
                (wall.is_none(), Key::WallDuration),
            ]
            .into_iter()
            .filter_map(|(is_missing, key)| is_missing.then_some(key.name()))
            .collect();
            Err(Refusal {
                reason: Reason::TimeUnknown,
                detail: format!("{} missing: when it ran cannot be determined", missing.join(" and ")),
            })
        }
    }
}

/// When it ran and what it used.
struct GraccMeasured {
    start_ms: i64,
    end_ms: i64,
    wall_ms: Option<i64>,
    cpu_ms: Option<i64>,
    cpu_user_ms: Option<i64>,
    cpu_system_ms: Option<i64>,
    /// As the record states them: 0 is unknown.
    core_n: Option<i64>,
    node_n: Option<i64>,
    gpu_n: Option<i64>,
    max_rss_byte: Option<i64>,
    max_virtual_byte: Option<i64>,
}

impl GraccMeasured {
    fn read(fields: &mut GraccFields<'_, '_>) -> Result<Self, Refusal> {
        let (start_ms, end_ms, wall_ms) = span(fields)?;
        let (cpu_user_ms, cpu_system_ms) = (fields.duration_ms(Key::CpuUser)?, fields.duration_ms(Key::CpuSystem)?);
        let cpu_ms = stated_cpu(fields.duration_ms(Key::CpuDuration)?, cpu_user_ms, cpu_system_ms);
        if cpu_ms.is_none() {
            fields.notice(Anomaly::CpuUnknown);
        }
        let core_n = cores(fields)?;
        let (node_n, gpu_n) = (fields.count(Key::NodeCount)?, fields.count(Key::Gpus)?);
        let (max_rss_byte, max_virtual_byte) = memory(fields)?;
        Ok(Self {
            start_ms,
            end_ms,
            wall_ms,
            cpu_ms,
            cpu_user_ms,
            cpu_system_ms,
            core_n,
            node_n: node_n.filter(|&n| n > 0),
            gpu_n,
            max_rss_byte,
            max_virtual_byte,
        })
    }

    /// All of it that is read as a number. The collector writes 0 for the wall and CPU time that an XML record lacks.
    fn numbers(&self) -> [Option<i64>; 11] {
        [
            Some(self.start_ms),
            Some(self.end_ms),
            self.wall_ms.or(Some(0)),
            self.cpu_ms.or(Some(0)),
            self.cpu_user_ms,
            self.cpu_system_ms,
            self.core_n,
            self.node_n,
            self.gpu_n,
            self.max_rss_byte,
            self.max_virtual_byte,
        ]
    }
}

/// CPU time as far as the record states it. The collector writes a total of 0 for a record that has none, as those of
/// transfers: 0 without a part is unknown, in whatever encoding it comes.
pub(super) fn stated_cpu(total_ms: Option<i64>, user_ms: Option<i64>, system_ms: Option<i64>) -> Option<i64> {
    let parts_ms = user_ms.zip(system_ms).map(|(user, system)| user.sum_to_compare(system));
    match total_ms {
        None => parts_ms,
        Some(0) if user_ms.is_none() && system_ms.is_none() => None,
        total => total,
    }
}

/// Cores as they are stated, by GRACC's own rule for core hours: missing means 1. Of 0, which probes write for what they do
/// not know, they are unknown.
fn cores(fields: &mut GraccFields<'_, '_>) -> Result<Option<i64>, Refusal> {
    let is_stated = fields.text(Key::Processors)?.is_some();
    let cores = fields.count(Key::Processors)?;
    if !is_stated {
        fields.notice(Anomaly::CoreAssumed);
        return Ok(Some(1));
    }
    if cores.is_none_or(|n| n == 0) {
        fields.notice(Anomaly::CoreUnknown);
    }
    Ok(cores)
}

/// What names the record.
struct GraccIds<'a> {
    document: Option<Cow<'a, str>>,
    record: Option<Cow<'a, str>>,
    local: Option<Cow<'a, str>>,
    global: Option<Cow<'a, str>>,
    probe: Option<Cow<'a, str>>,
}

impl<'a> GraccIds<'a> {
    fn read(fields: &mut GraccFields<'_, 'a>) -> Result<Self, Refusal> {
        Ok(Self {
            document: fields.text(Key::Id)?,
            record: fields.text(Key::RecordId)?,
            local: fields.text(Key::LocalJobId)?,
            global: fields.text(Key::GlobalJobId)?,
            probe: fields.text(Key::ProbeName)?,
        })
    }

    fn job_id(&self) -> Result<&str, Refusal> {
        [&self.local, &self.global, &self.record, &self.document]
            .into_iter()
            .find_map(|id| id.as_deref())
            .ok_or_else(|| Refusal {
                reason: Reason::MissingField,
                detail: "there is no LocalJobId, GlobalJobId, RecordId or _id".to_owned(),
            })
    }

    /// The identity of a record, independent of its encoding: view, probe, job id and times. Neither
    /// `RecordId` (each sending has its own) nor the index's `_id` (the other encodings lack it) can identify it. A record
    /// without a job id, as of a pilot in a container, is the same when everything measured is, and where: memory and network
    /// as the record states them, whatever they are figures of. The index compares more texts (names of the job and of
    /// its user, states), of which none is a measure.
    fn identify(&self, out: &mut String, view: &str, measured: &GraccMeasured, fields: &mut GraccFields<'_, 'a>) {
        out.clear();
        let probe = absent::text(self.probe.as_deref());
        let (start_ms, end_ms) = (measured.start_ms, measured.end_ms);
        let global = self.global.as_deref().map(|id| ("global", id));
        if let Some((kind, id)) = global.or(self.local.as_deref().map(|id| ("local", id))) {
            // Piece by piece, because it is written for nearly every record.
            out.extend([kind, "|", view, "|", probe, "|", id, "|"]);
            out.push_str(itoa::Buffer::new().format(start_ms));
            out.push('|');
            out.push_str(itoa::Buffer::new().format(end_ms));
            return;
        }
        // Writing to a string cannot fail.
        let _ = write!(out, "measured|{view}|{probe}|{:?}", measured.numbers());
        for key in [Key::MachineName, Key::Host, Key::SubmitHost, Key::Queue] {
            let text = fields.optional(key, GraccFields::text);
            let _ = write!(out, "|{:?}", absent::text(text.as_deref()));
        }
        for (amount, unit) in [(Key::Memory, Key::MemoryUnit), (Key::Network, Key::NetworkUnit)] {
            let milli = fields.optional(amount, GraccFields::milli);
            let unit = fields.optional(unit, GraccFields::text);
            let _ = write!(out, "|{milli:?}{:?}", absent::text(unit.as_deref()));
        }
    }
}

fn job(
    fields: &mut GraccFields<'_, '_>,
    at: Position,
    scratch: &mut GraccScratch,
    sink: &mut dyn Sink,
) -> Result<(), Refusal> {
    let measured = GraccMeasured::read(fields)?;
    let ids = GraccIds::read(fields)?;
    let resource_type = fields.text(Key::ResourceType)?;
    let view = view(resource_type.as_deref(), &mut scratch.view);
    ids.identify(&mut scratch.identity, view, &measured, fields);
    let (vo_name, reportable_vo) = (fields.text(Key::VoName)?, fields.text(Key::ReportableVoName)?);
    let fqan = vo_name.as_deref().map(Fqan::parse);
    let (dn, common_name) = (fields.text(Key::Dn)?, fields.text(Key::CommonName)?);
    let (site, submit_host) = (fields.text(Key::SiteName)?, fields.text(Key::SubmitHost)?);
    let payload_site = fields.optional(Key::HostDescription, GraccFields::text);
    let (project, user) = (fields.text(Key::ProjectName)?, fields.text(Key::LocalUserId)?);
    let (queue, grid) = (fields.text(Key::Queue)?, fields.text(Key::Grid)?);
    let (job_name, status) = (fields.text(Key::JobName)?, fields.text(Key::JobStatus)?);
    let row = JobRow {
        view,
        site: site.as_deref(),
        cluster: ids.probe.as_deref(),
        payload_site: payload_site.as_deref(),
        submit_host: submit_host.as_deref(),
        job_id: ids.job_id()?,
        global_job_id: ids.global.as_deref(),
        identity_key: Some(&scratch.identity),
        // As GRACC groups: by VOName. The reportable name is less specific where they differ.
        vo: fqan.map(|fqan| fqan.vo).or(reportable_vo.as_deref()),
        fqan: vo_name.as_deref().filter(|name| name.starts_with('/')),
        vo_name: vo_name.as_deref(),
        reportable_vo: reportable_vo.as_deref(),
        vo_group: fqan.and_then(|fqan| fqan.group),
        vo_role: fqan.and_then(|fqan| fqan.role),
        account: project.as_deref(),
        user: user.as_deref(),
        global_user: dn.as_deref().or(common_name.as_deref()),
        partition: queue.as_deref(),
        infrastructure: grid.as_deref(),
        job_name: job_name.as_deref(),
        submit_ms: fields.optional(Key::QueueTime, GraccFields::time_ms),
        start_ms: Some(measured.start_ms),
        end_ms: Some(measured.end_ms),
        received_ms: fields.optional(Key::Received, GraccFields::time_ms),
        wall_ms: measured.wall_ms,
        cpu_ms: measured.cpu_ms,
        cpu_user_ms: measured.cpu_user_ms,
        cpu_system_ms: measured.cpu_system_ms,
        alloc_core_n: measured.core_n.filter(|&n| n > 0),
        alloc_node_n: measured.node_n,
        alloc_gpu_n: measured.gpu_n,
        max_rss_byte: measured.max_rss_byte,
        max_virtual_byte: measured.max_virtual_byte,
        network_byte: fields.optional(Key::Network, |fields, _| fields.network_byte()),
        // HTCondor's JobStatus; the other probes only have an exit status.
        state: match status.as_deref() {
            Some("4") => Some("COMPLETED"),
            Some("3") => Some("CANCELLED"),
            _ => None,
        },
        exit_code: fields.optional(Key::ExitCode, GraccFields::whole),
        exit_signal: fields.optional(Key::ExitSignal, GraccFields::whole),
        // Last, so that it holds what the fields above noticed.
        anomalies: fields.anomalies,
        ..JobRow::default()
    };
    sink.job(&row, at, 0);
    Ok(())
}

/// Resident and virtual peak. A `Memory` that the SGE probe describes as `maxvmem` is virtual.
fn memory(fields: &mut GraccFields<'_, '_>) -> Result<(Option<i64>, Option<i64>), Refusal> {
    let byte = fields.memory_byte()?;
    let is_peak = matches!(fields.text(Key::MemoryMetric)?.as_deref(), Some("max" | "total"));
    let is_virtual = fields.text(Key::MemoryDescription)?.as_deref() == Some("maxvmem");
    let byte = byte.filter(|_| is_peak);
    Ok(if is_virtual { (None, byte) } else { (byte, None) })
}

/// `ResourceType` in lower case; missing means batch, and `BatchPilot` is the wire's misnomer for payload.
pub(super) fn view<'s>(resource_type: Option<&str>, scratch: &'s mut String) -> &'s str {
    match resource_type.map(str::trim) {
        None | Some("Batch") => "batch",
        Some("Payload" | "BatchPilot") => "payload",
        Some("Storage") => "storage",
        Some(other) => {
            scratch.clear();
            scratch.push_str(&other.to_lowercase());
            scratch
        }
    }
}
