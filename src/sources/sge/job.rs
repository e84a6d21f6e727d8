//! One row of an accounting file, and those of its tasks, to one job.

use std::collections::HashSet;

use super::columns::{
    ACCOUNT, CPU, END, EXIT_STATUS, FAILED, GROUP, HOST, JOB_NAME, MAX_RSS, MAX_VMEM, OWNER, PE_TASK, PROJECT, QUEUE,
    SLOTS, START, SUBMIT, SgeRow, TASK, WALL,
};
use crate::ledger::Reason;
use crate::record::{Anomaly, JobRow};
use crate::sources::Sink;
use crate::sources::lines::LogRecord;
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;

/// What the tasks of a parallel job used, each with a row of its own.
#[derive(Default)]
pub(super) struct TaskUsage<'a> {
    /// Rows.
    row_n: u32,
    cpu_ms: i64,
    max_rss_kb: i64,
    max_virtual_byte: i64,
    /// Hosts in the order of the rows, some more than once.
    hosts: Vec<&'a str>,
    /// What a task used is not known.
    pub(super) is_incomplete: bool,
}

impl<'a> TaskUsage<'a> {
    /// Adds the row of a task.
    pub(super) fn add(&mut self, row: &SgeRow<'a>, record: &LogRecord<'_>) -> Result<(), Refusal> {
        record.whole(row.has_later_columns())?;
        let cpu_ms = row.seconds_ms(CPU)?;
        let sum = self.cpu_ms.checked_add(cpu_ms);
        self.cpu_ms = sum.ok_or_else(|| Refusal::new(Reason::BadDuration, "the CPU times of the tasks overflow"))?;
        // Fallback: a size that cannot be read is not the largest.
        self.max_rss_kb = self.max_rss_kb.max(row.whole(MAX_RSS).unwrap_or(0));
        // Fallback: a size that cannot be read is not the largest.
        self.max_virtual_byte = self.max_virtual_byte.max(row.whole(MAX_VMEM).unwrap_or(0));
        self.hosts.extend(row.name(HOST));
        self.row_n += 1;
        Ok(())
    }

    /// The host of the job and those of its tasks, each once.
    fn node_list(&self, first: Option<&'a str>) -> Option<String> {
        let mut seen = HashSet::new();
        let hosts = first.into_iter().chain(self.hosts.iter().copied());
        let hosts: Vec<&str> = hosts.filter(|host| seen.insert(*host)).collect();
        (!hosts.is_empty()).then(|| hosts.join(","))
    }
}

/// Gives a row its outcome, with the rows of its tasks folded in.
///
/// CPU and wall time are taken as written: the site's `cputmult` and `wallmult` are no part of the file. Unlike APEL's
/// parser, tasks of an array are distinguished, and `maxvmem` is in bytes, which it is.
pub(super) fn take<'a>(
    row: &SgeRow<'a>,
    record: &LogRecord<'_>,
    tasks: &TaskUsage<'a>,
    sink: &mut dyn Sink,
) -> Result<(), Refusal> {
    record.whole(row.has_later_columns())?;
    if let Some(task) = row.name(PE_TASK) {
        let why = format!("a task, {:?}, of a job without a parallel environment", clip(task));
        return Err(Refusal::new(Reason::StepWithoutJob, why));
    }
    let (start_ms, end_ms) = (row.time_ms(START)?, row.time_ms(END)?);
    let Some(end_ms) = end_ms else {
        // A job that could not be started is logged with neither time.
        if start_ms.is_none() && row.whole(FAILED)? != 0 {
            sink.out_of_scope(Reason::NotStarted, 1);
            return Ok(());
        }
        return Err(Refusal::new(
            Reason::TimeUnknown,
            "end_time is 0: when it ended is not known",
        ));
    };
    let (wall_ms, own_cpu_ms) = (row.seconds_ms(WALL)?, row.seconds_ms(CPU)?);
    let slot_n = row.whole(SLOTS)?;
    let task = row.whole(TASK)?;
    let job_id = if task > 0 {
        format!("{}.{task}", row.number)
    } else {
        row.number.to_string()
    };
    let mut anomalies = record.anomalies();
    if row.is_reassembled() {
        anomalies |= Anomaly::Reassembled.bit();
    }
    let cpu_ms = own_cpu_ms.checked_add(tasks.cpu_ms).filter(|_| !tasks.is_incomplete);
    if cpu_ms.is_none() {
        anomalies |= Anomaly::CpuUnknown.bit();
    }
    let mut optional = |value: Result<i64, Refusal>| {
        // Fallback: an optional number that cannot be read is noted as a dropped value.
        let value = value.ok().filter(|value| *value >= 0);
        if value.is_none() {
            anomalies |= Anomaly::ValueDropped.bit();
        }
        value
    };
    let max_rss_kb = optional(row.whole(MAX_RSS)).max(Some(tasks.max_rss_kb));
    let max_rss_byte = max_rss_kb.and_then(|kb| kb.checked_mul(1024));
    let max_virtual_byte = optional(row.whole(MAX_VMEM)).max(Some(tasks.max_virtual_byte));
    let status = optional(row.whole(EXIT_STATUS));
    // The exit code of a shell for a command that a signal ended.
    let (exit_code, exit_signal) = match status {
        Some(status) if status > 128 => (None, Some(status - 128)),
        status => (status, None),
    };
    let node_list = tasks.node_list(row.name(HOST));
    let job = JobRow {
        view: "batch",
        job_id: &job_id,
        account: row
            .name(PROJECT)
            .or_else(|| row.name(ACCOUNT).filter(|name| *name != "sge")),
        user: row.name(OWNER),
        user_group: row.name(GROUP),
        partition: row.name(QUEUE),
        job_name: row.name(JOB_NAME),
        submit_ms: row.time_ms(SUBMIT)?,
        start_ms,
        end_ms: Some(end_ms),
        wall_ms: Some(wall_ms),
        cpu_ms,
        alloc_core_n: Some(slot_n),
        // 0 is a page count that was not taken, not a process of no size.
        max_rss_byte: max_rss_byte.filter(|n| *n > 0),
        max_virtual_byte: max_virtual_byte.filter(|n| *n > 0),
        node_list: node_list.as_deref(),
        exit_code,
        exit_signal,
        anomalies,
        ..JobRow::default()
    };
    sink.job(&job, record.at, tasks.row_n);
    Ok(())
}
