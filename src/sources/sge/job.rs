//! One row of an accounting file to one job.

use crate::ledger::Reason;
use crate::numbers::tally;
use crate::record::{Anomaly, JobRow};
use crate::sources::Sink;
use crate::sources::lines::LogRecord;
use crate::sources::refusal::{Refusal, instant_ms, known, seconds_ms, whole};

/// Up to `maxvmem`; later versions append more.
pub(super) const FIELDS_LEAST: usize = 43;

/// A column by its 0-based place and its name in `accounting(5)`.
#[derive(Clone, Copy)]
struct SgeColumn(usize, &'static str);

const QUEUE: usize = 0;
const HOST: usize = 1;
const GROUP: usize = 2;
const OWNER: usize = 3;
const JOB_NAME: usize = 4;
const ACCOUNT: usize = 6;
const PROJECT: usize = 31;
const JOB_NUMBER: SgeColumn = SgeColumn(5, "job_number");
const SUBMIT: SgeColumn = SgeColumn(8, "submission_time");
const START: SgeColumn = SgeColumn(9, "start_time");
const END: SgeColumn = SgeColumn(10, "end_time");
const FAILED: SgeColumn = SgeColumn(11, "failed");
const EXIT_STATUS: SgeColumn = SgeColumn(12, "exit_status");
const WALL: SgeColumn = SgeColumn(13, "ru_wallclock");
const MAX_RSS: SgeColumn = SgeColumn(16, "ru_maxrss");
const SLOTS: SgeColumn = SgeColumn(34, "slots");
const TASK: SgeColumn = SgeColumn(35, "task_number");
const CPU: SgeColumn = SgeColumn(36, "cpu");
const PE_TASK: SgeColumn = SgeColumn(41, "pe_taskid");
const MAX_VMEM: SgeColumn = SgeColumn(42, "maxvmem");

/// From here on a number is milliseconds: as seconds it would be beyond the year 5000, as milliseconds in 1973.
const MILLISECONDS_FROM: i64 = 100_000_000_000;

/// Whether the columns that distinguish a row from any other line with colons are numbers.
pub(super) fn has_numbers(fields: &[&str]) -> bool {
    let is_number = |column: SgeColumn| fields.get(column.0).is_some_and(|text| whole(column.1, text).is_ok());
    [JOB_NUMBER, SUBMIT, START, END, EXIT_STATUS, SLOTS]
        .into_iter()
        .all(is_number)
}

struct SgeRow<'a, 'f> {
    fields: &'f [&'a str],
}

impl<'a> SgeRow<'a, '_> {
    fn text(&self, at: usize) -> &'a str {
        tally(self.fields.get(at).copied())
    }

    /// A name; `NONE` counts as none.
    fn name(&self, at: usize) -> Option<&'a str> {
        known(self.text(at)).filter(|text| *text != "NONE")
    }

    fn whole(&self, column: SgeColumn) -> Result<i64, Refusal> {
        whole(column.1, self.text(column.0))
    }

    /// An instant; zero counts as none.
    fn time_ms(&self, column: SgeColumn) -> Result<Option<i64>, Refusal> {
        let ms = instant_ms(column.1, self.text(column.0))?;
        Ok(match ms / 1000 {
            0 => None,
            MILLISECONDS_FROM.. => Some(ms / 1000),
            _ => Some(ms),
        })
    }

    fn seconds_ms(&self, column: SgeColumn) -> Result<i64, Refusal> {
        seconds_ms(column.1, self.text(column.0))
    }
}

/// Gives a row its outcome.
///
/// CPU and wall time are taken as written: the site's `cputmult` and `wallmult` are no part of the file. Unlike APEL's
/// parser, tasks of an array are distinguished, and `maxvmem` is in bytes, which it is.
pub(super) fn take(fields: &[&str], record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
    let row = SgeRow { fields };
    let number = row.whole(JOB_NUMBER)?;
    if number <= 0 {
        return Err(Refusal::new(Reason::BadJobId, format!("job_number {number} is none")));
    }
    // A task of a parallel job that was started on another host: the row of the job itself holds slots and wall time.
    if row.name(PE_TASK.0).is_some() {
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
        format!("{number}.{task}")
    } else {
        number.to_string()
    };
    let mut anomalies = record.anomalies();
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
