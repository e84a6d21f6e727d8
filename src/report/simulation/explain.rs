//! Why a job starts when it does, in words.

use std::fmt::Write as _;

use crate::error::{Error, Kind, Result};
use crate::numbers::index;
use crate::occupancy::CapacityState;
use crate::simulate::engine::simulate_with;
use crate::simulate::explain::{AwaitedReservation, Hindrance, HoldingOutage, JobWatch, WatchedPass};
use crate::simulate::job::Job;
use crate::simulate::machine::Machine;
use crate::simulate::predecessor::{PredecessorEvent, PredecessorTime, held_by};
use crate::simulate::schedule::{Schedule, Start, StartReason};
use crate::simulate::window::method::Method;
use crate::simulation::input::SimulationInput;
use crate::simulation::question::SimulationQuestion;
use crate::time::instant::instant_text_s;

/// Most jobs or nodes that are named.
const NAMED_MAX: usize = 10;

/// Why a job starts when it does, under each method; where several have its name, as attempts of one have, each of them.
///
/// # Errors
/// [`Kind::NoInput`] when no simulated job has this name; as [`simulate_with`].
pub fn explain(question: &SimulationQuestion, input: &SimulationInput, name: &str) -> Result<String> {
    let ids = input.ids(name);
    let mut texts = Vec::new();
    for (place, job) in (0..).zip(&input.trace.jobs) {
        if ids.contains(&job.id) {
            texts.push(job_text(question, input, &job, place)?);
        }
    }
    if texts.is_empty() {
        let refused = input.trace.never_fitting.iter().find(|job| ids.contains(&job.id));
        let why = match refused.and_then(|job| input.machine.kinds().get(job.kind).map(|kind| (job, kind))) {
            Some((job, kind)) => format!(
                "job {name} is not simulated: it requests {} of {} {}",
                job.requested, kind.capacity, kind.name
            ),
            None => format!("no simulated job is called {name}"),
        };
        return Err(Error::new(Kind::NoInput, why));
    }
    Ok(texts.join("\n"))
}

/// Why one job, at a place, starts when it does.
fn job_text(question: &SimulationQuestion, input: &SimulationInput, job: &Job, place: u32) -> Result<String> {
    let jobs = &input.trace.jobs;
    let mut text = String::new();
    line(
        &mut text,
        &format!(
            "job {}: {}, submitted at {}, ran {} s of {} s",
            input.name(job.id),
            amounts(job, &input.machine),
            instant(input, job.submit_s),
            job.run_s,
            job.limit_s
        ),
    );
    if let Some(start_s) = job.recorded_start_s {
        line(
            &mut text,
            &format!(
                "recorded: it started at {} and waited {} s",
                instant(input, start_s),
                start_s - job.submit_s
            ),
        );
    }
    for method in &question.methods {
        let mut watch = JobWatch::new(jobs.into(), &input.machine, input.limits.as_deref(), job, place);
        let settings = question.settings(*method, input);
        let schedule = simulate_with(jobs, &input.machine, &settings, &mut watch)?;
        watch.finish();
        method_text(&mut text, *method, &watch, input);
        if let Some(held) = held_by(jobs, &schedule, job) {
            held_text(&mut text, &held, input);
        }
        let own = input.machine.reservation(job.reservation);
        if let Some(start) = watch.start.filter(|start| start.start_s > job.submit_s) {
            if own.is_some_and(|own| own.spans.iter().any(|span| span.from_s == start.start_s)) {
                let name = reservation_name(job, input);
                line(&mut text, &format!("  in that second reservation {name} began"));
            }
            freed_text(&mut text, &start, &schedule, input);
        }
    }
    Ok(text)
}

fn line(text: &mut String, words: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{words}");
}

fn amounts(job: &Job, machine: &Machine) -> String {
    let kinds = machine.kinds().iter().enumerate();
    let parts = kinds.filter(|(at, _)| *at == 0 || job.need.get(*at) > 0);
    let words: Vec<String> = parts
        .map(|(at, kind)| format!("{} {}", job.need.get(at), kind.name))
        .collect();
    words.join(", ")
}

/// An instant of a lake, or a second of a log.
fn instant(input: &SimulationInput, at_s: i64) -> String {
    let second = || format!("{at_s} s");
    match &input.lake {
        Some(_) => instant_text_s(at_s).unwrap_or_else(second),
        None => second(),
    }
}

/// The name of a job by place.
fn named(input: &SimulationInput, place: u32) -> String {
    let job = input.trace.jobs.get(index(place));
    job.map_or_else(|| "?".to_owned(), |job| input.name(job.id))
}

fn kind_name(input: &SimulationInput, kind: usize) -> &str {
    input
        .machine
        .kinds()
        .get(kind)
        .map_or("a resource", |kind| kind.name.as_str())
}

fn method_text(text: &mut String, method: Method, watch: &JobWatch<'_>, input: &SimulationInput) {
    let job = watch.job();
    match &watch.start {
        None => line(
            text,
            &format!(
                "{}: it never starts: it waits for what never takes jobs again, or for jobs that never end",
                method.word()
            ),
        ),
        Some(start) => {
            let wait_s = start.start_s - job.submit_s;
            line(
                text,
                &format!(
                    "{}: it starts at {}, in pass {}, after {wait_s} s: {}",
                    method.word(),
                    instant(input, start.start_s),
                    start.pass,
                    reason(start, input)
                ),
            );
        }
    }
    if let Some(first) = &watch.first {
        pass_text(text, "its first pass", first, input);
    }
    for (hindrance, pass_n) in &watch.hindrances {
        let why = match hindrance {
            Hindrance::Lacking(kind) => format!("there were not enough {}", kind_name(input, *kind)),
            Hindrance::Unavailable(kind) => format!(
                "there would have been enough {}, had all of the machine taken jobs",
                kind_name(input, *kind)
            ),
            Hindrance::OutsideReservation => format!(
                "its reservation {} was not in force",
                reservation_name(watch.job(), input)
            ),
            Hindrance::LackingReserved(kind) => format!(
                "there were not enough {} in its reservation {}",
                kind_name(input, *kind),
                reservation_name(watch.job(), input)
            ),
            Hindrance::BeforeReservation => {
                "it fitted, and up to its limit it would have had what is reserved for others before that".to_owned()
            }
            Hindrance::Limited(place) => {
                let limits = input.limits.as_ref().and_then(|limits| limits.limits.get(*place));
                let name = limits.map_or("a limit", |limit| limit.name.as_str());
                format!("it fitted, and the limit of {name} was reached")
            }
            Hindrance::PassedOver(None) => "it fitted at first, and jobs ahead took what was free".to_owned(),
            Hindrance::PassedOver(Some(head)) => format!(
                "it fitted at first, and jobs ahead took what was free, or job {} with its reservation would have been delayed",
                named(input, *head)
            ),
        };
        line(text, &format!("  in {} it did not start: {why}", passes(*pass_n)));
    }
    for awaited in watch.awaited.iter().take(NAMED_MAX) {
        awaited_text(text, awaited, watch.job(), input);
    }
    for outage in watch.outages.iter().take(NAMED_MAX) {
        outage_text(text, outage, input);
    }
    let more_n = watch.outages.iter().skip(NAMED_MAX).count();
    if more_n > 0 {
        line(text, &format!("  and in {more_n} later outages"));
    }
    let last = watch.last.as_ref();
    if let Some(last) = last.filter(|last| watch.first.as_ref().is_none_or(|first| first.pass != last.pass)) {
        pass_text(text, "its last pass", last, input);
    }
}

/// Why it could start.
fn reason(start: &Start, input: &SimulationInput) -> String {
    match (start.reason, start.head.map(|head| named(input, head))) {
        (StartReason::InOrder, _) => "it was first in the order and fitted".to_owned(),
        (StartReason::Chosen, None) => "it was chosen from the window, as its first job".to_owned(),
        (StartReason::Chosen, Some(head)) => format!("it was chosen from the window, ahead of job {head}"),
        (StartReason::Forced, _) => "it had been in the window for as long as the bound allows, and fitted".to_owned(),
        (StartReason::Backfilled, Some(head)) => format!("it fitted without a delay for job {head}, which was first"),
        (StartReason::Backfilled, None) => "it fitted without a delay for others".to_owned(),
        (StartReason::Recorded, _) => "that was recorded".to_owned(),
    }
}

fn reservation_name<'a>(job: &Job, input: &'a SimulationInput) -> &'a str {
    let own = input.machine.reservation(job.reservation);
    own.map_or("of its own", |own| own.name.as_str())
}

/// A time of its reservation that it waited for.
fn awaited_text(text: &mut String, awaited: &AwaitedReservation, job: &Job, input: &SimulationInput) {
    let name = reservation_name(job, input);
    let words = match awaited.span {
        Some(span) => format!(
            "    it waited for reservation {name} in {}: that lasts from {} to {}",
            passes(awaited.pass_n),
            instant(input, span.from_s),
            instant(input, span.until_s)
        ),
        None => format!("    reservation {name} had ended in {}", passes(awaited.pass_n)),
    };
    line(text, &words);
}

/// A time in which some of the machine took no jobs, with the nodes where they are known.
fn outage_text(text: &mut String, outage: &HoldingOutage, input: &SimulationInput) {
    let kinds = input.machine.kinds().iter().enumerate();
    let without: Vec<String> = kinds
        .filter(|(at, _)| outage.unavailable.get(*at) > 0)
        .map(|(at, kind)| format!("{} of {} {}", outage.unavailable.get(at), kind.capacity, kind.name))
        .collect();
    let until = outage
        .until_s
        .map_or_else(|| "the end".to_owned(), |until_s| instant(input, until_s));
    let nodes = input.lake.iter().flat_map(|source| source.nodes_at(outage.from_s));
    let down: Vec<String> = nodes
        .filter_map(|node| {
            let state = match node.state {
                CapacityState::Up => return None,
                CapacityState::Down => "down or drained",
                CapacityState::Reserved => "reserved",
            };
            Some(format!("{} {state}", node.name))
        })
        .collect();
    let more = if down.len() > NAMED_MAX { ", ..." } else { "" };
    let down = match down.get(..NAMED_MAX.min(down.len())) {
        Some([]) | None => String::new(),
        Some(first) => format!(": {}{more}", first.join(", ")),
    };
    line(
        text,
        &format!(
            "    an outage held it in {}: from {} to {until} {} took no jobs{down}",
            passes(outage.pass_n),
            instant(input, outage.from_s),
            without.join(", ")
        ),
    );
}

/// The job that held it back after its submission.
fn held_text(text: &mut String, held: &PredecessorTime, input: &SimulationInput) {
    let PredecessorTime { at_s, predecessor } = held;
    let event = match predecessor.event {
        PredecessorEvent::Start => "start",
        PredecessorEvent::End => "end",
    };
    let pause = match predecessor.pause_s {
        0 => String::new(),
        pause_s => format!(" and {pause_s} s more to pass"),
    };
    line(
        text,
        &format!(
            "  it waited for job {} to {event}{pause}, until {}",
            input.name(predecessor.id),
            instant(input, *at_s)
        ),
    );
}

/// What changed in the second of its start: jobs that ended, and what took jobs again.
fn freed_text(text: &mut String, start: &Start, schedule: &Schedule, input: &SimulationInput) {
    let ended = schedule.started(&input.trace.jobs);
    let ended: Vec<String> = ended
        .filter(|other| other.end_s() == start.start_s)
        .map(|other| input.name(other.job.id))
        .collect();
    if !ended.is_empty() {
        let more = if ended.len() > NAMED_MAX { ", ..." } else { "" };
        let first: Vec<&str> = ended.iter().take(NAMED_MAX).map(String::as_str).collect();
        let words = if ended.len() == 1 { "job" } else { "jobs" };
        line(
            text,
            &format!("  in that second {words} {}{more} ended", first.join(", ")),
        );
    }
    let (before, now) = (
        input.machine.unavailable_at(start.start_s - 1),
        input.machine.unavailable_at(start.start_s),
    );
    for (at, kind) in input.machine.kinds().iter().enumerate() {
        let back = before.get(at) - now.get(at);
        if back > 0 {
            line(text, &format!("  in that second {back} {} took jobs again", kind.name));
        }
    }
}

fn passes(n: u64) -> String {
    if n == 1 {
        "1 pass".to_owned()
    } else {
        format!("{n} passes")
    }
}

fn pass_text(text: &mut String, which: &str, pass: &WatchedPass, input: &SimulationInput) {
    let kinds = input.machine.kinds().iter().enumerate();
    let free: Vec<String> = kinds
        .map(|(at, kind)| format!("{} of {} {}", pass.free.get(at), pass.capacity.get(at), kind.name))
        .collect();
    let ahead: Vec<String> = pass.ahead.iter().map(|place| named(input, *place)).collect();
    let more = if pass.ahead_n > ahead.len() { ", ..." } else { "" };
    let ahead = match pass.ahead_n {
        0 => "no job was ahead".to_owned(),
        1 => format!("job {} was ahead", ahead.join(", ")),
        n => format!("{n} jobs were ahead ({}{more})", ahead.join(", ")),
    };
    let priority = pass
        .priority
        .map_or_else(String::new, |priority| format!("; its priority was {priority}"));
    line(
        text,
        &format!(
            "  {which}, {} at {}: free {}; {ahead}{priority}",
            pass.pass,
            instant(input, pass.now_s),
            free.join(", ")
        ),
    );
    if let Some(promised_s) = pass.promised_s {
        let promised = instant(input, promised_s);
        line(text, &format!("    promised to start at {promised} at the latest"));
    }
}
