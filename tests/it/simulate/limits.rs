//! Limits of users, accounts, partitions and QOS: hand-made cases, and what holds for any.

use std::sync::Arc;

use gridtally::simulate::engine::simulate;
use gridtally::simulate::job::Job;
use gridtally::simulate::limits::{GroupLimit, GroupLimits, LimitedAmount};
use gridtally::simulate::machine::Machine;
use gridtally::simulate::settings::{Backfill, BaseOrder, Estimate, EventOrder, Settings};
use gridtally::simulate::trace::Trace;
use gridtally::simulate::verify::{placements, verify};
use gridtally::simulate::window::WindowSettings;
use gridtally::simulate::window::decide::Tradeoff;
use gridtally::simulate::window::method::Method;
use gridtally::simulation::group_limits::LimitRequest;
use proptest::prelude::*;

use super::lake::{Scene, rows, stderr, stdout};
use super::{job, machine};

/// Jobs with odd numbers are of one group, with at most so much; the others are not limited.
fn odd(jobs: &[Job], amount: LimitedAmount, most: i64) -> GroupLimits {
    GroupLimits {
        limits: vec![GroupLimit {
            name: "odd".to_owned(),
            amount,
            most,
        }],
        of_jobs: jobs
            .iter()
            .map(|job| if job.id % 2 == 1 { vec![0] } else { Vec::new() })
            .collect(),
    }
}

fn starts(jobs: &[Job], limits: GroupLimits, like: &Settings) -> Vec<i64> {
    let settings = Settings {
        limits: Some(Arc::new(limits)),
        ..like.clone()
    };
    let machine = Machine::of_one("cores", 4).unwrap();
    let schedule = simulate(jobs, &machine, &settings).unwrap();
    schedule.starts.iter().map(|start| start.unwrap().start_s).collect()
}

#[test]
fn a_job_whose_group_has_as_much_as_it_may_is_passed_over() {
    // 1 and 3 are of one group; 3 waits for the end of 1 although there is room, and 2 and 4 start before it.
    let jobs = [1, 3, 4, 6].map(|id| job(id, 0, 10 * id, 10 * id, &[1]));
    let none = Settings {
        backfill: Backfill::None,
        ..Settings::default()
    };
    for like in [none.clone(), Settings::default()] {
        assert_eq!(starts(&jobs, odd(&jobs, LimitedAmount::Jobs, 1), &like), [0, 10, 0, 0]);
        assert_eq!(starts(&jobs, odd(&jobs, LimitedAmount::Jobs, 2), &like), [0, 0, 0, 0]);
    }
    // By cores: 5 of 2 cores waits for 3, which has 2 of the 3 that are allowed; 1 fits next to 3.
    let jobs = [
        job(3, 0, 50, 50, &[2]),
        job(5, 1, 10, 10, &[2]),
        job(7, 2, 10, 10, &[1]),
    ];
    assert_eq!(starts(&jobs, odd(&jobs, LimitedAmount::Kind(0), 3), &none), [0, 50, 2]);
    // 2 waits for all cores and has the reservation while the limit holds 5, which is before it again once 1 has ended.
    let jobs = [
        job(1, 0, 100, 100, &[2]),
        job(5, 1, 10, 10, &[2]),
        job(2, 2, 10, 10, &[4]),
        job(4, 3, 90, 90, &[1]),
    ];
    assert_eq!(
        starts(&jobs, odd(&jobs, LimitedAmount::Jobs, 1), &Settings::default()),
        [0, 100, 110, 3]
    );
}

#[test]
fn a_window_takes_jobs_within_their_limits_alone() {
    // All three fit, and only one of the group may run: the others wait for it one after another.
    let jobs = [1, 3, 5].map(|id| job(id, 0, 10, 10, &[1, 0]));
    let settings = Settings {
        window: Method::Bbsched.window(false, Tradeoff::Paper, &WindowSettings::default()),
        limits: Some(Arc::new(odd(&jobs, LimitedAmount::Jobs, 1))),
        ..Settings::default()
    };
    let schedule = simulate(&jobs, &machine(4, 0), &settings).unwrap();
    let starts: Vec<i64> = schedule.starts.iter().map(|start| start.unwrap().start_s).collect();
    assert_eq!(starts, [0, 10, 20]);
}

#[test]
fn limits_of_other_jobs_and_with_conservative_backfilling_are_refused() {
    let jobs = [1, 3].map(|id| job(id, 0, 10, 10, &[2]));
    let machine = Machine::of_one("cores", 4).unwrap();
    let refused = |limits: GroupLimits, backfill| {
        let settings = Settings {
            limits: Some(Arc::new(limits)),
            backfill,
            ..Settings::default()
        };
        simulate(&jobs, &machine, &settings).unwrap_err().to_string()
    };
    assert!(refused(odd(&jobs[1..], LimitedAmount::Jobs, 1), Backfill::Easy).contains("limits of other jobs"));
    assert!(refused(odd(&jobs, LimitedAmount::Kind(0), 1), Backfill::Easy).contains("beyond its limit alone"));
    let conservative = refused(odd(&jobs, LimitedAmount::Jobs, 1), Backfill::Conservative);
    assert!(conservative.contains("with limits"), "{conservative}");
}

proptest! {
    #[test]
    fn no_limit_is_exceeded_and_every_job_starts(
        rows in prop::collection::vec((0_i64..500, 1_i64..200, 0_i64..100, 1_i64..=4), 0..40),
        most in 1_i64..5,
        base in prop::sample::select(vec![BaseOrder::Fcfs, BaseOrder::Wfp]),
        backfill in prop::sample::select(vec![Backfill::None, Backfill::Easy]),
        has_window in any::<bool>(),
        events in prop::sample::select(vec![EventOrder::Batched, EventOrder::Cqsim]),
        estimate in prop::sample::select(vec![Estimate::Requested, Estimate::Actual, Estimate::CqsimMixed]),
    ) {
        let jobs = (1..).zip(rows).map(|(id, (submit_s, run_s, more_s, cores))| job(id, submit_s, run_s, run_s + more_s, &[cores, 0]));
        let jobs = Trace::of_jobs(jobs.collect()).unwrap().jobs.to_vec();
        let limits = odd(&jobs, LimitedAmount::Jobs, most);
        let window = Method::Bbsched.window(false, Tradeoff::Paper, &WindowSettings::default()).filter(|_| has_window);
        let settings = Settings { base, backfill, events, estimate, window, limits: Some(Arc::new(limits.clone())), ..Settings::default() };
        let schedule = simulate(&jobs, &machine(4, 0), &settings).unwrap();
        prop_assert!(schedule.starts.iter().all(|start| start.is_some()));
        prop_assert!(limits.exceeded(&jobs, &schedule.starts).is_empty());
        prop_assert!(verify(&jobs, &machine(4, 0), &placements(&jobs, &schedule)).unwrap().violations.is_empty());
        // Limits that nobody reaches change nothing, although all waiting jobs are considered in every pass then.
        let wide = Settings { limits: Some(Arc::new(odd(&jobs, LimitedAmount::Jobs, 100))), ..settings.clone() };
        let without = Settings { limits: None, ..settings };
        prop_assert_eq!(
            simulate(&jobs, &machine(4, 0), &wide).unwrap(),
            simulate(&jobs, &machine(4, 0), &without).unwrap()
        );
    }
}

#[test]
fn a_schedule_beyond_a_limit_is_found() {
    let jobs = [1, 3].map(|id| job(id, 5, 10, 10, &[1]));
    let schedule = simulate(&jobs, &Machine::of_one("cores", 4).unwrap(), &Settings::default()).unwrap();
    let found = odd(&jobs, LimitedAmount::Jobs, 1).exceeded(&jobs, &schedule.starts);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].at_s), ("odd", 5));
}

#[test]
fn limits_are_read_and_mistakes_have_a_reason() {
    assert!(LimitRequest::parse("user:jobs=10").is_ok());
    let one = LimitRequest::parse("partition/gpu:gpus:a100=4").unwrap();
    assert_eq!(
        (one.name.as_deref(), one.what.as_str(), one.most),
        (Some("gpu"), "gpus:a100", 4)
    );
    for (text, why) in [
        ("user", "not a limit such as"),
        ("host:jobs=1", "user, account, partition or qos"),
        ("user:jobs=few", "whole number"),
        ("user:jobs=-1", "whole number"),
    ] {
        assert!(LimitRequest::parse(text).unwrap_err().contains(why), "{text}");
    }
}

#[test]
fn a_queue_limit_of_a_lake_changes_the_schedule_and_is_explained() {
    let header =
        "JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|Timelimit|NCPUS|NNodes|AllocTRES\n";
    let line = |id: u32, partition: &str, cores: u32| {
        format!(
            "{id}|oak|u|a|{partition}|COMPLETED|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|01:00:00|{cores}|1|cpu={cores},node=1\n"
        )
    };
    let jobs = [
        header.to_owned(),
        line(1, "gpu", 2),
        line(2, "gpu", 2),
        line(3, "cpu", 2),
        line(4, "gpu", 3),
    ]
    .concat();
    let pipeline = "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\n\
        site = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n";
    let scene = Scene::new(&[("jobs.txt", &jobs)], pipeline);
    let run = |args: &[&str]| scene.simulate(&[&["lake", "--machine", "cores=16"], args].concat());
    let table = ["--table", "schedule", "--format", "csv"];
    let output = run(&[&["--limit", "partition/gpu:cores=2"], &table[..]].concat());
    let text = stdout(&output);
    let found: Vec<(String, i64)> = (rows(&text).into_iter())
        .filter(|row| row[0] == "baseline")
        .map(|row| (row[1].clone(), row[3].parse::<i64>().unwrap() - 1_772_323_200))
        .collect();
    let expected = [("1", 0), ("2", 3600), ("3", 0)].map(|(job, start_s)| (job.to_owned(), start_s));
    assert_eq!(found, expected);
    assert!(
        stderr(&output).contains("left out, beyond_limit: 1 of 4 records"),
        "{}",
        stderr(&output)
    );
    let explained = stdout(&run(&["--limit", "partition/gpu:cores=2", "--explain", "2"]));
    assert!(
        explained
            .contains("in 1 pass it did not start: it fitted, and the limit of partition gpu: 2 cores was reached"),
        "{explained}"
    );
    let refused = |limit: &str| stderr(&run(&["--limit", limit]));
    assert!(refused("partition/long:jobs=1").contains("there are cpu, gpu"));
    assert!(refused("user:gpus=1").contains("what can be limited are jobs, cores"));
    assert!(refused("account:cores=1").contains("every job alone is beyond a limit"));
    // No job states a QOS.
    let output = run(&["--limit", "qos:jobs=1"]);
    assert!(stderr(&output).contains("4 jobs state no qos"), "{}", stderr(&output));
}
