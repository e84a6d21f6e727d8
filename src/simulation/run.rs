//! All methods over the same jobs, each schedule held by the verifier.

use super::answers::Answers;
use super::back_test::{BackTest, Replay};
use super::input::SimulationInput;
use super::question::{MeasuredTime, SimulationQuestion};
use crate::error::{Error, Result};
use crate::numbers::count_u64;
use crate::runtime::pool;
use crate::simulate::engine::simulate;
use crate::simulate::metrics::{AbnormalRule, Interval, Measures, measure};
use crate::simulate::replay::{Likeness, likeness, recorded};
use crate::simulate::schedule::Schedule;
use crate::simulate::verify::verify_schedule;
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
    /// The recorded starts held against the machine.
    pub replay: Replay,
    /// The base policy against what happened; `None` where no start is recorded.
    pub back_test: Option<BackTest>,
    /// What the schedules come to, where that was asked of a lake.
    pub answers: Option<Answers>,
}

impl Simulation {
    /// Simulates all methods, in parallel: what they come to does not depend on it. The base policy is simulated for the
    /// back-test also where it is not among them.
    ///
    /// # Errors
    /// As [`simulate`]; [`crate::error::Kind::Internal`] when a schedule does not verify.
    pub fn new(question: &SimulationQuestion, mut input: SimulationInput) -> Result<Self> {
        let before = recorded(&input.trace.jobs)?;
        let replay = Replay::of(&input, &before)?;
        let base = (question.methods.iter()).position(|method| *method == Method::Baseline);
        let mut methods = question.methods.clone();
        if base.is_none() && replay.job_n > 0 {
            methods.push(Method::Baseline);
        }
        let mut schedules = schedules(question, &methods, &input)?;
        let last = schedules.len().checked_sub(1);
        let base = base.or(last).and_then(|place| schedules.get(place));
        let back_test = match base.filter(|_| replay.job_n > 0) {
            Some(base) => BackTest::of(&input, &before.schedule, base)?,
            None => None,
        };
        schedules.truncate(question.methods.len());
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
        let is_recorded = before.without_n == 0;
        note_replay(&replay, &mut input);
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
        let runs: Vec<MethodRun> = runs.collect();
        note_waiting(&runs, &mut input.notes);
        note_budget(&runs, &mut input.notes);
        Ok(Self {
            runs,
            input,
            abnormal,
            replay,
            back_test,
            answers: None,
        })
    }
}

/// The schedule of each method, as many at a time as there are processors.
fn schedules(question: &SimulationQuestion, methods: &[Method], input: &SimulationInput) -> Result<Vec<Schedule>> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    pool::each(methods, threads, |method| verified(question, input, *method))
}

fn verified(question: &SimulationQuestion, input: &SimulationInput, method: Method) -> Result<Schedule> {
    let jobs = &input.trace.jobs;
    let schedule = simulate(jobs, &input.machine, &question.settings(method, input))?;
    let found = verify_schedule(jobs, &input.machine, &schedule)?;
    if let Some(exceeded) = (input.limits.as_ref()).and_then(|limits| limits.exceeded(jobs, &schedule.starts).pop()) {
        let why = format!(
            "the schedule exceeds the limit of {} at {}",
            exceeded.name, exceeded.at_s
        );
        return Err(Error::internal(why).at("method", method.word()));
    }
    match found.first {
        Some(first) => {
            Err(Error::internal(format!("the schedule does not verify: {first:?}")).at("method", method.word()))
        }
        None => Ok(schedule),
    }
}

/// Jobs that wait at the end, for others that never end or for what never takes jobs again.
fn note_waiting(runs: &[MethodRun], notes: &mut Vec<String>) {
    for run in runs {
        let waiting_n = count_u64(run.schedule.starts.iter().filter(Option::is_none).count());
        if waiting_n > 0 && run.word != "recorded" {
            notes.push(format!(
                "{}: {waiting_n} jobs never start: they wait for what never takes jobs again, or for jobs that never end",
                run.word
            ));
        }
    }
}

/// Windows whose exact solution took more than the budget.
fn note_budget(runs: &[MethodRun], notes: &mut Vec<String>) {
    for run in runs {
        let solved = run.schedule.solved;
        if solved.over_budget_n > 0 {
            notes.push(format!(
                "{}: {} of {} windows took more than the budget of --solver auto: the best of what was found and of the genetic \
                 algorithm was chosen",
                run.word,
                solved.over_budget_n,
                solved.searched_n()
            ));
        }
    }
}

/// Recorded starts exceed the machine where it was larger, or jobs shared what is counted here as theirs alone.
fn note_replay(replay: &Replay, input: &mut SimulationInput) {
    if replay.without_n > 0 {
        input.notes.push(format!(
            "{} jobs have no recorded start: the schedules are not compared with it",
            replay.without_n
        ));
    }
    if replay.job_n == 0 {
        return;
    }
    let beyond_n = replay.beyond_n();
    let kinds = input.machine.kinds().iter().zip(&replay.kinds);
    let shown = kinds.filter(|(kind, check)| beyond_n == 0 || check.peak > kind.capacity);
    let peaks: Vec<String> = shown
        .map(|(kind, check)| format!("{} of {} {}", check.peak, kind.capacity, kind.name))
        .collect();
    let peaks = peaks.join(", ");
    input.notes.push(if beyond_n == 0 {
        format!("the recorded starts fit on the machine: at most {peaks} were in use")
    } else {
        format!(
            "the recorded starts exceed the machine {beyond_n} times, with up to {peaks}: the machine was larger, or what is \
             simulated is not what limited it"
        )
    });
    if replay.too_early_n > 0 {
        input.notes.push(format!(
            "{} recorded starts are before the submission of their job, or before the end of the job it waits for",
            replay.too_early_n
        ));
    }
}
