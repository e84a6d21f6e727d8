//! A simulated schedule: when each job starts, and why then.

use super::job::Job;

/// Why a job could start in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StartReason {
    /// It was the first waiting job, and there was enough.
    InOrder,
    /// It was chosen from the window.
    Chosen,
    /// It had waited in the window for as long as the bound allows.
    Forced,
    /// It fitted without a delay for those with a reservation.
    Backfilled,
    /// It started as recorded.
    Recorded,
}

impl StartReason {
    /// The word of tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::InOrder => "in_order",
            Self::Chosen => "chosen",
            Self::Forced => "forced",
            Self::Backfilled => "backfilled",
            Self::Recorded => "recorded",
        }
    }
}

/// When a job starts, and why then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// When it starts.
    pub start_s: i64,
    /// The pass of the scheduler it starts in, the first is 1.
    pub pass: u32,
    /// Why it starts in that pass.
    pub reason: StartReason,
    /// The place of the first job that is still waiting when it starts, where there is one.
    pub head: Option<u32>,
    /// How many nodes with the large local storage it takes.
    pub large_node_n: i64,
}

/// A schedule of a list of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// A start for each job, in the order of the list; none for a job that waits for another that never ends.
    pub starts: Vec<Option<Start>>,
    /// How many passes the scheduler made.
    pub pass_n: u32,
    /// How many windows were solved, and by what.
    pub solved: SolverCounts,
}

/// How many windows were solved by which means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolverCounts {
    /// No job of the window fitted, or all did.
    pub trivial_n: u64,
    /// By depth-first search.
    pub depth_first_n: u64,
    /// By sums of subsets.
    pub subset_sums_n: u64,
    /// By the genetic algorithm.
    pub genetic_n: u64,
    /// Greedily, without a search.
    pub greedy_n: u64,
    /// Of those by the genetic algorithm the ones whose exact solution took more than the budget.
    pub over_budget_n: u64,
}

impl SolverCounts {
    /// Windows that were searched.
    #[must_use]
    pub fn searched_n(&self) -> u64 {
        self.depth_first_n + self.subset_sums_n + self.genetic_n
    }
}

/// A job with its start.
#[derive(Clone, Copy, Debug)]
pub struct StartedJob<'a> {
    /// The job.
    pub job: &'a Job,
    /// Its start.
    pub start: &'a Start,
}

impl StartedJob<'_> {
    /// When it ends.
    #[must_use]
    pub fn end_s(&self) -> i64 {
        self.start.start_s + self.job.run_s
    }

    /// How long it waits.
    #[must_use]
    pub fn wait_s(&self) -> i64 {
        self.start.start_s - self.job.submit_s
    }
}

impl Schedule {
    /// The jobs that start, in the order of the list.
    pub fn started<'a>(&'a self, jobs: &'a [Job]) -> impl Iterator<Item = StartedJob<'a>> {
        let pairs = jobs.iter().zip(&self.starts);
        pairs.filter_map(|(job, start)| start.as_ref().map(|start| StartedJob { job, start }))
    }
}
