//! The verifier finds what is wrong: each kind of error is planted in a schedule that is right.

use gridtally::simulate::engine::simulate;
use gridtally::simulate::job::Job;
use gridtally::simulate::predecessor::Predecessors;
use gridtally::simulate::schedule::{Schedule, Start, StartReason};
use gridtally::simulate::settings::Settings;
use gridtally::simulate::verify::{Placement, Violation, placements, verify};
use gridtally::simulate::verify_easy::{HeadDelay, head_delays};

use super::{job, machine};

fn jobs() -> Vec<Job> {
    let mut jobs = vec![
        job(1, 0, 10, 20, &[6, 3]),
        job(2, 0, 10, 20, &[6, 3]),
        job(3, 5, 10, 20, &[4, 1]),
    ];
    jobs[2].after = Predecessors::end_of(1, 2);
    jobs
}

fn good() -> Vec<Placement> {
    let jobs = jobs();
    let schedule = simulate(&jobs, &machine(10, 5), &Settings::default()).unwrap();
    placements(&jobs, &schedule)
}

fn violations(placements: &[Placement]) -> Vec<Violation> {
    verify(&jobs(), &machine(10, 5), placements).unwrap().violations
}

#[test]
fn a_schedule_that_is_right_has_no_violations() {
    let good = good();
    assert_eq!(good.iter().map(|one| one.start_s).collect::<Vec<_>>(), [0, 10, 12]);
    let found = verify(&jobs(), &machine(10, 5), &good).unwrap();
    assert_eq!(found.violations, []);
    assert_eq!(found.used_s, [160, 70]);
    assert_eq!((found.peak.first(), found.peak.get(1)), (10, 4));
}

#[test]
fn each_planted_error_is_found() {
    let with = |change: &dyn Fn(&mut Vec<Placement>)| {
        let mut placements = good();
        change(&mut placements);
        violations(&placements)
    };
    let moved = |at: usize, by_s: i64| {
        with(&|all| {
            all[at].start_s += by_s;
            all[at].end_s += by_s;
        })
    };
    assert_eq!(
        moved(1, -5),
        [
            Violation::OverCapacity {
                at_s: 5,
                kind: 0,
                used: 12
            },
            Violation::OverCapacity {
                at_s: 5,
                kind: 1,
                used: 6
            }
        ]
    );
    assert_eq!(moved(0, -1), [Violation::BeforeSubmission(1)]);
    assert_eq!(moved(2, -1), [Violation::BeforePredecessor(3)]);
    assert_eq!(with(&|all| all[2].end_s += 1), [Violation::OtherDuration(3)]);
    assert_eq!(with(&|all| all.truncate(2)), [Violation::NeverStarts(3)]);
    assert_eq!(with(&|all| all.push(all[2])), [Violation::StartsTwice(3)]);
    assert_eq!(
        with(&|all| all[2].id = 9),
        [Violation::UnknownJob(9), Violation::NeverStarts(3)]
    );
}

#[test]
fn a_delayed_head_is_found() {
    let jobs = [
        job(1, 0, 10, 10, &[6]),
        job(2, 1, 10, 10, &[8]),
        job(3, 2, 30, 30, &[4]),
    ];
    let start = |start_s| {
        Some(Start {
            start_s,
            pass: 1,
            reason: StartReason::InOrder,
            head: None,
            large_node_n: 0,
        })
    };
    let machine = machine(10, 0);
    // The third job starts in front of the second, which could have been promised second 10.
    let schedule = Schedule {
        starts: vec![start(0), start(32), start(2)].into(),
        ..Schedule::default()
    };
    let delay = HeadDelay {
        id: 2,
        promised_at_s: 1,
        promised_s: 10,
        start_s: 32,
    };
    assert_eq!(head_delays(&jobs, &machine, &schedule), [delay]);
    let schedule = simulate(&jobs, &machine, &Settings::default()).unwrap();
    assert_eq!(head_delays(&jobs, &machine, &schedule), []);
}
