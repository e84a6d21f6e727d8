//! Why a job starts when it does, in words.

use std::fmt::Write as _;

use crate::error::{Error, Kind, Result};
use crate::numbers::index;
use crate::simulate::engine::simulate_with;
use crate::simulate::explain::{Hindrance, JobWatch, WatchedPass};
use crate::simulate::job::Job;
use crate::simulate::machine::Machine;
use crate::simulate::schedule::StartReason;
use crate::simulate::window::method::Method;
use crate::simulation::question::{SimulationInput, SimulationQuestion};

/// Why a job of a log starts when it does, under each method.
///
/// # Errors
/// [`Kind::NoInput`] when no simulated job has this number; as [`simulate_with`].
pub fn explain(question: &SimulationQuestion, input: &SimulationInput, name: &str) -> Result<String> {
    let jobs = &input.trace.jobs;
    let unknown = || Error::new(Kind::NoInput, format!("no simulated job is called {name}"));
    let id = input.id(name).ok_or_else(unknown)?;
    let place = (0..).zip(jobs).find(|(_, job)| job.id == id).map(|(place, _)| place);
    let Some(place) = place else {
        let refused = input.trace.never_fitting.iter().find(|job| job.id == id);
        let why = match refused.and_then(|job| input.machine.kinds().get(job.kind).map(|kind| (job, kind))) {
            Some((job, kind)) => format!(
                "job {id} is not simulated: it requests {} of {} {}",
                job.requested, kind.capacity, kind.name
            ),
            None => format!("no simulated job has the number {id}"),
        };
        return Err(Error::new(Kind::NoInput, why));
    };
    let mut text = String::new();
    let job = &jobs[index(place)];
    line(
        &mut text,
        &format!(
            "job {}: {}, submitted at {} s, ran {} s of {} s",
            input.name(job.id),
            amounts(job, &input.machine),
            job.submit_s,
            job.run_s,
            job.limit_s
        ),
    );
    if let Some(start_s) = job.recorded_start_s {
        line(
            &mut text,
            &format!(
                "recorded: it started at {start_s} s and waited {} s",
                start_s - job.submit_s
            ),
        );
    }
    for method in &question.methods {
        let mut watch = JobWatch::new(jobs, place);
        simulate_with(
            jobs,
            &input.machine,
            &question.settings(*method, &input.machine),
            &mut watch,
        )?;
        method_text(&mut text, *method, &watch, input);
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

fn method_text(text: &mut String, method: Method, watch: &JobWatch<'_>, input: &SimulationInput) {
    let jobs = &input.trace.jobs;
    let job = watch.job();
    let Some(start) = watch.start else {
        return line(
            text,
            &format!("{}: it waits for ever, for jobs that wait for it", method.word()),
        );
    };
    let number = |place: u32| jobs.get(index(place)).map_or(0, |job| job.id);
    let why = match (start.reason, start.head.map(number)) {
        (StartReason::InOrder, _) => "it was first in the order and fitted".to_owned(),
        (StartReason::Chosen, None) => "it was chosen from the window, as its first job".to_owned(),
        (StartReason::Chosen, Some(head)) => format!("it was chosen from the window, ahead of job {head}"),
        (StartReason::Forced, _) => "it had been in the window for as long as the bound allows, and fitted".to_owned(),
        (StartReason::Backfilled, Some(head)) => format!("it fitted without a delay for job {head}, which was first"),
        (StartReason::Backfilled, None) => "it fitted without a delay for others".to_owned(),
        (StartReason::Recorded, _) => "that was recorded".to_owned(),
    };
    let wait_s = start.start_s - job.submit_s;
    line(
        text,
        &format!(
            "{}: it starts at {} s, in pass {}, after {wait_s} s: {why}",
            method.word(),
            start.start_s,
            start.pass
        ),
    );
    if let Some(first) = &watch.first {
        pass_text(text, "its first pass", first, input);
    }
    for (hindrance, pass_n) in &watch.hindrances {
        let why = match hindrance {
            Hindrance::Lacking(kind) => {
                let name = input.machine.kinds().get(*kind).map_or("a resource", |kind| &kind.name);
                format!("there were not enough {name}")
            }
            Hindrance::PassedOver(None) => "it fitted at first, and jobs ahead took what was free".to_owned(),
            Hindrance::PassedOver(Some(head)) => format!(
                "it fitted at first, and jobs ahead took what was free, or job {} with its reservation would have been delayed",
                number(*head)
            ),
        };
        line(text, &format!("  in {} it did not start: {why}", passes(*pass_n)));
    }
    let last = watch.last.as_ref();
    if let Some(last) = last.filter(|last| watch.first.as_ref().is_none_or(|first| first.pass != last.pass)) {
        pass_text(text, "its last pass", last, input);
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
        .map(|(at, kind)| format!("{} of {} {}", pass.free.get(at), kind.capacity, kind.name))
        .collect();
    let ahead: Vec<String> = (pass.ahead.iter())
        .filter_map(|place| input.trace.jobs.get(index(*place)))
        .map(|job| job.id.to_string())
        .collect();
    let more = if pass.ahead_n > ahead.len() { ", ..." } else { "" };
    let ahead = match pass.ahead_n {
        0 => "no job was ahead".to_owned(),
        1 => format!("job {} was ahead", ahead.join(", ")),
        n => format!("{n} jobs were ahead ({}{more})", ahead.join(", ")),
    };
    line(
        text,
        &format!(
            "  {which}, {} at {} s: free {}; {ahead}",
            pass.pass,
            pass.now_s,
            free.join(", ")
        ),
    );
    if let Some(promised_s) = pass.promised_s {
        line(text, &format!("    promised to start at {promised_s} s at the latest"));
    }
}
