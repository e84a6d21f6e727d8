//! Records of a lake as the jobs of a trace, and what became of those that are none.

use super::lake_dependencies::wait_for_others;
use super::lake_kind::LakeKind;
use super::lake_rows::{JobOwner, LakeRow, LakeRows};
use crate::error::Result;
use crate::simulate::demand::Demand;
use crate::runtime::column::ColumnBudget;
use crate::simulate::job::{Job, JobEnd};
use crate::simulate::jobs::JobSorter;
use crate::simulate::trace::{Trace, TraceChange, TraceReason};

/// What a lake knows of a job that a scheduler does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LakeJob {
    /// Number of the job in the trace.
    pub id: i64,
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
    /// Those that are simulated or never fit, by number.
    pub jobs: Vec<LakeJob>,
}

impl LakeJobs {
    /// The job of a number.
    #[must_use]
    pub fn of(&self, id: i64) -> Option<&LakeJob> {
        let place = self.jobs.partition_point(|job| job.id < id);
        self.jobs.get(place).filter(|job| job.id == id)
    }

    /// The number of the first job of a name.
    #[must_use]
    pub fn id(&self, job_id: &str) -> Option<i64> {
        self.jobs.iter().find(|job| job.job_id == job_id).map(|job| job.id)
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

/// The jobs of records, with amounts of these kinds. Jobs have the numbers they have in the lake if all have different ones,
/// else their place by submission and name.
///
/// # Errors
/// As [`Trace::with_jobs`].
pub fn lake_trace(rows: &LakeRows, kinds: &[LakeKind]) -> Result<LakeTrace> {
    let mut trace = Trace {
        read_n: rows.read_n(),
        ..Trace::default()
    };
    trace.leave_out(TraceReason::OtherView, rows.other_view_n);
    trace.leave_out(TraceReason::OutsidePeriod, rows.outside_n);
    let mut kept: Vec<KeptRow<'_>> = Vec::with_capacity(rows.rows.len());
    for row in &rows.rows {
        match job(row, kinds, &mut trace) {
            Ok(job) => kept.push(KeptRow { row, job }),
            Err(reason) => trace.leave_out(reason, 1),
        }
    }
    kept.sort_by(|a, b| a.order().cmp(&b.order()));
    number(&mut kept);
    let mut jobs: Vec<LakeJob> = kept.iter().map(KeptRow::lake_job).collect();
    jobs.sort_by_key(|job| job.id);
    let (rows, mut of_rows): (Vec<&LakeRow>, Vec<Job>) = kept.into_iter().map(|kept| (kept.row, kept.job)).unzip();
    let waiting_n = wait_for_others(&rows, &mut of_rows, &mut trace);
    let mut sorter = JobSorter::new(ColumnBudget::default());
    for job in of_rows {
        sorter.push(job)?;
    }
    Ok(LakeTrace {
        trace: trace.with_jobs(sorter)?,
        jobs: LakeJobs { jobs },
        waiting_n,
    })
}

/// A record with its job.
struct KeptRow<'a> {
    row: &'a LakeRow,
    job: Job,
}

impl KeptRow<'_> {
    fn order(&self) -> impl Ord + use<'_> {
        let number = self.row.job_id.parse::<i64>();
        // Fallback: names that are no numbers come after those that are.
        let number = number.unwrap_or(i64::MAX);
        (self.job.submit_s, number, &self.row.job_id, self.row.record_id)
    }

    fn lake_job(&self) -> LakeJob {
        LakeJob {
            id: self.job.id,
            job_id: self.row.job_id.clone(),
            record_id: self.row.record_id,
            account: self.row.account.clone(),
            vo: self.row.vo.clone(),
            owner: self.row.owner.clone(),
            node_n: self.row.node_n,
            held: self.row.held.clone(),
            energy_j: self.row.energy_j,
        }
    }
}

fn number(kept: &mut [KeptRow<'_>]) {
    let numbers: Option<Vec<i64>> = kept.iter().map(|kept| kept.row.job_id.parse().ok()).collect();
    let own = numbers.filter(|numbers| {
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair.first() != pair.last())
    });
    for (at, kept) in kept.iter_mut().enumerate() {
        let own = own.as_ref().and_then(|numbers| numbers.get(at)).copied();
        // Fallback: jobs whose names are no different numbers are counted.
        kept.job.id = own.unwrap_or_else(|| crate::numbers::count_i64(at + 1));
    }
}

/// The job of a record, or why it is none.
fn job(row: &LakeRow, kinds: &[LakeKind], trace: &mut Trace) -> std::result::Result<Job, TraceReason> {
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
    let mut amounts = Vec::with_capacity(kinds.len());
    for (at, kind) in kinds.iter().enumerate() {
        let amount = kind.of_row(row);
        match (amount, kind) {
            (None | Some(0), _) if at == 0 => return Err(TraceReason::NoProcessors),
            (None, LakeKind::Nodes) => trace.change(TraceChange::NoNodes),
            (None, LakeKind::Memory) => trace.change(TraceChange::NoMemory),
            _ => {}
        }
        amounts.push(crate::schema::batch::addend(amount));
    }
    if kinds.contains(&LakeKind::Cores) && row.core_n.is_none_or(|n| n <= 0) {
        trace.change(TraceChange::RequestedCores);
    }
    let submitted_s = if let Some(submit_s) = row.submit_s {
        submit_s.min(start_s)
    } else {
        trace.change(TraceChange::NoSubmission);
        start_s
    };
    let held_s = row
        .eligible_s
        .filter(|eligible_s| *eligible_s > submitted_s && *eligible_s <= start_s);
    if held_s.is_some() {
        trace.change(TraceChange::HeldUntilEligible);
    }
    let limit_s = match row.limit_s {
        None => {
            trace.change(TraceChange::NoLimit);
            run_s
        }
        Some(limit_s) if limit_s < run_s => {
            trace.change(TraceChange::LimitRaised);
            run_s
        }
        Some(limit_s) => limit_s,
    };
    // Fallback: a job that nothing held is submitted when it was.
    let submit_s = held_s.unwrap_or(submitted_s);
    Ok(Job {
        recorded_start_s: Some(start_s),
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
