//! The back-test: recorded starts held against the machine, and the schedule of the base policy against them.

use super::input::SimulationInput;
use crate::error::Result;
use crate::runtime::column::Column;
use crate::simulate::correlation::{pearson, spearman};
use crate::simulate::metrics::{AbnormalRule, ClassBy, Interval, JobMeasures, by_class, power_classes};
use crate::simulate::replay::{Recorded, likeness, started_in_both};
use crate::simulate::replay_check::{KindCheck, check};
use crate::simulate::schedule::Schedule;
use crate::simulate::verify::verify_schedule;

/// Recorded starts held against the machine.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// By kind of resource of the machine.
    pub kinds: Vec<KindCheck>,
    /// Jobs with a recorded start.
    pub job_n: u64,
    /// Jobs without one: they are not replayed.
    pub without_n: u64,
    /// Jobs that started before they were submitted or eligible, or before the job they wait for had ended.
    pub too_early_n: u64,
    /// When the first of the jobs was submitted.
    pub from_s: i64,
    /// When the last of them ended.
    pub until_s: i64,
}

impl Replay {
    /// Replays the recorded starts.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when those of many jobs cannot be put into a temporary file.
    pub fn of(input: &SimulationInput, recorded: &Recorded) -> Result<Self> {
        let jobs = &input.trace.jobs;
        let Interval { from_s, until_s } = Interval::whole(jobs, &recorded.schedule);
        let found = verify_schedule(jobs, &input.machine, &recorded.schedule)?;
        Ok(Self {
            kinds: check(jobs, &input.machine, &recorded.schedule)?,
            job_n: crate::numbers::count_u64(recorded.schedule.started(jobs).count()),
            without_n: recorded.without_n,
            too_early_n: found.too_early_n,
            from_s,
            until_s,
        })
    }

    /// How many times more was in use than there is, of any kind.
    #[must_use]
    pub fn beyond_n(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.beyond.time_n).sum()
    }
}

/// Jobs of a class, as they went and as the base policy has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackTestClass {
    /// Smallest size.
    pub from: i64,
    /// Largest size; none for the last class.
    pub to: Option<i64>,
    /// As they went.
    pub recorded: JobMeasures,
    /// As simulated.
    pub simulated: JobMeasures,
}

/// The schedule of the base policy against the recorded starts, over the jobs that have one.
#[derive(Clone, Debug, Default)]
pub struct BackTest {
    /// By size.
    pub classes: Vec<BackTestClass>,
    /// All jobs, as they went.
    pub recorded: JobMeasures,
    /// All jobs, as simulated.
    pub simulated: JobMeasures,
    /// Jobs that start in the recorded second.
    pub same_n: u64,
    /// Sum of the differences of starts without sign, seconds.
    pub apart_s: i128,
    /// Amount times seconds by kind, as it went.
    pub recorded_use: Vec<KindCheck>,
    /// The same as simulated.
    pub simulated_use: Vec<KindCheck>,
    /// Seconds from the first submission to the last end, as it went.
    pub recorded_span_s: i64,
    /// The same as simulated.
    pub simulated_span_s: i64,
    /// Pearson's coefficient of the starts.
    pub start_pearson: Option<f64>,
    /// Spearman's coefficient of the starts.
    pub start_spearman: Option<f64>,
    /// Pearson's coefficient of the waits.
    pub wait_pearson: Option<f64>,
    /// Spearman's coefficient of the waits.
    pub wait_spearman: Option<f64>,
}

impl BackTest {
    /// Compares; `None` when no job has a recorded start.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when times are too large to compare.
    pub fn of(input: &SimulationInput, recorded: &Schedule, simulated: &Schedule) -> Result<Option<Self>> {
        let jobs = &input.trace.jobs;
        // Jobs without a recorded start ran as well, and are not compared.
        let (recorded, simulated) = (
            started_in_both(recorded, simulated)?,
            started_in_both(simulated, recorded)?,
        );
        if recorded.starts.iter().all(|start| start.is_none()) {
            return Ok(None);
        }
        let rule = AbnormalRule::default();
        let (was, would) = (Interval::whole(jobs, &recorded), Interval::whole(jobs, &simulated));
        let upper = power_classes(input.machine.capacity().first());
        let by_size = |schedule, interval| by_class(jobs, schedule, interval, ClassBy::Amount(0), &upper, &rule);
        let pairs = by_size(&recorded, was).into_iter().zip(by_size(&simulated, would));
        let classes = pairs.map(|(was, would)| BackTestClass {
            from: was.from,
            to: was.to,
            recorded: was.jobs,
            simulated: would.jobs,
        });
        let classes: Vec<BackTestClass> = classes.filter(|class| class.recorded.job_n > 0).collect();
        let sum = |schedule: &Schedule| {
            let mut sum = JobMeasures::default();
            for started in schedule.started(jobs) {
                sum.add(&started, &rule);
            }
            sum
        };
        let starts = |schedule: &Schedule| {
            let starts = schedule.started(jobs).map(|started| started.start.start_s);
            Column::of(starts, schedule.starts.budget())
        };
        let waits = |schedule: &Schedule| {
            let waits = schedule.started(jobs).map(|started| started.wait_s());
            Column::of(waits, schedule.starts.budget())
        };
        let like = likeness(&recorded, &simulated);
        let (starts_was, starts_would) = (starts(&recorded)?, starts(&simulated)?);
        let (waits_was, waits_would) = (waits(&recorded)?, waits(&simulated)?);
        Ok(Some(Self {
            classes,
            recorded: sum(&recorded),
            simulated: sum(&simulated),
            same_n: like.same_n,
            apart_s: like.apart_s,
            recorded_use: check(jobs, &input.machine, &recorded)?,
            simulated_use: check(jobs, &input.machine, &simulated)?,
            recorded_span_s: was.length_s(),
            simulated_span_s: would.length_s(),
            start_pearson: pearson(&starts_was, &starts_would)?,
            start_spearman: spearman(&starts_was, &starts_would)?,
            wait_pearson: pearson(&waits_was, &waits_would)?,
            wait_spearman: spearman(&waits_was, &waits_would)?,
        }))
    }
}
