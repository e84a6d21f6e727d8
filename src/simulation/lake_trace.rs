//! Records of a lake as the jobs of a trace, and what became of those that are none.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::lake_dependencies::{FoundDependencies, wait_for_others};
use super::lake_kind::LakeKind;
use super::lake_rows::{JobOwner, LakeRow, LakeRows};
use super::reserved_jobs::{is_begin, stated_reservation};
use crate::error::Result;
use crate::numbers::count_u64;
use crate::runtime::column::{Column, ColumnBudget, ColumnReader, ColumnWriter};
use crate::runtime::column_value::{ByteFields, ColumnValue, encode_known};
use crate::runtime::sorter::Sorter;
use crate::simulate::demand::Demand;
use crate::simulate::job::{Job, JobEnd};
use crate::simulate::jobs::JobSorter;
use crate::simulate::reserved_pool::ReservedPool;
use crate::simulate::trace::{Trace, TraceChange, TraceReason};
use crate::simulate::trace_change::JobChanges;

/// What a lake knows of a job that a scheduler does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LakeJob {
    /// Number of the job in the trace.
    pub id: i64,
    /// When it is submitted in the trace.
    pub submit_s: i64,
    /// Name of the job.
    pub job_id: String,
    /// Identity of its record.
    pub record_id: u128,
    /// Account.
    pub account: Option<String>,
    /// VO.
    pub vo: Option<String>,
    /// User, partition and QOS.
    pub owner: JobOwner,
    /// Nodes it had.
    pub node_n: Option<i64>,
    /// What it held, in the order of the resources followed of nodes.
    pub held: Vec<i64>,
    /// Energy it used, joules.
    pub energy_j: Option<i64>,
}

/// The jobs of a lake.
#[derive(Clone, Debug, Default)]
pub struct LakeJobs {
    /// Those that are simulated or never fit, by submission and number.
    jobs: Column<LakeJob>,
}

/// Places after the last one that are looked at before all are searched.
const NEAR_N: usize = 16;

impl LakeJobs {
    /// The job of a number. Who needs many takes a [`Self::reader`].
    #[must_use]
    pub fn of(&self, id: i64) -> Option<LakeJob> {
        self.jobs.iter().find(|job| job.id == id)
    }

    /// The numbers of the jobs of a name.
    #[must_use]
    pub fn ids(&self, job_id: &str) -> BTreeSet<i64> {
        let named = self.jobs.iter().filter(|job| job.job_id == job_id);
        named.map(|job| job.id).collect()
    }

    /// Finds jobs of the trace, in its order faster than in any.
    #[must_use]
    pub fn reader(&self) -> LakeJobReader<'_> {
        LakeJobReader {
            jobs: self.jobs.reader(),
            job_n: self.jobs.len(),
            next: 0,
        }
    }
}

/// Finds what a lake knows of jobs.
#[derive(Debug)]
pub struct LakeJobReader<'a> {
    jobs: ColumnReader<'a, LakeJob>,
    job_n: usize,
    next: usize,
}

impl LakeJobReader<'_> {
    /// What the lake knows of a job of the trace.
    pub fn of(&mut self, job: &Job) -> Option<&LakeJob> {
        let wanted = [job.submit_s, job.id];
        let mut place = self.next;
        while place < self.next + NEAR_N && self.key(place).is_some_and(|key| key < wanted) {
            place += 1;
        }
        if self.key(place) != Some(wanted) {
            let (mut from, mut until) = (0, self.job_n);
            while from < until {
                let middle = from.midpoint(until);
                if self.key(middle).is_some_and(|key| key < wanted) {
                    from = middle + 1;
                } else {
                    until = middle;
                }
            }
            place = from;
        }
        self.next = place;
        self.jobs.get(place).filter(|found| found.id == job.id)
    }

    /// By what jobs are sorted.
    fn key(&mut self, place: usize) -> Option<[i64; 2]> {
        self.jobs.get(place).map(|job| [job.submit_s, job.id])
    }
}

/// A trace of a lake.
#[derive(Clone, Debug)]
pub struct LakeTrace {
    /// The jobs as a scheduler sees them.
    pub trace: Trace,
    /// What else is known of them.
    pub jobs: LakeJobs,
    /// How many of them wait for others.
    pub waiting_n: u64,
}

/// The jobs of records, with amounts of these kinds, in these reservations; `None` where none is simulated. Jobs have the numbers
/// they have in the lake if all have different ones, else their place by submission and name.
///
/// # Errors
/// As [`Trace::with_jobs`].
pub fn lake_trace(rows: &LakeRows, kinds: &[LakeKind], reservations: Option<&[ReservedPool]>) -> Result<LakeTrace> {
    let mut trace = Trace {
        read_n: rows.read_n(),
        ..Trace::default()
    };
    trace.leave_out(TraceReason::OtherView, rows.other_view_n);
    trace.leave_out(TraceReason::OutsidePeriod, rows.outside_n);
    let budget = rows.rows.budget();
    let (mut sorter, mut numbers) = (Sorter::new(budget), JobNumbering::new(budget.part()));
    let mut has_dependency = false;
    for row in &rows.rows {
        match job(&row, kinds, reservations) {
            Ok(mut job) => {
                if let Some(pools) = reservations {
                    job.reservation = stated_reservation(&row, &mut job, pools);
                }
                let number = row.job_id.parse::<i64>().ok();
                numbers.push(number)?;
                has_dependency |= row.dependency.is_some();
                sorter.push(KeptRow { row, number, job })?;
            }
            Err(reason) => trace.leave_out(reason, 1),
        }
    }
    let has_own = numbers.are_different()?;
    let numbered = sorter.finish()?.zip(1..).map(|(mut kept, place)| {
        // Fallback: jobs whose names are no different numbers are counted.
        kept.job.id = kept.number.filter(|_| has_own).unwrap_or(place);
        kept
    });
    let kept = Column::of(numbered, budget)?;
    let mut found = if has_dependency {
        wait_for_others(&kept)
    } else {
        FoundDependencies::default()
    };
    let waiting_n = count_u64(found.after.len());
    let (mut jobs, mut own) = (JobSorter::new(budget), ColumnWriter::new(budget));
    for (place, KeptRow { row, job, .. }) in (0_u32..).zip(&kept) {
        own.push(LakeJob {
            id: job.id,
            submit_s: job.submit_s,
            job_id: row.job_id,
            record_id: row.record_id,
            account: row.account,
            vo: row.vo,
            owner: row.owner,
            node_n: row.node_n,
            held: row.held,
            energy_j: row.energy_j,
        })?;
        let mut changes = job.changes;
        for change in found.changes.get(&place).into_iter().flatten() {
            changes.add(*change);
        }
        jobs.push(Job {
            // Fallback: most jobs wait for no other.
            after: found.after.remove(&place).unwrap_or_default(),
            changes,
            ..job
        })?;
    }
    Ok(LakeTrace {
        trace: trace.with_jobs(jobs)?,
        jobs: LakeJobs { jobs: own.finish()? },
        waiting_n,
    })
}

/// Whether the names of jobs are different numbers.
struct JobNumbering {
    numbers: Sorter<i64>,
    are_numbers: bool,
}

impl JobNumbering {
    fn new(budget: ColumnBudget) -> Self {
        Self {
            numbers: Sorter::new(budget),
            are_numbers: true,
        }
    }

    fn push(&mut self, number: Option<i64>) -> Result<()> {
        let Some(number) = number else {
            self.are_numbers = false;
            return Ok(());
        };
        self.numbers.push(number)
    }

    fn are_different(self) -> Result<bool> {
        if !self.are_numbers {
            return Ok(false);
        }
        let mut before = None;
        let mut numbers = self.numbers.finish()?;
        Ok(numbers.all(|number| before.replace(number) != Some(number)))
    }
}

/// A record with its job.
#[derive(Clone, Debug)]
pub(super) struct KeptRow {
    pub(super) row: LakeRow,
    /// Its name, where that is a number.
    number: Option<i64>,
    pub(super) job: Job,
}

impl KeptRow {
    fn order(&self) -> impl Ord + '_ {
        // Fallback: names that are no numbers come after those that are.
        let number = self.number.unwrap_or(i64::MAX);
        (self.job.submit_s, number, &self.row.job_id, self.row.record_id)
    }
}

impl Ord for KeptRow {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for KeptRow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for KeptRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for KeptRow {}

impl ColumnValue for KeptRow {
    fn encode(&self, bytes: &mut Vec<u8>) {
        self.row.encode(bytes);
        encode_known(self.number, bytes);
        self.job.encode(bytes);
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        Self {
            row: LakeRow::decode(bytes),
            number: bytes.known(),
            job: Job::decode(bytes),
        }
    }

    fn memory_byte_n(&self) -> usize {
        size_of::<Self>() + self.row.memory_byte_n()
    }
}

/// The job of a record, or why it is none.
fn job(
    row: &LakeRow,
    kinds: &[LakeKind],
    reservations: Option<&[ReservedPool]>,
) -> std::result::Result<Job, TraceReason> {
    let is_cancelled = row.state.as_deref().is_some_and(|state| state.starts_with("CANCELLED"));
    let unstarted = if is_cancelled {
        TraceReason::CancelledWaiting
    } else {
        TraceReason::DidNotRun
    };
    let start_s = row.start_s.ok_or(unstarted)?;
    let end_s = row.end_s.ok_or(TraceReason::NoEnd)?;
    let run_s = end_s - start_s;
    if run_s <= 0 {
        return Err(unstarted);
    }
    if !LakeKind::is_counted(kinds, row) {
        return Err(TraceReason::NoProcessors);
    }
    let mut changes = JobChanges::default();
    let mut amounts = Vec::with_capacity(kinds.len());
    for kind in kinds {
        let amount = kind.of_row(row);
        match (amount, kind) {
            (None, LakeKind::Nodes) => changes.add(TraceChange::NoNodes),
            (None, LakeKind::Memory) => changes.add(TraceChange::NoMemory),
            (_, LakeKind::Model(_)) if row.unstated_model_n > 0 => changes.add(TraceChange::NoGpuModel),
            _ => {}
        }
        amounts.push(crate::schema::batch::addend(amount));
    }
    if kinds.contains(&LakeKind::Cores) && row.core_n.is_none_or(|n| n <= 0) {
        changes.add(TraceChange::RequestedCores);
    }
    let submitted_s = if let Some(submit_s) = row.submit_s {
        submit_s.min(start_s)
    } else {
        changes.add(TraceChange::NoSubmission);
        start_s
    };
    let waited_for_reservation = |at_s: &i64| reservations.is_some_and(|pools| is_begin(row, *at_s, pools));
    let held_s = row
        .eligible_s
        .filter(|eligible_s| *eligible_s > submitted_s && *eligible_s <= start_s)
        .filter(|eligible_s| !waited_for_reservation(eligible_s));
    if held_s.is_some() {
        changes.add(TraceChange::HeldUntilEligible);
    }
    let limit_s = match row.limit_s {
        None => {
            changes.add(TraceChange::NoLimit);
            run_s
        }
        Some(limit_s) if limit_s < run_s => {
            changes.add(TraceChange::LimitRaised);
            run_s
        }
        Some(limit_s) => limit_s,
    };
    // Fallback: a job that nothing held is submitted when it was.
    let submit_s = held_s.unwrap_or(submitted_s);
    Ok(Job {
        recorded_start_s: Some(start_s),
        changes,
        ended: ended(row.state.as_deref()),
        ..Job::new(0, submit_s, run_s, limit_s, Demand::of(&amounts))
    })
}

fn ended(state: Option<&str>) -> JobEnd {
    match state {
        Some("COMPLETED") => JobEnd::Completed,
        Some(state) if state.starts_with("CANCELLED") => JobEnd::Cancelled,
        Some(_) => JobEnd::Failed,
        None => JobEnd::Unknown,
    }
}
