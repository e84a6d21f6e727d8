//! A machine part of which takes no jobs: hand-made cases, and what holds for any.

use gridtally::simulate::demand::Demand;
use gridtally::simulate::engine::simulate;
use gridtally::simulate::job::Job;
use gridtally::simulate::machine::{CapacityStep, Machine, ResourceKind};
use gridtally::simulate::settings::{Backfill, BaseOrder, Settings};
use gridtally::simulate::verify::{Placement, Violation, placements, verify};
use gridtally::simulate::window::WindowSettings;
use gridtally::simulate::window::decide::Tradeoff;
use gridtally::simulate::window::method::Method;
use proptest::prelude::*;

use super::{job, machine};

fn steps(steps: &[(i64, &[i64])]) -> Vec<CapacityStep> {
    let step = |(from_s, amounts): &(i64, &[i64])| CapacityStep {
        from_s: *from_s,
        unavailable: Demand::of(amounts),
    };
    steps.iter().map(step).collect()
}

fn of_four(at: &[(i64, &[i64])]) -> Machine {
    Machine::of_one("cores", 4).unwrap().with_steps(steps(at)).unwrap()
}

fn starts(jobs: &[Job], machine: &Machine, backfill: Backfill) -> Vec<Option<i64>> {
    let settings = Settings {
        backfill,
        ..Settings::default()
    };
    let schedule = simulate(jobs, machine, &settings).unwrap();
    schedule
        .starts
        .iter()
        .map(|start| start.map(|start| start.start_s))
        .collect()
}

#[test]
fn a_job_runs_on_through_an_outage_and_none_starts_in_it() {
    // Job 1 runs from 0 to 150 although all is down from 100 to 300; job 2 fits at 150, and nothing takes jobs then.
    let jobs = [job(1, 0, 150, 150, &[4]), job(2, 60, 10, 10, &[4])];
    let machine = of_four(&[(100, &[4]), (300, &[0])]);
    for backfill in [Backfill::None, Backfill::Easy, Backfill::Conservative] {
        assert_eq!(starts(&jobs, &machine, backfill), [Some(0), Some(300)], "{backfill:?}");
    }
}

#[test]
fn overlapping_outages_add_up() {
    // 2 of 4 are down from 0, 1 more from 10 to 50, all take jobs from 80. A job of 2 waits for the end of the second one.
    let jobs = [job(1, 20, 5, 5, &[2]), job(2, 20, 5, 5, &[3])];
    let machine = of_four(&[(0, &[2]), (10, &[3]), (50, &[2]), (80, &[0])]);
    for backfill in [Backfill::Easy, Backfill::Conservative] {
        assert_eq!(starts(&jobs, &machine, backfill), [Some(50), Some(80)], "{backfill:?}");
    }
}

#[test]
fn a_job_that_needs_what_is_down_does_not_hold_up_those_that_do_not() {
    // Job 1 needs all four, of which two are down to 1000. Job 2 is behind it, and long.
    let jobs = [job(1, 0, 10, 10, &[4]), job(2, 1, 500, 500, &[2])];
    let machine = of_four(&[(0, &[2]), (1000, &[0])]);
    assert_eq!(starts(&jobs, &machine, Backfill::None), [Some(1000), Some(1010)]);
    for backfill in [Backfill::Easy, Backfill::Conservative] {
        assert_eq!(starts(&jobs, &machine, backfill), [Some(1000), Some(1)], "{backfill:?}");
    }
}

#[test]
fn jobs_without_gpus_start_while_all_gpus_are_down() {
    let kind = |name: &str, capacity| ResourceKind {
        name: name.to_owned(),
        capacity,
    };
    let machine = Machine::new(vec![kind("cores", 8), kind("gpus", 2)]).unwrap();
    // A job holds both GPUs when they go down: less than none is free.
    let machine = machine.with_steps(steps(&[(5, &[0, 2])])).unwrap();
    let jobs = [
        job(1, 0, 100, 100, &[1, 2]),
        job(2, 10, 5, 5, &[4, 0]),
        job(3, 10, 5, 5, &[1, 1]),
    ];
    for backfill in [Backfill::Easy, Backfill::Conservative] {
        assert_eq!(
            starts(&jobs, &machine, backfill),
            [Some(0), Some(10), None],
            "{backfill:?}"
        );
    }
}

#[test]
fn outages_that_take_away_more_than_there_is_are_refused() {
    let machine = || Machine::of_one("cores", 4).unwrap();
    for wrong in [
        steps(&[(0, &[5])]),
        steps(&[(0, &[-1])]),
        steps(&[(5, &[1]), (5, &[2])]),
    ] {
        assert!(machine().with_steps(wrong).is_err());
    }
}

#[test]
fn the_verifier_finds_a_start_on_what_is_down() {
    let machine = of_four(&[(10, &[2]), (20, &[0])]);
    let jobs = [job(1, 0, 5, 5, &[3])];
    let at = |start_s: i64| Placement {
        id: 1,
        start_s,
        end_s: start_s + 5,
        large_node_n: 0,
    };
    assert_eq!(
        verify(&jobs, &machine, &[at(10)]).unwrap().violations,
        [Violation::OnUnavailable {
            at_s: 10,
            kind: 0,
            used: 3
        }]
    );
    for fine in [at(9), at(20)] {
        assert!(verify(&jobs, &machine, &[fine]).unwrap().violations.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn no_job_starts_on_what_is_down_and_each_starts_once_all_is_up(
        jobs in prop::collection::vec((0..500_i64, 1..80_i64, 0..40_i64, 1..=6_i64, 0..=30_i64), 1..50),
        downs in prop::collection::vec((0..700_i64, 0..=6_i64, 0..=30_i64), 0..12),
    ) {
        let jobs: Vec<Job> = (1..).zip(&jobs)
            .map(|(id, (submit_s, run_s, more_s, node_n, gb))| job(id, *submit_s, *run_s, run_s + more_s, &[*node_n, *gb]))
            .collect();
        let trace = gridtally::simulate::trace::Trace::of_jobs(jobs).unwrap();
        let mut by_time: std::collections::BTreeMap<i64, Demand> =
            downs.iter().map(|(at_s, nodes, gb)| (*at_s, Demand::of(&[*nodes, *gb]))).collect();
        by_time.insert(800, Demand::NOTHING);
        let steps = by_time.into_iter().map(|(from_s, unavailable)| CapacityStep { from_s, unavailable }).collect();
        let machine = machine(6, 30).with_steps(steps).unwrap();
        let window = Method::Bbsched.window(false, Tradeoff::Paper, &WindowSettings {
            second: Some("burst_buffer_gb".to_owned()),
            ..WindowSettings::default()
        });
        for (backfill, base, window) in [
            (Backfill::None, BaseOrder::Fcfs, None),
            (Backfill::Easy, BaseOrder::Fcfs, None),
            (Backfill::Easy, BaseOrder::Wfp, None),
            (Backfill::Conservative, BaseOrder::Fcfs, None),
            (Backfill::Easy, BaseOrder::Fcfs, window),
        ] {
            let settings = Settings { backfill, base, window, ..Settings::default() };
            let schedule = simulate(&trace.jobs, &machine, &settings).unwrap();
            let found = verify(&trace.jobs.to_vec(), &machine, &placements(&trace.jobs, &schedule)).unwrap();
            prop_assert!(found.violations.is_empty(), "{backfill:?} {:?}", found.violations);
        }
    }
}
