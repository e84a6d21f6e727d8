//! All methods over the same jobs, each schedule held by the verifier.

use super::question::{MeasuredTime, SimulationInput, SimulationQuestion};
use crate::error::{Error, Result};
use crate::numbers::count_u64;
use crate::simulate::engine::simulate;
use crate::simulate::metrics::{AbnormalRule, Interval, Measures, measure};
use crate::simulate::replay::{Likeness, likeness, recorded};
use crate::simulate::schedule::Schedule;
use crate::simulate::verify::{Violation, placements, verify};
use crate::simulate::window::method::Method;

/// What one method, or the machine as it was, came to.
#[derive(Clone, Debug)]
pub struct MethodRun {
    /// Its word: that of the method, or `recorded`.
    pub word: &'static str,
    /// Its schedule.
    pub schedule: Schedule,
    /// What it is measured by.
    pub measures: Measures,
    /// How alike its starts are to the recorded ones, where all are known.
    pub likeness: Option<Likeness>,
}

/// The methods over the jobs of a log.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The jobs and the machine.
    pub input: SimulationInput,
    /// What was recorded, where the log states it of all jobs; then the methods in their order.
    pub runs: Vec<MethodRun>,
    /// Which jobs do not count in the mean slowdown.
    pub abnormal: AbnormalRule,
}

impl Simulation {
    /// Simulates all methods, in parallel: what they come to does not depend on it.
    ///
    /// # Errors
    /// As [`simulate`]; [`crate::error::Kind::Internal`] when a schedule does not verify.
    pub fn new(question: &SimulationQuestion, mut input: SimulationInput) -> Result<Self> {
        let schedules = schedules(question, &input)?;
        let abnormal = AbnormalRule::default();
        let jobs = &input.trace.jobs;
        let inner = match question.measured {
            MeasuredTime::Whole => None,
            MeasuredTime::Inner => Interval::without_half_months(jobs),
        };
        if question.measured == MeasuredTime::Inner && inner.is_none() {
            let why = "the submissions span less than 45 days: the whole time is measured";
            input.notes.push(why.to_owned());
        }
        let before = recorded(jobs);
        let is_recorded = before.without_n == 0;
        if is_recorded {
            note_replay(&input.trace.jobs, &input.machine, &before.schedule, &mut input.notes);
        } else {
            input.notes.push(format!(
                "{} jobs have no recorded start: the schedules are not compared with it",
                before.without_n
            ));
        }
        let jobs = &input.trace.jobs;
        let named = question.methods.iter().map(|method| method.word()).zip(schedules);
        let past = is_recorded.then(|| ("recorded", before.schedule.clone()));
        let runs = past.into_iter().chain(named).map(|(word, schedule)| {
            // Fallback: a log too short to be trimmed is measured as a whole, and that is noted.
            let interval = inner.unwrap_or_else(|| Interval::whole(jobs, &schedule));
            MethodRun {
                word,
                measures: measure(jobs, &input.machine, &schedule, interval, &abnormal),
                likeness: is_recorded.then(|| likeness(&before.schedule, &schedule)),
                schedule,
            }
        });
        Ok(Self {
            runs: runs.collect(),
            input,
            abnormal,
        })
    }
}

/// The schedule of each method.
fn schedules(question: &SimulationQuestion, input: &SimulationInput) -> Result<Vec<Schedule>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (question.methods.iter())
            .map(|method| scope.spawn(|| verified(question, input, *method)))
            .collect();
        let results = threads.into_iter().map(|thread| {
            let gone = |_| Error::internal("the thread of a simulation ended without a schedule");
            thread.join().map_err(gone)?
        });
        results.collect()
    })
}

fn verified(question: &SimulationQuestion, input: &SimulationInput, method: Method) -> Result<Schedule> {
    let jobs = &input.trace.jobs;
    let schedule = simulate(jobs, &input.machine, &question.settings(method, &input.machine))?;
    let found = verify(jobs, &input.machine, &placements(jobs, &schedule));
    let waiting_n = schedule.starts.iter().filter(|start| start.is_none()).count();
    let mut wrong = found
        .violations
        .iter()
        .filter(|one| !matches!(one, Violation::NeverStarts(_)));
    match wrong.next() {
        Some(first) => {
            Err(Error::internal(format!("the schedule does not verify: {first:?}")).at("method", method.word()))
        }
        None if waiting_n > 0 && found.violations.is_empty() => {
            Err(Error::internal("jobs without a start were not found"))
        }
        None => Ok(schedule),
    }
}

/// Recorded starts exceed the machine where it was larger, or jobs shared what is counted here as theirs alone.
fn note_replay(
    jobs: &[crate::simulate::job::Job],
    machine: &crate::simulate::machine::Machine,
    schedule: &Schedule,
    notes: &mut Vec<String>,
) {
    let found = verify(jobs, machine, &placements(jobs, schedule));
    let is_over = |violation: &&Violation| matches!(violation, Violation::OverCapacity { .. });
    let over_n = count_u64(found.violations.iter().filter(is_over).count());
    let peak = |at: usize| {
        let kind = machine.kinds().get(at)?;
        Some(format!("{} of {} {}", found.peak.get(at), kind.capacity, kind.name))
    };
    let kinds = 0..machine.kinds().len();
    let is_exceeded = |at: &usize| found.peak.get(*at) > machine.capacity().get(*at);
    notes.push(if over_n == 0 {
        let peaks: Vec<String> = kinds.filter_map(peak).collect();
        format!(
            "the recorded starts fit on the machine: at most {} were in use",
            peaks.join(", ")
        )
    } else {
        let peaks: Vec<String> = kinds.filter(is_exceeded).filter_map(peak).collect();
        format!(
            "the recorded starts exceed the machine {over_n} times, with up to {}: the machine was larger, or what is \
             simulated is not what limited it",
            peaks.join(", ")
        )
    });
    let other_n = count_u64(found.violations.len()) - over_n;
    if other_n > 0 {
        notes.push(format!(
            "{other_n} recorded starts contradict their own jobs in another way"
        ));
    }
}
