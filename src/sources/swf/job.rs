//! One line of a workload to one job.

use super::Swf;
use super::row::{COLUMNS, SwfColumn, SwfRow};
use crate::ledger::Reason;
use crate::numbers::Comparand;
use crate::record::{Anomaly, JobRow};
use crate::sources::Sink;
use crate::sources::host_slots::HostSlots;
use crate::sources::lines::LogRecord;
use crate::sources::refusal::{Refusal, whole};
use crate::sources::truncate::clip;

/// Statuses of parts of a job, between a checkpoint and the next.
const PARTS_OF_JOB: std::ops::RangeInclusive<i64> = 2..=4;

/// A line with what becomes of numbers that are none.
struct JobLine<'a> {
    row: SwfRow<'a>,
}

impl<'a> JobLine<'a> {
    fn text(&self, column: SwfColumn) -> &'a str {
        self.row.text(column)
    }

    /// A number times ten to the `places`; what is negative is unknown.
    fn scaled(&self, column: SwfColumn, places: u32, reason: Reason) -> Result<Option<i64>, Refusal> {
        let text = self.text(column);
        match self.row.scaled(column, places) {
            Some(scaled) => Ok(Some(scaled.value).filter(|value| *value >= 0)),
            None => Err(Refusal::new(
                reason,
                format!("{} {:?} is not a number, or too large", column.name, clip(text)),
            )),
        }
    }

    fn ms(&self, column: SwfColumn) -> Result<Option<i64>, Refusal> {
        self.scaled(column, 3, Reason::BadDuration)
    }

    fn count(&self, column: SwfColumn) -> Result<Option<i64>, Refusal> {
        let n = whole(column.name, self.text(column))?;
        Ok(Some(n).filter(|n| *n > 0))
    }

    fn id(&self, column: SwfColumn) -> Option<&'a str> {
        Some(self.text(column)).filter(|text| !text.starts_with('-'))
    }
}

/// Gives a line its outcome.
///
/// CPU time is written as the average per processor and becomes the sum over processors; used memory stays per
/// processor. Lines of parts of a job (status 2 to 4: between a checkpoint and the next) repeat what the line of the
/// complete job contains.
pub(super) fn take(columns: &[&str], swf: &Swf, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
    let wrong_n = || {
        let why = format!("{} columns, not {COLUMNS}", columns.len());
        Refusal::new(Reason::FieldCount, why)
    };
    let row = SwfRow::of(columns).ok_or_else(wrong_n)?;
    let further = row.further();
    let placed = match further.first().filter(|text| text.starts_with('{')) {
        Some(list) => Some(placed_hosts(list)?),
        None => None,
    };
    // The last column of the format itself is not looked at, so it may be cut short.
    record.whole(placed.is_none() || further.len() > 2)?;
    let row = JobLine { row };
    let number = whole(SwfColumn::JOB.name, row.text(SwfColumn::JOB))?;
    if number < 0 {
        return Err(Refusal::new(Reason::BadJobId, format!("job number {number} is none")));
    }
    let status = whole(SwfColumn::STATUS.name, row.text(SwfColumn::STATUS))?;
    if PARTS_OF_JOB.contains(&status) {
        sink.out_of_scope(Reason::OtherRecordType, 1);
        return Ok(());
    }
    let state = state(status)?;
    let submit_ms = row
        .scaled(SwfColumn::SUBMIT, 3, Reason::BadTime)?
        .and_then(|ms| swf.start_s.checked_mul(1000)?.checked_add(ms))
        .ok_or_else(|| Refusal::new(Reason::TimeUnknown, "the submit time is unknown"))?;
    let (wait_ms, run_ms) = (row.ms(SwfColumn::WAIT)?, row.ms(SwfColumn::RUN)?);
    let Some(run_ms) = run_ms else {
        if matches!(state, Some("CANCELLED" | "FAILED")) {
            sink.out_of_scope(Reason::NoRunTime, 1);
            return Ok(());
        }
        let why = format!(
            "the run time is unknown: {:?} is negative",
            clip(row.text(SwfColumn::RUN))
        );
        return Err(Refusal::new(Reason::BadDuration, why));
    };
    let is_start_assumed = wait_ms.is_none() && swf.options.is_start_submit;
    let Some(start_ms) = wait_ms
        .or(is_start_assumed.then_some(0))
        .map(|ms| submit_ms.sum_to_compare(ms))
    else {
        let why = "the wait time is unknown: when it ran cannot be determined; if the submit times of this workload are \
                   starts, set start_from = \"submit\" in the source";
        return Err(Refusal::new(Reason::TimeUnknown, why));
    };
    let (asked_core_n, mut core_n) = (
        row.count(SwfColumn::ASKED_PROCESSORS)?,
        row.count(SwfColumn::PROCESSORS)?,
    );
    let mut anomalies = record.anomalies();
    if is_start_assumed {
        anomalies |= Anomaly::TimeAssumed.bit();
    }
    if core_n.is_none() && asked_core_n.is_some() {
        core_n = asked_core_n;
        anomalies |= Anomaly::CoreAssumed.bit();
    }
    let (average_ms, memory_kb) = match &placed {
        // Alea fills these two columns with 1 and 1024 in every line.
        Some(_) => (None, None),
        None => (
            row.ms(SwfColumn::AVERAGE_CPU)?,
            row.scaled(SwfColumn::MEMORY, 0, Reason::BadNumber)?,
        ),
    };
    let cpu_ms = cpu_ms(average_ms, core_n)?;
    let requested_memory_byte = requested_memory_byte(&row, placed.as_ref(), asked_core_n.or(core_n))?;
    let job_id = number.to_string();
    let queue = match &placed {
        Some(_) => further.get(1).copied(),
        None => row.id(SwfColumn::QUEUE).map(|text| swf.header.named(text)),
    };
    let node_list = placed.as_ref().map(HostSlots::list);
    let job = JobRow {
        view: "batch",
        job_id: &job_id,
        user: row.id(SwfColumn::USER),
        user_group: row.id(SwfColumn::GROUP),
        partition: queue,
        // The time taken for the start is not the time of submission.
        submit_ms: Some(submit_ms).filter(|_| !is_start_assumed),
        start_ms: Some(start_ms),
        end_ms: Some(start_ms.sum_to_compare(run_ms)),
        wall_ms: Some(run_ms),
        cpu_ms,
        alloc_core_n: core_n,
        alloc_node_n: placed.as_ref().map(HostSlots::host_n),
        max_rss_byte: memory_kb.filter(|kb| *kb > 0).and_then(|kb| kb.checked_mul(1024)),
        requested_memory_byte,
        time_limit_s: row
            .scaled(SwfColumn::ASKED_TIME, 0, Reason::BadNumber)?
            .filter(|s| *s > 0),
        node_list: node_list.as_deref(),
        state,
        anomalies,
        ..JobRow::default()
    };
    sink.job(&job, record.at, 0);
    Ok(())
}

/// The state of a status that is one of a complete job.
fn state(status: i64) -> Result<Option<&'static str>, Refusal> {
    match status {
        1 => Ok(Some("COMPLETED")),
        0 => Ok(Some("FAILED")),
        5 => Ok(Some("CANCELLED")),
        -1 => Ok(None),
        other => Err(Refusal::new(
            Reason::UnknownState,
            format!("status {other} is not one of -1 to 5"),
        )),
    }
}

/// CPU time of all processors, from the mean of one.
fn cpu_ms(average_ms: Option<i64>, core_n: Option<i64>) -> Result<Option<i64>, Refusal> {
    let Some((average_ms, core_n)) = average_ms.zip(core_n) else {
        return Ok(None);
    };
    let too_large = || Refusal::new(Reason::BadDuration, "CPU time times processors does not fit");
    average_ms.checked_mul(core_n).map(Some).ok_or_else(too_large)
}

/// Memory requested, of the complete job.
fn requested_memory_byte(
    row: &JobLine<'_>,
    placed: Option<&HostSlots<'_>>,
    core_n: Option<i64>,
) -> Result<Option<i64>, Refusal> {
    let asked = row
        .scaled(SwfColumn::ASKED_MEMORY, 0, Reason::BadNumber)?
        .filter(|n| *n > 0);
    Ok(asked.and_then(|asked| match placed {
        // Alea: bytes on every node.
        Some(placed) => asked.checked_mul(placed.host_n()),
        None => asked.checked_mul(1024)?.checked_mul(core_n?),
    }))
}

/// `{1129,1129,1130}`: the node of every processor.
fn placed_hosts(text: &str) -> Result<HostSlots<'_>, Refusal> {
    let wrong = || Refusal::new(Reason::BadNumber, format!("{:?} is not a list of nodes", clip(text)));
    let inner = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'))
        .ok_or_else(wrong)?;
    let mut placed = HostSlots::default();
    for node in inner.split(',') {
        if node.is_empty() || !node.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        placed.add(node, 1).ok_or_else(wrong)?;
    }
    Ok(placed)
}
