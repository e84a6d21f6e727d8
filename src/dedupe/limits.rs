//! Plausibility of records: limits beyond which a number is a mistake, and anomalies that are reported and kept.

use super::identity::record_ms;
use crate::hive::is_nameable;
use crate::ledger::Reason;
use crate::numbers::Comparand;
use crate::record::SummaryRow;
use crate::record::anomaly::Anomaly;
use crate::record::row::{JobRow, NODE_LIST_BYTES};
use crate::reference::inventory::{Gpus, InventoryRow};
use crate::schema::batch::addend;
use crate::sources::dialect::Dialect;
use crate::time::DAY_MS;

/// No job holds this many cores, nodes or GPUs, runs this long (ms), holds this many of them for this long (s) or uses
/// this much CPU (ms): beyond it a number is a mistake. Ten million cores come to as much in 28 hours. What jobs within these
/// limits come to fits 63 bits or is refused (see `summarise::budget`).
const COUNT_LIMIT: i64 = 100_000_000;
const WALL_LIMIT_MS: i64 = 10_000_000_000_000;
const HELD_LIMIT_S: i64 = 1_000_000_000_000;
const CPU_LIMIT_MS: i64 = 1000 * HELD_LIMIT_S;
/// Billing units are finer than cores: a job of as many bytes may be billed by each.
const BILLED_LIMIT_S: i64 = 100_000_000_000_000;
/// No reservation holds this many cores, nodes or GPUs for this long (s): ten million cores for 11 days.
const RESERVED_LIMIT_S: i64 = 10_000_000_000_000;
/// Jobs that run and are suspended no longer (ms) with no more of each resource are within all of these limits.
const USUAL_WALL_MS: i64 = 3_000_000_000;
const USUAL_COUNT: i64 = 1 << 17;
const _: () = assert!(2 * (USUAL_WALL_MS / 1000) * USUAL_COUNT <= HELD_LIMIT_S);
/// No core has this score in any benchmark, in thousandths.
const SCORE_LIMIT_MILLI: i64 = 1_000_000_000;
/// No summary has this many jobs, holds as much for as long (s), has this much time (ms), or this much work.
const SUMMED_HELD_LIMIT_S: i64 = 100_000_000_000_000;
const SUMMED_LIMIT_MS: i64 = 1000 * SUMMED_HELD_LIMIT_S;
const SUMMED_JOB_LIMIT: i64 = 1_000_000_000_000;
const WORK_LIMIT_S: i64 = 1_000_000_000_000_000_000;
/// Jobs are between 1970 and 2200; anything else is a broken clock.
const TIME_LIMIT_MS: std::ops::Range<i64> = 0..7_258_118_400_000;
/// What the names of a job come to, bytes, as its list of nodes: 65 536 rows are held at once.
const TEXT_LIMIT: usize = NODE_LIST_BYTES;
/// The names of a job and the models of its GPUs, which are parts of its row next to one another: a row of so many bytes is within the limit.
const SHORT_ROW_BYTES: usize = TEXT_LIMIT / 23;
/// 2^64 nanoseconds in milliseconds: where a wrapped counter lands.
const COUNTER_WRAP_MS: i64 = 18_446_744_073_000;

/// The instant that places a job, and how long it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The instant that places its record, Unix milliseconds.
    pub record_ms: i64,
    /// Elapsed wall-clock time, milliseconds.
    pub wall_ms: i64,
}

/// The instant that places a job of a dialect, or the reason to refuse it with a sentence: nothing places it, its times are
/// outside the years of jobs, or its numbers are beyond what any job has.
///
/// # Errors
/// The reason, and what is wrong.
pub fn place(dialect: Dialect, row: &JobRow<'_>) -> Result<Placement, (Reason, &'static str)> {
    let Some(record_ms) = record_ms(dialect, row) else {
        return Err((Reason::TimeUnknown, "no start, submit or end time places the record"));
    };
    let is_dated = |ms: Option<i64>| ms.is_none_or(|ms| TIME_LIMIT_MS.contains(&ms));
    if !is_dated(Some(record_ms)) || !is_dated(row.start_ms) || !is_dated(row.end_ms) {
        return Err((Reason::BadTime, "a start or end before 1970 or after 2200"));
    }
    let wall_ms = settle_wall(row)?;
    match beyond_limits(row, wall_ms) {
        Some(detail) => Err((Reason::BadNumber, detail)),
        None => Ok(Placement { record_ms, wall_ms }),
    }
}

/// Refuses a site or VO whose name cannot be part of a folder name.
///
/// # Errors
/// The reason, and what is wrong.
pub fn check_names(site: Option<&str>, vo: Option<&str>) -> Result<(), (Reason, &'static str)> {
    let refused = |detail| Err((Reason::NameTooLong, detail));
    if site.is_some_and(|site| !is_nameable(site)) {
        refused("the name of the site is too long for a folder: more than 200 bytes once encoded")
    } else if vo.is_some_and(|vo| !is_nameable(vo)) {
        refused("the name of the VO is too long for a folder: more than 200 bytes once encoded")
    } else {
        Ok(())
    }
}

/// Refuses a job whose names are longer than those of any job: columns of as many rows as are held at once would not fit
/// Arrow's offsets of 31 bits.
///
/// # Errors
/// The reason, and what is wrong.
pub fn check_texts(row: &JobRow<'_>) -> Result<(), (Reason, &'static str)> {
    if row.row_byte_n.is_some_and(|byte_n| byte_n <= SHORT_ROW_BYTES) {
        return Ok(());
    }
    let bytes = |text: Option<&str>| text.map_or(0, str::len);
    // One by one, not as a list: every job passes here.
    let texts = row.job_id.len()
        + bytes(row.cluster)
        + bytes(row.submit_host)
        + bytes(row.raw_job_id)
        + bytes(row.global_job_id)
        + bytes(row.vo_name)
        + bytes(row.reportable_vo)
        + bytes(row.fqan)
        + bytes(row.vo_group)
        + bytes(row.vo_role)
        + bytes(row.account)
        + bytes(row.user)
        + bytes(row.user_group)
        + bytes(row.global_user)
        + bytes(row.partition)
        + bytes(row.qos)
        + bytes(row.wckey)
        + bytes(row.reservation)
        + bytes(row.infrastructure)
        + bytes(row.job_name)
        + bytes(row.state)
        + bytes(row.benchmark);
    let models: usize = row.gpus.iter().map(|(model, _)| model.len()).sum();
    let named = row.details.map_or(0, |details| {
        let named = details.burst_buffers.iter().chain(details.licenses);
        named.map(|(name, _)| name.len()).sum()
    });
    if texts + models + named > TEXT_LIMIT {
        Err((Reason::TooLong, "the names of the job come to more than 30 000 bytes"))
    } else {
        Ok(())
    }
}

/// The list of nodes of a job, `None` where it is longer than [`NODE_LIST_BYTES`].
pub(super) fn node_list_within_limit<'a>(row: &JobRow<'a>) -> Option<&'a str> {
    row.node_list.filter(|list| list.len() <= NODE_LIST_BYTES)
}

/// Wall time as stated, or the span without suspension; zero for a job that never started.
fn settle_wall(row: &JobRow<'_>) -> Result<i64, (Reason, &'static str)> {
    let wall_ms = match (row.wall_ms, row.start_ms, row.end_ms) {
        (Some(wall_ms), ..) => wall_ms,
        (None, Some(start), Some(end)) => (end - start).max(0) - addend(row.suspended_s).product_to_compare(1000),
        (None, None, _) => 0,
        (None, Some(_), None) => {
            let detail = "it started, but neither an end nor an elapsed time is known";
            return Err((Reason::TimeUnknown, detail));
        }
    };
    if wall_ms < 0 {
        Err((Reason::BadDuration, "the wall time is negative"))
    } else {
        Ok(wall_ms)
    }
}

/// Whether the numbers are those of nearly every job: far within every limit, which need not be looked at one by one.
fn is_usual(row: &JobRow<'_>, wall_ms: i64) -> bool {
    let is_within = |n: i64, most: i64| (0..=most).contains(&n);
    let bits_of_counts =
        addend(row.alloc_core_n) | addend(row.alloc_node_n) | addend(row.alloc_gpu_n) | addend(row.alloc_billing_n);
    is_within(wall_ms, USUAL_WALL_MS)
        && is_within(addend(row.suspended_s), USUAL_WALL_MS / 1000)
        // All four are below a power of two where their bits are.
        && is_within(bits_of_counts, USUAL_COUNT - 1)
        && is_within(addend(row.cpu_ms), CPU_LIMIT_MS)
        && row.gpus.is_empty()
        && row.scaled_wall_ms.is_none()
        && row.scaled_cpu_ms.is_none()
        && !row.benchmark_milli_per_core.is_some_and(is_no_score)
}

fn beyond_limits(row: &JobRow<'_>, wall_ms: i64) -> Option<&'static str> {
    if is_usual(row, wall_ms) {
        return None;
    }
    let count = |n: Option<i64>| n.is_some_and(|n| !(0..=COUNT_LIMIT).contains(&n));
    let held_s = wall_ms.div_euclid(1000).sum_to_compare(addend(row.suspended_s));
    let scaled_wall_ms = addend(row.scaled_wall_ms);
    let scaled_held_ms = scaled_wall_ms.product_to_compare(addend(row.alloc_core_n));
    let held = |n: Option<i64>, limit: i64| held_s.product_to_compare(addend(n)) > limit;
    if wall_ms > WALL_LIMIT_MS
        || row
            .suspended_s
            .is_some_and(|s| !(0..=WALL_LIMIT_MS / 1000).contains(&s))
    {
        Some("a wall or suspended time of more than 300 years")
    } else if row.scaled_wall_ms.is_some_and(|wall| wall > WALL_LIMIT_MS) {
        Some("a scaled wall time of more than 300 years")
    } else if scaled_held_ms > 1000 * HELD_LIMIT_S {
        Some("cores held for more than 30 000 years of scaled time in all")
    } else if [row.cpu_ms, row.scaled_cpu_ms]
        .into_iter()
        .flatten()
        .any(|cpu| cpu > CPU_LIMIT_MS)
    {
        Some("a CPU time of more than 30 000 years")
    } else if count(row.alloc_core_n) || count(row.alloc_node_n) || count(row.alloc_gpu_n) || count(row.alloc_billing_n)
    {
        Some("a number of cores, nodes, GPUs or billing units that is negative or above 100 million")
    } else if [row.alloc_core_n, row.alloc_node_n, row.alloc_gpu_n]
        .into_iter()
        .any(|n| held(n, HELD_LIMIT_S))
    {
        Some("cores, nodes or GPUs held for more than 30 000 years in all")
    } else if held(row.alloc_billing_n, BILLED_LIMIT_S) {
        Some("billing units held for more than 3 million years in all")
    } else if row.gpus.iter().any(|(_, n)| count(Some(*n))) {
        Some("a number of GPUs of one model that is negative or above 100 million")
    } else if row.benchmark_milli_per_core.is_some_and(is_no_score) {
        Some(NO_SCORE)
    } else {
        None
    }
}

const NO_SCORE: &str = "a benchmark score of a core that is negative or above one million";

fn is_no_score(milli: i64) -> bool {
    !(0..=SCORE_LIMIT_MILLI).contains(&milli)
}

/// Refuses a summary whose numbers are beyond what the jobs of any month come to.
///
/// # Errors
/// The reason, and what is wrong.
pub fn check_summary(row: &SummaryRow<'_>) -> Result<(), (Reason, &'static str)> {
    let beyond = |n: Option<i64>, limit: i64| n.is_some_and(|n| n.unsigned_abs() > limit.unsigned_abs());
    let wall_s = addend(row.wall_ms) / 1000;
    let held = |n: &Option<i64>| beyond(n.map(|n| wall_s.product_to_compare(n)), SUMMED_HELD_LIMIT_S);
    let counts = [row.alloc_core_n, row.alloc_node_n, row.alloc_gpu_n];
    let work_held_s = row
        .normalised_wall_s
        .map(|work_s| work_s.product_to_compare(addend(row.alloc_core_n)));
    let is_beyond = beyond(row.job_n, SUMMED_JOB_LIMIT)
        || beyond(row.wall_ms, SUMMED_LIMIT_MS)
        || beyond(row.cpu_ms, SUMMED_LIMIT_MS)
        || beyond(row.normalised_wall_s, WORK_LIMIT_S)
        || beyond(row.normalised_cpu_s, WORK_LIMIT_S)
        || beyond(work_held_s, WORK_LIMIT_S)
        || counts.iter().any(|n| beyond(*n, COUNT_LIMIT) || held(n));
    let ends = [row.earliest_end_ms, row.latest_end_ms];
    if is_beyond {
        let detail = "jobs, times, cores or work beyond what the jobs of any month come to";
        Err((Reason::BadNumber, detail))
    } else if row.benchmark_milli_per_core.is_some_and(is_no_score) {
        Err((Reason::BadNumber, NO_SCORE))
    } else if ends.into_iter().flatten().any(|ms| !TIME_LIMIT_MS.contains(&ms)) {
        Err((Reason::BadTime, "an earliest or latest end before 1970 or after 2200"))
    } else {
        Ok(())
    }
}

/// Refuses a node or a reservation whose numbers are beyond what any machine has.
///
/// # Errors
/// The reason, and what is wrong.
pub fn check_inventory(row: &InventoryRow) -> Result<(), (Reason, &'static str)> {
    let beyond = |n: Option<i64>| n.is_some_and(|n| !(0..=COUNT_LIMIT).contains(&n));
    match row {
        InventoryRow::Node(node) => {
            let gpu_n = node.gpus.as_ref().map(Gpus::device_n);
            if [node.cpu_n, node.effective_cpu_n, gpu_n].into_iter().any(beyond) {
                let detail = "a node with a number of CPUs or GPUs that is negative or above 100 million";
                return Err((Reason::BadNumber, detail));
            }
        }
        InventoryRow::Reservation(window) => {
            if !TIME_LIMIT_MS.contains(&window.start_ms) || !TIME_LIMIT_MS.contains(&window.end_ms) {
                let detail = "a reservation that begins or ends before 1970 or after 2200";
                return Err((Reason::BadTime, detail));
            }
            let gpu_n = window.gpus.as_ref().map(Gpus::device_n);
            let counts = [window.node_n, window.core_n, gpu_n];
            let span_s = (window.end_ms - window.start_ms).div_euclid(1000);
            let held = |n: &Option<i64>| n.is_some_and(|n| span_s.product_to_compare(n) > RESERVED_LIMIT_S);
            if counts.into_iter().any(beyond) || counts.iter().any(held) {
                let detail =
                    "a reservation of more cores, nodes or GPUs, or of more of their time, than any machine has";
                return Err((Reason::BadNumber, detail));
            }
        }
        InventoryRow::QueuedJob(job) => {
            let times = [job.submit_ms, job.eligible_ms, job.accrue_ms];
            if times.into_iter().flatten().any(|ms| !TIME_LIMIT_MS.contains(&ms)) {
                let detail = "a job that was submitted, or may start, before 1970 or after 2200";
                return Err((Reason::BadTime, detail));
            }
            let gpu_n = job.gpus.as_ref().map(Gpus::device_n);
            if [job.min_node_n, job.max_node_n, job.cpu_n, gpu_n]
                .into_iter()
                .any(beyond)
            {
                let detail = "a job that waits for more nodes, CPUs or GPUs than any machine has";
                return Err((Reason::BadNumber, detail));
            }
        }
        InventoryRow::Event(_)
        | InventoryRow::Partition(_)
        | InventoryRow::Association(_)
        | InventoryRow::Qos(_)
        | InventoryRow::Share(_)
        | InventoryRow::Setting(_) => {}
    }
    Ok(())
}

pub(super) fn anomalies_of(row: &JobRow<'_>, wall_ms: i64) -> u32 {
    let mut bits = 0;
    let mut flag = |when: bool, anomaly: Anomaly| {
        if when {
            bits |= anomaly.bit();
        }
    };
    let core_n = addend(row.alloc_core_n);
    let core_wall_ms = wall_ms.product_to_compare(core_n);
    if let Some(cpu_ms) = row.cpu_ms {
        flag(
            core_n > 0 && cpu_ms > core_wall_ms.sum_to_compare(core_wall_ms / 10).sum_to_compare(60_000),
            Anomaly::CpuAboveCoreWall,
        );
        flag(
            core_n >= 2 && wall_ms >= 60_000 && cpu_ms == core_wall_ms,
            Anomaly::CpuEqualsCoreWall,
        );
        flag(cpu_ms >= COUNTER_WRAP_MS, Anomaly::CpuCounterWrap);
    }
    flag(row.cpu_ms.is_none() && wall_ms > 0, Anomaly::CpuUnknown);
    flag(core_n == 0 && wall_ms > 0, Anomaly::CoreUnknown);
    if let Some(start) = row.start_ms {
        flag((0..DAY_MS).contains(&start), Anomaly::EpochStart);
        if let Some(end) = row.end_ms {
            flag(end < start, Anomaly::EndBeforeStart);
            let held_ms = wall_ms.sum_to_compare(addend(row.suspended_s).product_to_compare(1000));
            flag(
                (end.difference_to_compare(start)).abs_diff(held_ms) > 1000,
                Anomaly::WallUnlikeSpan,
            );
        }
    }
    bits
}
