//! `scontrol show job`, one line per job (`-o`) or several, with or without details (`-d`): the jobs that wait. Those that run
//! or have ended are counted, not kept: accounting has them.
//!
//! Names of jobs are free text, and stand before everything else: a job is refused whose name hides which of two values is
//! the real one.

use super::fields::InventoryFields;
use super::lines::{InventoryRecord, records};
use super::moment::PrintedInstant;
use super::pairs::pairs_of;
use super::scontrol::is_message;
use super::share::without_number;
use super::trouble::{cut_off, settle};
use crate::absent;
use crate::ledger::Reason;
use crate::numbers::count_u64;
use crate::reference::inventory::tres::Tres;
use crate::reference::inventory::{InventoryRow, QueuedJobRow, quantity};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;
use crate::time::Zone;

/// What is printed when there is no job.
pub(super) const NONE: &str = "No jobs in the system";

/// What begins a record.
const START: &str = "JobId=";

/// Keys that are read, and those that end a value before them.
const KEYS: &[&str] = &[
    "Account",
    "AccrueTime",
    "AdminComment",
    "AllocNode:Sid",
    "AllocTRES",
    "ArrayJobId",
    "ArrayTaskId",
    "ArrayTaskThrottle",
    "BatchFlag",
    "BatchHost",
    "Command",
    "Comment",
    "CPUs/Task",
    "Deadline",
    "Dependency",
    "EligibleTime",
    "EndTime",
    "ExcNodeList",
    "ExitCode",
    "FailedNode",
    "Features",
    "GroupId",
    "HetJobId",
    "HetJobIdSet",
    "HetJobOffset",
    "JobId",
    "JobName",
    "JobState",
    "LastSchedEval",
    "Licenses",
    "MCS_label",
    "MinCPUsNode",
    "MinMemoryCPU",
    "MinMemoryNode",
    "Network",
    "Nice",
    "NodeList",
    "NumCPUs",
    "NumNodes",
    "NumTasks",
    "OverSubscribe",
    "Partition",
    "Priority",
    "QOS",
    "Reason",
    "Reboot",
    "ReqB:S:C:T",
    "ReqNodeList",
    "ReqTRES",
    "Requeue",
    "Reservation",
    "Restarts",
    "RunTime",
    "SchedNodeList",
    "Scheduler",
    "SecsPreSuspend",
    "Socks/Node",
    "StartTime",
    "StdErr",
    "SubmitTime",
    "SuspendTime",
    "TRES",
    "TimeLimit",
    "TimeMin",
    "UserId",
    "WCKey",
    "WorkDir",
];

/// Keys between the name of a job and its state.
const BEFORE_STATE: [&str; 5] = ["UserId", "GroupId", "Priority", "Account", "QOS"];

/// States of jobs that wait; all but the first are held.
const WAITING: [&str; 4] = ["PENDING", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"];

/// All other states.
const NOT_WAITING: &[&str] = &[
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "COMPLETING",
    "CONFIGURING",
    "DEADLINE",
    "EXPEDITING",
    "FAILED",
    "LAUNCH_FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "POWER_UP_NODE",
    "PREEMPTED",
    "RECONFIG_FAIL",
    "REQUEUED",
    "REQUEUE_FED",
    "RESIZING",
    "REVOKED",
    "RUNNING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "SUSPENDED",
    "TIMEOUT",
];

pub(super) fn read(bytes: &[u8], options: &ReaderOptions, sink: &mut dyn Sink) {
    let records = records(bytes, START);
    sink.rows_read(count_u64(records.len()));
    for record in &records {
        if is_message(&record.text) {
            sink.tool_message(record.at, record.text.as_bytes());
            continue;
        }
        if record.text.starts_with(NONE) {
            sink.out_of_scope(Reason::ToolMessage, 1);
            continue;
        }
        match job(record, options.zone.as_ref()) {
            Ok(None) => sink.out_of_scope(Reason::NotWaiting, 1),
            Ok(Some(row)) => {
                let row = InventoryRow::QueuedJob(Box::new(row));
                settle(Ok(row), record.at, record.text.as_bytes(), sink);
            }
            Err(refusal) => settle(Err(refusal), record.at, record.text.as_bytes(), sink),
        }
    }
}

/// A job that waits; `None` for any other.
fn job(record: &InventoryRecord, zone: Option<&Zone>) -> Result<Option<QueuedJobRow>, Refusal> {
    if record.is_too_long {
        let detail = "the record is longer than a record can be";
        return Err(Refusal::new(Reason::TooLong, detail));
    }
    if !record.is_ended {
        return Err(cut_off());
    }
    if !record.text.starts_with(START) {
        let detail = format!("the record does not begin with {START}");
        return Err(Refusal::new(Reason::FieldCount, detail));
    }
    check_name(&record.text)?;
    let fields = InventoryFields(pairs_of(&record.text, KEYS));
    let state = fields.required("JobState")?;
    if NOT_WAITING.contains(&state) {
        return Ok(None);
    }
    if !WAITING.contains(&state) {
        let detail = format!("JobState {state:?} is not a state of a job");
        return Err(Refusal::new(Reason::UnknownState, detail));
    }
    waiting(&fields, state, zone).map(Some)
}

/// Refuses a record in which the name of the job looks like one of the fields behind it.
fn check_name(text: &str) -> Result<(), Refusal> {
    let before = text.split_once(" JobState=").map_or(text, |(before, _)| before);
    for key in BEFORE_STATE {
        let found_n = before
            .split(' ')
            .filter(|word| word.split_once('=').is_some_and(|(found, _)| found == key))
            .count();
        if found_n > 1 {
            let detail = format!("{key} occurs twice before the state: the name of the job looks like one");
            return Err(Refusal::new(Reason::Contradiction, detail));
        }
        if found_n == 0 && text.contains(&format!(" {key}=")) {
            let detail = format!("{key} is not before the state: the name of the job looks like one");
            return Err(Refusal::new(Reason::Contradiction, detail));
        }
    }
    Ok(())
}

fn waiting(fields: &InventoryFields<'_>, state: &str, zone: Option<&Zone>) -> Result<QueuedJobRow, Refusal> {
    let job_id = fields.required("JobId")?;
    if !job_id.bytes().all(|byte| byte.is_ascii_digit()) {
        let detail = format!("JobId {job_id:?} is not a number");
        return Err(Refusal::new(Reason::BadJobId, detail));
    }
    let submit = fields.moment("SubmitTime", zone)?;
    let eligible = fields.moment("EligibleTime", zone)?;
    let accrue = fields.moment("AccrueTime", zone)?;
    let submit_ms = submit.map(|moment| moment.earlier_ms);
    let not_before_submit = |moment: Option<PrintedInstant>| {
        moment.map(|moment| match submit_ms {
            Some(submit_ms) if moment.earlier_ms < submit_ms => moment.later_ms,
            _ => moment.earlier_ms,
        })
    };
    let req_tres = fields.get("ReqTRES").or_else(|| fields.get("TRES"));
    let requested = Tres::parse(absent::text(req_tres))
        .map_err(|why| Refusal::new(Reason::BadNumber, format!("ReqTRES: {why}")))?;
    let (min_node_n, max_node_n) = range(fields, "NumNodes")?;
    let (num_cpu_n, _) = range(fields, "NumCPUs")?;
    let priority_n = fields.int("Priority")?;
    let reason = fields.text("Reason");
    let is_held = state != "PENDING"
        || priority_n == Some(0)
        || reason.as_deref().is_some_and(|reason| reason.starts_with("JobHeld"));
    Ok(QueuedJobRow {
        job_id: job_id.to_owned(),
        array_job_id: fields.text("ArrayJobId"),
        array_tasks: fields.text("ArrayTaskId"),
        account: fields.name("Account").map(str::to_owned),
        user: fields.name("UserId").map(|name| without_number(name).to_owned()),
        partitions: fields.name("Partition").map(str::to_owned),
        qos: fields.name("QOS").map(str::to_owned),
        submit_ms,
        eligible_ms: not_before_submit(eligible),
        accrue_ms: not_before_submit(accrue),
        is_ambiguous: [submit, eligible, accrue]
            .into_iter()
            .flatten()
            .any(PrintedInstant::is_double),
        time_limit_s: match fields.get("TimeLimit") {
            Some("Partition_Limit") => None,
            _ => fields.seconds("TimeLimit")?,
        },
        min_node_n,
        max_node_n,
        cpu_n: requested.cpu_n.or(num_cpu_n),
        memory_byte: requested.memory_byte,
        gpus: req_tres.map(|_| requested.gpus),
        billing_n: requested.billing_n,
        req_tres: req_tres.map(str::to_owned),
        priority_n,
        nice_n: nice(fields)?,
        reason,
        is_held: Some(is_held),
    })
}

/// A number, or the least and the greatest one of `1-4`.
fn range(fields: &InventoryFields<'_>, key: &str) -> Result<(Option<i64>, Option<i64>), Refusal> {
    let Some(text) = fields.get(key) else {
        return Ok((None, None));
    };
    let count = |text: &str| {
        let wrong = || Refusal::new(Reason::BadNumber, format!("{key} {text:?} is not a number"));
        quantity::size(text, 1).ok_or_else(wrong)
    };
    match text.split_once('-') {
        None => Ok((Some(count(text)?), None)),
        Some((least, greatest)) => Ok((Some(count(least)?), Some(count(greatest)?))),
    }
}

fn nice(fields: &InventoryFields<'_>) -> Result<Option<i64>, Refusal> {
    let Some(text) = fields.get("Nice") else {
        return Ok(None);
    };
    let wrong = |_| Refusal::new(Reason::BadNumber, format!("Nice {text:?} is not a number"));
    text.parse::<i32>().map(|nice| Some(i64::from(nice))).map_err(wrong)
}
