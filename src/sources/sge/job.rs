//! One row of an accounting file to one job.

use super::columns::{
    ACCOUNT, CPU, END, EXIT_STATUS, FAILED, GROUP, HOST, JOB_NAME, MAX_RSS, MAX_VMEM, OWNER, PE_TASK, PROJECT, QUEUE,
    SLOTS, START, SUBMIT, SgeRow, TASK, WALL,
};
use crate::ledger::Reason;
use crate::record::{Anomaly, JobRow};
use crate::sources::Sink;
use crate::sources::lines::LogRecord;
use crate::sources::refusal::Refusal;

/// Gives a row its outcome.
///
/// CPU and wall time are taken as written: the site's `cputmult` and `wallmult` are no part of the file. Unlike APEL's
/// parser, tasks of an array are distinguished, and `maxvmem` is in bytes, which it is.
pub(super) fn take(row: &SgeRow<'_>, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
    // A task of a parallel job that was started on another host: the row of the job itself holds slots and wall time.
    if row.name(PE_TASK).is_some() {
        sink.out_of_scope(Reason::OtherRecordType, 1);
        return Ok(());
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
    let (wall_ms, cpu_ms) = (row.seconds_ms(WALL)?, row.seconds_ms(CPU)?);
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
    let mut optional = |value: Result<i64, Refusal>| {
        // Fallback: an optional number that cannot be read is noted as a dropped value.
        let value = value.ok().filter(|value| *value >= 0);
        if value.is_none() {
            anomalies |= Anomaly::ValueDropped.bit();
        }
        value
    };
    let max_rss_byte = optional(row.whole(MAX_RSS)).and_then(|kb| kb.checked_mul(1024));
    let max_virtual_byte = optional(row.whole(MAX_VMEM));
    let status = optional(row.whole(EXIT_STATUS));
    // The exit code of a shell for a command that a signal ended.
    let (exit_code, exit_signal) = match status {
        Some(status) if status > 128 => (None, Some(status - 128)),
        status => (status, None),
    };
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
        cpu_ms: Some(cpu_ms),
        alloc_core_n: Some(slot_n),
        // 0 is a page count that was not taken, not a process of no size.
        max_rss_byte: max_rss_byte.filter(|n| *n > 0),
        max_virtual_byte: max_virtual_byte.filter(|n| *n > 0),
        node_list: row.name(HOST),
        exit_code,
        exit_signal,
        anomalies,
        ..JobRow::default()
    };
    sink.job(&job, record.at, 0);
    Ok(())
}
