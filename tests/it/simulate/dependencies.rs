//! Jobs that wait for others, and licences and burst buffer, which a cluster has as a whole.

use std::collections::BTreeMap;

use gridtally::simulate::engine::simulate;
use gridtally::simulate::job::Job;
use gridtally::simulate::predecessor::{Predecessor, PredecessorEvent, Predecessors, held_by};
use gridtally::simulate::schedule::Schedule;
use gridtally::simulate::settings::{Backfill, BaseOrder, EventOrder, Settings};
use gridtally::simulate::trace::{Trace, TraceChange};
use gridtally::simulate::verify::{Violation, placements, verify};
use proptest::prelude::*;

use super::lake::{Scene, rows, stderr, stdout};
use super::{job, machine};

fn after(is_any: bool, each: &[(i64, PredecessorEvent, i64)]) -> Predecessors {
    let each = each
        .iter()
        .map(|&(id, event, pause_s)| Predecessor { id, event, pause_s });
    Predecessors {
        each: each.collect(),
        is_any,
    }
}

use PredecessorEvent::{End, Start};

/// Job 1 runs from 0 to 10, job 2 from 0 to 20; job 3, there from second 1 on, waits.
fn three(waits: Predecessors) -> (Vec<Job>, Schedule) {
    let mut third = job(3, 1, 5, 5, &[1]);
    third.after = waits;
    let jobs = vec![job(1, 0, 10, 10, &[1]), job(2, 0, 20, 20, &[1]), third];
    let jobs = Trace::of_jobs(jobs).unwrap().jobs.to_vec();
    let schedule = simulate(&jobs, &machine(4, 0), &Settings::default()).unwrap();
    let found = verify(&jobs, &machine(4, 0), &placements(&jobs, &schedule)).unwrap();
    assert_eq!(found.violations, []);
    (jobs, schedule)
}

#[test]
fn a_job_waits_for_all_its_predecessors_or_for_one() {
    for (waits, start_s, by) in [
        (after(false, &[(1, End, 0), (2, End, 0)]), 20, Some(2)),
        (after(true, &[(1, End, 0), (2, End, 0)]), 10, Some(1)),
        (after(false, &[(2, Start, 5)]), 5, Some(2)),
        (after(false, &[(2, Start, 0)]), 1, None),
        (after(false, &[(1, End, 3), (2, Start, 60)]), 60, Some(2)),
        // The later one has the shorter pause.
        (after(true, &[(1, End, 50), (2, End, 0)]), 20, Some(2)),
        // Job 9 is not simulated: the others hold, but not where it may have been the one that was enough.
        (after(false, &[(1, End, 0), (9, End, 0)]), 10, Some(1)),
        (after(true, &[(1, End, 0), (9, End, 0)]), 1, None),
    ] {
        let (jobs, schedule) = three(waits.clone());
        assert_eq!(schedule.starts.get(2).unwrap().unwrap().start_s, start_s, "{waits:?}");
        let held = held_by(&jobs, &schedule, &jobs[2]);
        assert_eq!(held.map(|held| held.predecessor.id), by, "{waits:?}");
        assert_eq!(held.map(|held| held.at_s), by.map(|_| start_s), "{waits:?}");
    }
}

#[test]
fn a_job_may_start_in_the_second_in_which_another_one_does() {
    let mut second = job(2, 0, 5, 5, &[1]);
    second.after = after(false, &[(1, Start, 0)]);
    let mut third = job(3, 0, 5, 5, &[1]);
    third.after = after(false, &[(2, Start, 0), (1, End, 0)]);
    let jobs = Trace::of_jobs(vec![job(1, 7, 9, 9, &[1]), second, third])
        .unwrap()
        .jobs
        .to_vec();
    let schedule = simulate(&jobs, &machine(4, 0), &Settings::default()).unwrap();
    let starts: BTreeMap<i64, i64> = schedule
        .started(&jobs)
        .map(|started| (started.job.id, started.start.start_s))
        .collect();
    assert_eq!(starts, BTreeMap::from([(1, 7), (2, 7), (3, 16)]));
}

#[test]
fn a_predecessor_that_is_not_simulated_is_counted() {
    let mut waits = job(2, 0, 5, 5, &[1]);
    waits.after = after(false, &[(1, End, 0), (8, End, 0), (9, End, 0)]);
    let trace = Trace::of_jobs(vec![job(1, 0, 5, 5, &[1]), waits]).unwrap();
    assert_eq!(trace.changed, BTreeMap::from([(TraceChange::UnknownPredecessor, 1)]));
    assert_eq!(trace.jobs.get(1).unwrap().after, Predecessors::end_of(1, 0));
}

#[test]
fn the_verifier_finds_a_start_before_a_predecessor() {
    for (waits, moved_s) in [
        (after(false, &[(1, End, 0), (2, End, 0)]), 19),
        (after(true, &[(1, End, 0), (2, End, 0)]), 9),
        (after(false, &[(2, Start, 5)]), 4),
        (after(true, &[(1, End, 50), (2, End, 0)]), 19),
    ] {
        let (jobs, schedule) = three(waits);
        let mut placements = placements(&jobs, &schedule);
        placements[2].start_s = moved_s;
        placements[2].end_s = moved_s + 5;
        let found = verify(&jobs, &machine(4, 0), &placements).unwrap();
        assert_eq!(found.violations, [Violation::BeforePredecessor(3)]);
    }
}

/// Jobs that wait for earlier ones in all ways.
fn any_jobs() -> impl Strategy<Value = Vec<Job>> {
    let waits = prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), 0_i64..9), 0..4);
    let one = (0_i64..60, 1_i64..20, 1_i64..=8, waits, any::<bool>());
    prop::collection::vec(one, 1..40).prop_map(|rows| {
        let jobs = (1_i64..)
            .zip(rows)
            .map(|(id, (submit_s, run_s, nodes, waits, is_any))| {
                let mut job = job(id, submit_s, run_s, run_s + 3, &[nodes, 0]);
                if id > 1 {
                    let before = usize::try_from(id - 1).unwrap();
                    let each: Vec<_> = waits
                        .iter()
                        .map(|(of, is_start, pause_s)| {
                            let event = if *is_start { Start } else { End };
                            (i64::try_from(of.index(before)).unwrap() + 1, event, *pause_s)
                        })
                        .collect();
                    job.after = after(is_any && !each.is_empty(), &each);
                }
                job
            });
        jobs.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn all_jobs_start_and_none_before_its_predecessors(
        jobs in any_jobs(),
        base in prop::sample::select(vec![BaseOrder::Fcfs, BaseOrder::Wfp]),
        backfill in prop::sample::select(vec![Backfill::None, Backfill::Easy, Backfill::Conservative]),
        events in prop::sample::select(vec![EventOrder::Batched, EventOrder::Cqsim, EventOrder::Pyss]),
    ) {
        let base = if backfill == Backfill::Conservative { BaseOrder::Fcfs } else { base };
        let settings = Settings { base, backfill, events, ..Settings::default() };
        let jobs = Trace::of_jobs(jobs).unwrap().jobs.to_vec();
        let schedule = simulate(&jobs, &machine(8, 0), &settings).unwrap();
        let found = verify(&jobs, &machine(8, 0), &placements(&jobs, &schedule)).unwrap();
        prop_assert_eq!(found.violations, []);
        // Worked out again: when each may start by the starts of the others.
        let times: BTreeMap<i64, (i64, i64)> = schedule
            .started(&jobs)
            .map(|started| (started.job.id, (started.start.start_s, started.end_s())))
            .collect();
        for job in &jobs {
            let allowed = job.after.each.iter().map(|one| {
                let (start_s, end_s) = times[&one.id];
                one.pause_s + if one.event == Start { start_s } else { end_s }
            });
            let allowed_s = if job.after.is_any { allowed.min() } else { allowed.max() };
            prop_assert!(times[&job.id].0 >= allowed_s.unwrap_or(0).max(job.submit_s));
        }
    }
}

const HEADER: &str = "JobIDRaw|JobID|Cluster|User|Account|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NCPUS|AllocTRES|JobName|SubmitLine\n";

fn pipeline() -> &'static str {
    "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\n\
     site = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n"
}

/// A job of one core for so many hours, submitted at 22:00 and eligible and started so many minutes later.
fn line(id: &str, raw: u32, minutes: [i64; 2], hours: i64, named: &str, options: &str) -> String {
    let [eligible, start] = minutes.map(|minute| 1_793_484_000 + 60 * minute);
    format!(
        "{raw}|{id}|oak|u|a|COMPLETED|1793484000|{eligible}|{start}|{}|{}|12:00:00|1|cpu=1{named}|{}|sbatch {options} x.sh\n",
        start + 3600 * hours,
        3600 * hours,
        if options.contains("singleton") || id == "14" {
            "s"
        } else {
            "job"
        }
    )
}

/// The simulated start of each job in seconds after 22:00.
fn starts(scene: &Scene, args: &[&str]) -> BTreeMap<String, i64> {
    let args = [&["lake", "--table", "schedule", "--format", "csv"], args].concat();
    let text = stdout(&scene.simulate(&args));
    let simulated = rows(&text).into_iter().filter(|row| row[0] == "baseline");
    simulated
        .map(|row| (row[1].clone(), row[3].parse::<i64>().unwrap() - 1_793_484_000))
        .collect()
}

#[test]
fn jobs_of_a_lake_wait_in_the_simulated_schedule() {
    let jobs = [
        line("1", 1, [0, 0], 1, "", ""),
        line("2", 2, [0, 120], 1, "", "-d afterok:1"),
        line("3", 3, [0, 120], 1, "", "-d afterany:99"),
        line("4", 4, [0, 120], 1, "", "-d afterany:4"),
        // A circle: the record shows that 5 was first.
        line("5", 5, [0, 120], 1, "", "-d afterok:6"),
        line("6", 6, [0, 180], 1, "", "-d afterok:5"),
        line("7_1", 8, [0, 0], 1, "", ""),
        line("7_2", 7, [0, 0], 2, "", ""),
        line("10", 10, [0, 120], 1, "", "--dependency=afterok:7"),
        line("11", 11, [0, 30], 1, "", "-d after:7_2+10"),
        line("12", 12, [0, 120], 1, "", "-d afterok:7?afterany:1"),
        line("13_1", 13, [0, 120], 1, "", "-d aftercorr:7"),
        line("14", 14, [0, 0], 1, "", ""),
        line("15", 15, [0, 90], 1, "", "-d singleton"),
        line("16", 16, [0, 180], 1, "", "-d singleton"),
        line("17", 17, [0, 120], 1, "", "-d afterburstbuffer:1:99"),
        // Not before it was eligible either.
        line("18", 18, [80, 120], 1, "", "-d afternotok:1"),
        line("19", 19, [0, 120], 1, "", "-d afterok:8"),
    ];
    let scene = Scene::new(&[("jobs.txt", &format!("{HEADER}{}", jobs.concat()))], pipeline());
    let machine = ["--machine", "cores=100"];
    let expected = [
        ("1", 0),
        ("10", 7200),
        ("11", 600),
        ("12", 3600),
        ("13_1", 3600),
        ("14", 0),
        ("15", 3600),
        ("16", 7200),
        ("17", 3600),
        ("18", 4800),
        ("19", 3600),
        ("2", 3600),
        ("3", 0),
        ("4", 0),
        ("5", 0),
        ("6", 3600),
        ("7_1", 0),
        ("7_2", 0),
    ];
    let expected: BTreeMap<String, i64> = expected.map(|(id, at_s)| (id.to_owned(), at_s)).into();
    assert_eq!(starts(&scene, &machine), expected);
    let notes = stderr(&scene.simulate(&[&["lake"], &machine[..]].concat()));
    for note in [
        "11 jobs wait for others, by the commands that submitted them",
        "simulated other than written, unknown_predecessor: 2 jobs",
        "simulated other than written, dependency_contradicted: 2 jobs",
        "simulated other than written, held_until_eligible: 1 jobs",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let explained = |id: &str| stdout(&scene.simulate(&[&["lake", "--explain", id], &machine[..]].concat()));
    let held = "  it waited for job 7_2 to end, until 2026-11-01T00:00:00Z\n";
    assert!(explained("10").contains(held), "{}", explained("10"));
    let held = "  it waited for job 7_2 to start and 600 s more to pass, until 2026-10-31T22:10:00Z\n";
    assert!(explained("11").contains(held), "{}", explained("11"));
    assert!(!explained("3").contains("it waited"), "{}", explained("3"));
}

#[test]
fn licences_and_burst_buffer_are_limits_of_the_whole_cluster() {
    let jobs = [
        line("1", 1, [0, 0], 1, ",license/matlab=2", ""),
        line("2", 2, [0, 120], 1, ",license/matlab=1", ""),
        line("3", 3, [0, 240], 1, ",license/matlab=3", ""),
        // 600 GiB are 645 GB.
        line("4", 4, [0, 0], 1, ",bb/dw=600G", ""),
        line("5", 5, [0, 120], 1, ",bb/dw=600G,bb/other=1G", ""),
    ];
    let scene = Scene::new(&[("jobs.txt", &format!("{HEADER}{}", jobs.concat()))], pipeline());
    let of = |args: &[&str]| starts(&scene, args).into_values().collect::<Vec<_>>();
    // The third requests more licences than there are, and is left out.
    let all = [
        "--machine",
        "cores=100",
        "--add",
        "licenses:matlab=2",
        "--add",
        "burst_buffer_gb=1000",
    ];
    assert_eq!(of(&all), [0, 3600, 0, 3600]);
    let cores = ["--machine", "cores=100"];
    let with = |more: &[&'static str]| [&cores[..], more].concat();
    let stated = with(&["--machine", "burst_buffer_gb:dw=1289", "--machine", "licenses:matlab=3"]);
    assert_eq!(of(&stated), [0, 0, 3600, 0, 3600]);
    let exact = with(&["--machine", "burst_buffer_gb:dw=1290"]);
    assert_eq!(of(&exact), [0, 0, 0, 0, 0]);
    let notes = stderr(&scene.simulate(&[&["lake"], &all[..]].concat()));
    assert!(notes.contains("left out, never_fits: 1 of 5 records"), "{notes}");
    assert!(!notes.contains("no limit here"), "{notes}");
    let notes = stderr(&scene.simulate(&["lake", "--machine", "cores=100"]));
    for note in [
        "2 jobs had burst buffer, which is no limit here: add --add burst_buffer_gb=N",
        "3 jobs had licences, which is no limit here: add --add licenses:NAME=N",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let explained = stdout(&scene.simulate(&[&["lake", "--explain", "2"], &all[..]].concat()));
    assert!(
        explained.contains("free 100 of 100 cores, 2 of 2 licenses:matlab"),
        "{explained}"
    );
}
