//! One job's attributes as `condor_history -json` prints them.

use std::borrow::Cow;

use crate::ledger::Reason;
use crate::numbers::Comparand;
use crate::record::{Anomaly, JobRow};
use crate::sources::fqan::Fqan;
use crate::sources::json::{Scalar, Scanner};
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;
use crate::sources::{Position, Sink, decimal};

/// Attributes that are looked at. All others are stepped over.
const ATTRIBUTES: [&str; 32] = [
    "GlobalJobId",
    "ClusterId",
    "ProcId",
    "JobStatus",
    "Owner",
    "AcctGroup",
    "AccountingGroup",
    "JobBatchName",
    "QDate",
    "JobStartDate",
    "EnteredCurrentStatus",
    "CompletionDate",
    "RemoteWallClockTime",
    "RemoteUserCpu",
    "RemoteSysCpu",
    "RequestCpus",
    "CpusProvisioned",
    "GpusProvisioned",
    "RequestGpus",
    "MemoryProvisioned",
    "RequestMemory",
    "ResidentSetSize_RAW",
    "ResidentSetSize",
    "ImageSize_RAW",
    "ImageSize",
    "ExitBySignal",
    "ExitSignal",
    "ExitCode",
    "LastRemoteHost",
    "x509userproxysubject",
    "x509UserProxyFirstFQAN",
    "x509UserProxyVOName",
];

struct CondorJob<'a> {
    values: [Scalar<'a>; ATTRIBUTES.len()],
    anomalies: u32,
}

impl<'a> CondorJob<'a> {
    fn parse(object: &'a [u8]) -> Result<Self, Refusal> {
        let mut values = [Scalar::Absent; ATTRIBUTES.len()];
        let mut scanner = Scanner::new(object);
        scanner
            .object(|scanner, key| {
                let value = scanner.scalar()?;
                let (key, _) = key.decode();
                // Attributes of a ClassAd are the same whatever their letter case.
                let known = ATTRIBUTES.iter().position(|name| name.eq_ignore_ascii_case(&key));
                if let Some(slot) = known.and_then(|at| values.get_mut(at)) {
                    *slot = value;
                }
                Ok(())
            })
            .and_then(|()| scanner.end())
            .map_err(|why| Refusal::new(Reason::BadJson, format!("byte {}: {}", why.at + 1, why.what)))?;
        Ok(Self { values, anomalies: 0 })
    }

    fn get(&self, name: &str) -> Scalar<'a> {
        let at = ATTRIBUTES.iter().position(|known| *known == name);
        // Fallback: never taken, the names are those of the attributes that are read.
        at.and_then(|at| self.values.get(at)).copied().unwrap_or_default()
    }

    /// The text of a string or number. `undefined` and expressions, which are printed as `/Expr(..)/`, have none.
    fn text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        match self.get(name) {
            Scalar::Absent | Scalar::Null | Scalar::Bool(_) | Scalar::Nested => None,
            // A number is of digits, and digits are text.
            Scalar::Number(digits) => std::str::from_utf8(digits).ok().map(Cow::Borrowed),
            Scalar::Text(text) => {
                let (text, is_invalid) = text.decode();
                if is_invalid {
                    self.anomalies |= Anomaly::InvalidText.bit();
                }
                Some(text).filter(|text| !text.trim_ascii().is_empty() && !text.starts_with("/Expr("))
            }
        }
    }

    /// A number times ten to the `places`, rounded.
    fn number(&mut self, name: &str, places: u32, reason: Reason) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match decimal::scaled(text.trim(), places) {
            Some(scaled) if scaled.value >= 0 => Ok(Some(scaled.value)),
            _ => Err(Refusal::new(
                reason,
                format!("{name} {:?} is not a number, negative or too large", clip(&text)),
            )),
        }
    }

    /// A number no usage depends on: what cannot be read is unknown.
    fn optional(&mut self, name: &str, places: u32) -> Option<i64> {
        self.number(name, places, Reason::BadNumber).unwrap_or_else(|_| {
            self.anomalies |= Anomaly::ValueDropped.bit();
            None
        })
    }

    /// A time; zero counts as none.
    fn time_ms(&mut self, name: &str) -> Result<Option<i64>, Refusal> {
        Ok(self.number(name, 3, Reason::BadTime)?.filter(|ms| *ms != 0))
    }

    fn needed_ms(&mut self, name: &str) -> Result<i64, Refusal> {
        self.number(name, 3, Reason::BadDuration)?
            .ok_or_else(|| Refusal::missing(name))
    }

    /// A size in units of two to the `shift` bytes; zero was never taken.
    fn byte_n(&mut self, names: &[&str], shift: u32) -> Option<i64> {
        let value = names.iter().find_map(|name| self.optional(name, 0));
        value.filter(|n| *n > 0).and_then(|n| n.checked_mul(1 << shift))
    }
}

/// The host of a slot, which is named `slot1_3@host`; slots of glideins have an @ in their own name.
fn host_of_slot(slot: &str) -> Option<&str> {
    let host = slot.rsplit('@').next().map(str::trim);
    host.filter(|host| !host.is_empty())
}

/// Gives one object its outcome.
pub(super) fn take(object: &[u8], at: Position, sink: &mut dyn Sink) -> Result<(), Refusal> {
    let mut job = CondorJob::parse(object)?;
    let global_job_id = job.text("GlobalJobId");
    let job_id = match (&global_job_id, job.text("ClusterId"), job.text("ProcId")) {
        (Some(id), ..) => id.to_string(),
        (None, Some(cluster), Some(process)) => format!("{cluster}.{process}"),
        _ => return Err(Refusal::missing("GlobalJobId, nor ClusterId and ProcId")),
    };
    let status = job.number("JobStatus", 0, Reason::UnknownState)?;
    let state = match status {
        Some(4) => Some("COMPLETED"),
        Some(3) => Some("CANCELLED"),
        None => None,
        // Still in the queue: it will be in the history when it has left.
        Some(_) => {
            sink.out_of_scope(Reason::OtherRecordType, 1);
            return Ok(());
        }
    };
    let (entered, completed) = (job.time_ms("EnteredCurrentStatus")?, job.time_ms("CompletionDate")?);
    let end_ms = entered
        .or(completed)
        .ok_or_else(|| Refusal::missing("EnteredCurrentStatus, nor CompletionDate"))?;
    let start_ms = job.time_ms("JobStartDate")?;
    let (wall_ms, user_ms, system_ms) = (
        job.needed_ms("RemoteWallClockTime")?,
        job.needed_ms("RemoteUserCpu")?,
        job.needed_ms("RemoteSysCpu")?,
    );
    // What was requested may be an expression, which is no number of cores.
    let requested_core_n = job.optional("RequestCpus", 0);
    let provisioned_core_n = job.number("CpusProvisioned", 0, Reason::BadNumber)?;
    let is_signalled = job.get("ExitBySignal") == Scalar::Bool(true);
    let (exit_code, exit_signal) = if is_signalled {
        (None, job.optional("ExitSignal", 0))
    } else {
        (job.optional("ExitCode", 0), None)
    };
    let (owner, name) = (job.text("Owner"), job.text("JobBatchName"));
    let account = job.text("AccountingGroup").or_else(|| job.text("AcctGroup"));
    let (subject, host) = (job.text("x509userproxysubject"), job.text("LastRemoteHost"));
    let (attribute, vo_name) = (job.text("x509UserProxyFirstFQAN"), job.text("x509UserProxyVOName"));
    let fqan = attribute.as_deref().map(Fqan::parse);
    let submit_ms = job.optional("QDate", 3);
    let gpu_n = job
        .optional("GpusProvisioned", 0)
        .or_else(|| job.optional("RequestGpus", 0));
    let row = JobRow {
        view: "batch",
        job_id: &job_id,
        global_job_id: global_job_id.as_deref(),
        fqan: attribute.as_deref(),
        vo: fqan.map(|fqan| fqan.vo).or(vo_name.as_deref()),
        vo_group: fqan.and_then(|fqan| fqan.group),
        vo_role: fqan.and_then(|fqan| fqan.role),
        account: account.as_deref(),
        user: owner.as_deref(),
        global_user: subject.as_deref(),
        job_name: name.as_deref(),
        submit_ms,
        start_ms,
        end_ms: Some(end_ms),
        wall_ms: Some(wall_ms),
        // The wall time contains the time of suspension.
        suspended_s: None,
        cpu_ms: Some(user_ms.sum_to_compare(system_ms)),
        cpu_user_ms: Some(user_ms),
        cpu_system_ms: Some(system_ms),
        alloc_core_n: provisioned_core_n.or(requested_core_n),
        requested_core_n,
        alloc_gpu_n: gpu_n,
        alloc_memory_byte: job.byte_n(&["MemoryProvisioned"], 20),
        requested_memory_byte: job.byte_n(&["RequestMemory"], 20),
        max_rss_byte: job.byte_n(&["ResidentSetSize_RAW", "ResidentSetSize"], 10),
        max_virtual_byte: job.byte_n(&["ImageSize_RAW", "ImageSize"], 10),
        node_list: host.as_deref().and_then(host_of_slot),
        state,
        exit_code,
        exit_signal,
        // Last, so that it holds what the fields above noticed.
        anomalies: job.anomalies,
        ..JobRow::default()
    };
    sink.job(&row, at, 0);
    Ok(())
}
