//! A simulated schedule: when each job starts, and why then.

use super::job::Job;
use super::jobs::JobList;
use crate::error::Result;
use crate::numbers::index;
use crate::runtime::column::{Column, ColumnBudget, ColumnWriter};
use crate::runtime::column_value::{ByteFields, ColumnValue, encode_known};
use crate::runtime::sorter::Sorter;

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
    pub starts: Column<Option<Start>>,
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
#[derive(Clone, Debug)]
pub struct StartedJob {
    /// The job.
    pub job: Job,
    /// Its start.
    pub start: Start,
}

impl StartedJob {
    /// A job with its start: one that started as recorded runs as long as it did, beyond its limit as well.
    #[must_use]
    pub fn new(mut job: Job, start: Start) -> Self {
        if start.reason == StartReason::Recorded {
            job.run_s = job.ran_s();
        }
        Self { job, start }
    }

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
    pub fn started<'a>(&'a self, jobs: impl Into<JobList<'a>>) -> impl Iterator<Item = StartedJob> + 'a {
        let pairs = jobs.into().iter().zip(&self.starts);
        pairs.filter_map(|(job, start)| start.map(|start| StartedJob::new(job, start)))
    }
}

impl StartReason {
    const ALL: [Self; 5] = [
        Self::InOrder,
        Self::Chosen,
        Self::Forced,
        Self::Backfilled,
        Self::Recorded,
    ];
}

impl ColumnValue for Option<Start> {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.is_some()));
        let Some(start) = self else { return };
        let Start {
            start_s,
            pass,
            reason,
            head,
            large_node_n,
        } = start;
        bytes.extend_from_slice(&start_s.to_le_bytes());
        bytes.extend_from_slice(&pass.to_le_bytes());
        let reason = (0..).zip(StartReason::ALL).find(|(_, one)| one == reason);
        bytes.push(reason.map_or(0, |(place, _)| place));
        encode_known(head.map(i64::from), bytes);
        bytes.extend_from_slice(&large_node_n.to_le_bytes());
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        if bytes.byte() == 0 {
            return None;
        }
        let (start_s, pass, reason) = (bytes.signed(), bytes.number32(), usize::from(bytes.byte()));
        let (head, large_node_n) = (bytes.known(), bytes.signed());
        Some(Start {
            start_s,
            pass,
            reason: StartReason::ALL.get(reason).map_or(StartReason::InOrder, |one| *one),
            head: head.and_then(|head| u32::try_from(head).ok()),
            large_node_n,
        })
    }
}

/// A start with the place of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PlacedStart {
    place: u32,
    start: Start,
}

impl Ord for PlacedStart {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.place.cmp(&other.place)
    }
}

impl PartialOrd for PlacedStart {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl ColumnValue for PlacedStart {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.place.to_le_bytes());
        Some(self.start).encode(bytes);
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        let place = bytes.number32();
        let start = Option::decode(bytes);
        Self {
            place,
            start: start.map_or(Start::NEVER, |start| start),
        }
    }
}

impl Start {
    /// What stands where no start was encoded, which is never so.
    const NEVER: Self = Self {
        start_s: 0,
        pass: 0,
        reason: StartReason::InOrder,
        head: None,
        large_node_n: 0,
    };
}

/// The starts of a schedule, taken in the order of time. A job starts once.
#[derive(Debug)]
pub(super) struct StartSorter {
    starts: Sorter<PlacedStart>,
    budget: ColumnBudget,
}

impl StartSorter {
    pub(super) fn new(budget: ColumnBudget) -> Self {
        Self {
            starts: Sorter::new(budget),
            budget,
        }
    }

    /// The job at a place starts.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub(super) fn push(&mut self, place: u32, start: Start) -> Result<()> {
        self.starts.push(PlacedStart { place, start })
    }

    /// By place, of so many jobs.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub(super) fn finish(self, job_n: usize) -> Result<Column<Option<Start>>> {
        let mut column = ColumnWriter::new(self.budget);
        let mut written_n = 0;
        for PlacedStart { place, start } in self.starts.finish()? {
            while written_n < index(place) {
                column.push(None)?;
                written_n += 1;
            }
            column.push(Some(start))?;
            written_n += 1;
        }
        while written_n < job_n {
            column.push(None)?;
            written_n += 1;
        }
        column.finish()
    }
}
