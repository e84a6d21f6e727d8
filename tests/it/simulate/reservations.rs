//! Reservations: hand-made cases of every edge, and planted errors.

use std::collections::BTreeMap;

use gridtally::numbers::index;
use gridtally::simulate::demand::Demand;
use gridtally::simulate::engine::{simulate, simulate_with};
use gridtally::simulate::explain::{AwaitedReservation, Hindrance, JobWatch};
use gridtally::simulate::job::Job;
use gridtally::simulate::machine::{CapacityStep, Machine};
use gridtally::simulate::replay::recorded;
use gridtally::simulate::replay_check::check;
use gridtally::simulate::reserved_pool::{ReservedPool, ReservedSpan, ReservedStep};
use gridtally::simulate::settings::{Backfill, Settings};
use gridtally::simulate::verify::{Placement, Violation, placements, verify};
use gridtally::simulate::window::WindowSettings;
use gridtally::simulate::window::decide::Tradeoff;
use gridtally::simulate::window::method::Method;

use super::{job, machine};

pub(super) fn span(from_s: i64, until_s: i64) -> ReservedSpan {
    ReservedSpan {
        from_s,
        until_s,
        ignores_jobs: false,
    }
}

/// A reservation of so much at all of these times.
pub(super) fn pool(spans: &[ReservedSpan], amounts: &[i64]) -> ReservedPool {
    ReservedPool {
        name: "gold".to_owned(),
        is_flexible: false,
        spans: spans.to_vec(),
        steps: vec![ReservedStep {
            from_s: spans[0].from_s,
            amounts: Demand::of(amounts),
        }],
    }
}

/// A machine of which all that is reserved takes no other jobs, and what else is down from a second on.
pub(super) fn with_reservations(machine: Machine, pools: Vec<ReservedPool>, downs: &BTreeMap<i64, Demand>) -> Machine {
    let mut instants: Vec<i64> = pools.iter().flat_map(ReservedPool::instants).collect();
    instants.extend(downs.keys());
    instants.sort_unstable();
    instants.dedup();
    let steps = instants.into_iter().map(|from_s| {
        let down = downs.range(..=from_s).next_back();
        let mut unavailable = down.map_or(Demand::NOTHING, |(_, down)| *down);
        for pool in &pools {
            unavailable.add(&pool.amounts_at(from_s));
        }
        CapacityStep { from_s, unavailable }
    });
    let steps = steps.collect();
    machine.with_steps(steps).unwrap().with_reservations(pools).unwrap()
}

fn of_four(pools: Vec<ReservedPool>) -> Machine {
    with_reservations(Machine::of_one("cores", 4).unwrap(), pools, &BTreeMap::new())
}

/// A job of the first reservation.
pub(super) fn inside(id: i64, submit_s: i64, run_s: i64, limit_s: i64, amounts: &[i64]) -> Job {
    Job {
        reservation: Some(0),
        ..job(id, submit_s, run_s, limit_s, amounts)
    }
}

fn starts_under(jobs: &[Job], machine: &Machine, settings: &Settings) -> Vec<Option<i64>> {
    let schedule = simulate(jobs, machine, settings).unwrap();
    let found = verify(jobs, machine, &placements(jobs, &schedule)).unwrap();
    let wrong = found.violations.into_iter();
    let wrong: Vec<Violation> = wrong.filter(|one| !matches!(one, Violation::NeverStarts(_))).collect();
    assert_eq!(wrong, []);
    schedule
        .starts
        .iter()
        .map(|start| start.map(|start| start.start_s))
        .collect()
}

pub(super) fn starts(jobs: &[Job], machine: &Machine) -> Vec<Option<i64>> {
    starts_under(jobs, machine, &Settings::default())
}

#[test]
fn a_job_waits_for_its_reservation_and_others_leave_it() {
    // Two of four cores are reserved from 100 to 200.
    let machine = of_four(vec![pool(&[span(100, 200)], &[2])]);
    let jobs = [
        inside(1, 0, 50, 50, &[2]),
        // Over before it begins.
        job(2, 10, 20, 20, &[4]),
        // Would still have what is reserved at its limit: it waits for the end.
        job(3, 90, 20, 20, &[4]),
        // Leaves the third its place.
        job(4, 120, 50, 50, &[2]),
        // Would not.
        job(5, 120, 100, 100, &[2]),
    ];
    assert_eq!(
        starts(&jobs, &machine),
        [Some(100), Some(10), Some(200), Some(120), Some(220)]
    );
    // Without backfilling the fourth waits for the third; the reservation has an order of its own.
    let in_order = Settings {
        backfill: Backfill::None,
        ..Settings::default()
    };
    assert_eq!(
        starts_under(&jobs, &machine, &in_order),
        [Some(100), Some(10), Some(200), Some(220), Some(220)]
    );
}

#[test]
fn a_job_that_passes_the_end_of_its_reservation_starts_and_runs_on_elsewhere() {
    // As Slurm does: the limit of a job does not keep it from starting in the reservation it names.
    let machine = of_four(vec![pool(&[span(100, 200)], &[2])]);
    let jobs = [
        inside(1, 0, 150, 500, &[2]),
        // Both halves are free when the first has ended at 250 and the third at 260.
        job(2, 150, 10, 10, &[4]),
        job(3, 160, 100, 100, &[2]),
    ];
    assert_eq!(starts(&jobs, &machine), [Some(100), Some(260), Some(160)]);
    // Until then it has two of four: no other job of three fits, although the reservation is over.
    let jobs = [inside(1, 0, 150, 150, &[2]), job(2, 200, 10, 10, &[3])];
    assert_eq!(starts(&jobs, &machine), [Some(100), Some(250)]);
}

#[test]
fn a_reservation_has_an_order_and_a_first_job_of_its_own() {
    let machine = with_reservations(
        Machine::of_one("cores", 8).unwrap(),
        vec![pool(&[span(0, 1000)], &[4])],
        &BTreeMap::new(),
    );
    let jobs = [
        inside(1, 0, 100, 100, &[3]),
        // The first job of the reservation until 100, and that of all others until 50.
        inside(2, 1, 10, 10, &[4]),
        job(3, 1, 49, 49, &[4]),
        job(4, 1, 10, 10, &[1]),
        // Ends before the second can start; the next one does not.
        inside(5, 2, 90, 90, &[1]),
        inside(6, 3, 200, 200, &[1]),
    ];
    assert_eq!(
        starts(&jobs, &machine),
        [Some(0), Some(100), Some(1), Some(50), Some(2), Some(110)]
    );
}

#[test]
fn jobs_that_are_ignored_keep_what_is_reserved_until_they_end() {
    let of = |ignores_jobs| {
        of_four(vec![pool(
            &[ReservedSpan {
                ignores_jobs,
                ..span(100, 200)
            }],
            &[3],
        )])
    };
    let jobs = [job(1, 0, 150, 150, &[4]), inside(2, 0, 10, 10, &[2])];
    // Nobody knows of it before 100: the first job has all to 150.
    assert_eq!(starts(&jobs, &of(true)), [Some(0), Some(150)]);
    // Else it would still run when the reservation begins: it waits for the end of that.
    assert_eq!(starts(&jobs, &of(false)), [Some(200), Some(100)]);
    // One core is not held: a job of one starts at once, one of two when the others are given back.
    let jobs = [
        job(1, 0, 150, 150, &[3]),
        inside(2, 0, 10, 10, &[1]),
        inside(3, 0, 10, 10, &[2]),
    ];
    assert_eq!(starts(&jobs, &of(true)), [Some(0), Some(100), Some(150)]);
}

#[test]
fn a_flexible_reservation_binds_its_jobs_neither_to_its_time_nor_to_its_amounts() {
    let machine = of_four(vec![ReservedPool {
        is_flexible: true,
        ..pool(&[span(100, 200)], &[2])
    }]);
    let jobs = [
        // Before it, and longer than it.
        inside(1, 0, 10, 10, &[2]),
        inside(2, 100, 150, 300, &[2]),
        // More than it has, when all others have ended.
        inside(3, 110, 10, 10, &[4]),
        // Outside, beside it.
        inside(4, 120, 10, 10, &[2]),
        // One of another account has to leave it.
        job(5, 121, 10, 10, &[2]),
    ];
    assert_eq!(
        starts(&jobs, &machine),
        [Some(0), Some(100), Some(250), Some(120), Some(130)]
    );
}

#[test]
fn a_reservation_that_repeats_takes_jobs_whenever_it_is_in_force() {
    let machine = of_four(vec![pool(&[span(100, 200), span(300, 400)], &[2])]);
    let jobs = [
        inside(1, 0, 90, 90, &[2]),
        // Ten seconds are left of the first time: it starts, and runs on until 280.
        inside(2, 0, 90, 90, &[2]),
        inside(3, 195, 10, 10, &[1]),
        inside(4, 400, 10, 10, &[1]),
    ];
    // Nothing follows the second time: the last job never starts.
    assert_eq!(starts(&jobs, &machine), [Some(100), Some(190), Some(300), None]);
}

#[test]
fn what_is_down_of_a_reservation_takes_none_of_its_jobs() {
    let mut gold = pool(&[span(100, 300)], &[2]);
    for (from_s, amount) in [(150, 1), (180, 2)] {
        gold.steps.push(ReservedStep {
            from_s,
            amounts: Demand::of(&[amount]),
        });
    }
    let machine = of_four(vec![gold]);
    let jobs = [
        inside(1, 0, 55, 55, &[2]),
        inside(2, 160, 10, 10, &[2]),
        inside(3, 161, 5, 5, &[1]),
    ];
    assert_eq!(starts(&jobs, &machine), [Some(100), Some(180), Some(161)]);
}

#[test]
fn reservations_next_to_each_other_do_not_share() {
    let silver = ReservedPool {
        name: "silver".to_owned(),
        ..pool(&[span(50, 150)], &[1])
    };
    let machine = of_four(vec![pool(&[span(100, 200)], &[2]), silver]);
    let in_silver = |id, submit_s, run_s, amounts: &[i64]| Job {
        reservation: Some(1),
        ..job(id, submit_s, run_s, run_s, amounts)
    };
    let jobs = [
        inside(1, 0, 20, 20, &[2]),
        inside(2, 0, 20, 20, &[1]),
        in_silver(3, 0, 60, &[1]),
        in_silver(4, 0, 10, &[1]),
        // Two of four are left from 150 on, one from 100 to 150.
        job(5, 100, 10, 10, &[2]),
    ];
    assert_eq!(
        starts(&jobs, &machine),
        [Some(100), Some(120), Some(50), Some(110), Some(150)]
    );
}

#[test]
fn windows_choose_from_jobs_without_a_reservation() {
    let machine = with_reservations(machine(4, 10), vec![pool(&[span(10, 100)], &[2, 5])], &BTreeMap::new());
    let window = Method::Bbsched.window(
        false,
        Tradeoff::Paper,
        &WindowSettings {
            second: Some("burst_buffer_gb".to_owned()),
            ..WindowSettings::default()
        },
    );
    let settings = Settings {
        window,
        ..Settings::default()
    };
    let jobs = [
        job(1, 0, 10, 10, &[4, 0]),
        job(2, 1, 50, 50, &[2, 5]),
        inside(3, 1, 50, 50, &[1, 5]),
        inside(4, 1, 50, 50, &[1, 0]),
    ];
    assert_eq!(
        starts_under(&jobs, &machine, &settings),
        [Some(0), Some(10), Some(10), Some(10)]
    );
}

#[test]
fn conservative_backfilling_is_refused_where_jobs_run_in_reservations() {
    let machine = of_four(vec![pool(&[span(100, 200)], &[2])]);
    let settings = Settings {
        backfill: Backfill::Conservative,
        ..Settings::default()
    };
    let error = simulate(&[inside(1, 0, 5, 5, &[1])], &machine, &settings).unwrap_err();
    assert_eq!(error.kind(), gridtally::error::Kind::Config);
    assert!(error.to_string().contains("--backfill easy"), "{error}");
    // A reservation that no job states is an outage to it.
    let jobs = [job(1, 120, 5, 5, &[4])];
    assert_eq!(starts_under(&jobs, &machine, &settings), [Some(200)]);
    let error = simulate(
        &[Job {
            reservation: Some(7),
            ..jobs[0].clone()
        }],
        &machine,
        &settings,
    )
    .unwrap_err();
    assert_eq!(error.kind(), gridtally::error::Kind::Internal);
}

#[test]
fn reservations_of_what_there_is_not_are_refused() {
    let machine = || {
        let steps = vec![CapacityStep {
            from_s: 100,
            unavailable: Demand::of(&[2]),
        }];
        Machine::of_one("cores", 4).unwrap().with_steps(steps).unwrap()
    };
    let gold = || pool(&[span(100, 200)], &[2]);
    assert!(machine().with_reservations(vec![gold()]).is_ok());
    for wrong in [
        vec![gold(), gold()],
        vec![pool(&[span(99, 200)], &[1])],
        vec![pool(&[span(200, 200)], &[1])],
        vec![pool(&[span(100, 200), span(200, 300)], &[1])],
        vec![pool(&[span(100, 200)], &[-1])],
    ] {
        assert!(machine().with_reservations(wrong).is_err());
    }
}

#[test]
fn the_verifier_finds_jobs_outside_and_beyond_their_reservation() {
    let machine = of_four(vec![pool(&[span(100, 200)], &[2])]);
    let jobs = [
        inside(1, 0, 50, 50, &[2]),
        inside(2, 0, 50, 50, &[1]),
        job(3, 0, 50, 50, &[3]),
    ];
    let violations = |starts: [i64; 3]| {
        let placed = jobs.iter().zip(starts).map(|(job, start_s)| Placement {
            id: job.id,
            start_s,
            end_s: start_s + job.run_s,
            large_node_n: 0,
        });
        verify(&jobs, &machine, &placed.collect::<Vec<_>>()).unwrap().violations
    };
    assert_eq!(violations([100, 150, 0]), []);
    assert_eq!(violations([50, 150, 200]), [Violation::OutsideReservation(1)]);
    assert_eq!(violations([100, 200, 0]), [Violation::OutsideReservation(2)]);
    let beyond = |at_s| Violation::BeyondReservation {
        at_s,
        reservation: 0,
        kind: 0,
        used: 3,
    };
    assert_eq!(violations([100, 120, 300]), [beyond(120)]);
    assert_eq!(violations([110, 110, 300]), [beyond(110)]);
    // Three of others, of which two take jobs.
    assert_eq!(
        violations([100, 150, 160]),
        [Violation::OnUnavailable {
            at_s: 160,
            kind: 0,
            used: 3
        }]
    );
    // The second started at 199 and has one core of the rest from 200 on.
    assert_eq!(violations([100, 199, 200]), []);
    // Two and three of four from 200 on.
    assert_eq!(
        violations([199, 130, 200]),
        [
            Violation::OverCapacity {
                at_s: 200,
                kind: 0,
                used: 5
            },
            Violation::OnUnavailable {
                at_s: 200,
                kind: 0,
                used: 5
            }
        ]
    );
}

#[test]
fn recorded_starts_inside_a_reservation_are_held_against_it() {
    let at = |of: Job, start_s: i64| Job {
        recorded_start_s: Some(start_s),
        ..of
    };
    let machine = of_four(vec![pool(&[span(100, 200)], &[2])]);
    let jobs = [
        at(inside(1, 0, 50, 50, &[2]), 100),
        at(job(2, 0, 200, 200, &[2]), 50),
        // One core more than takes its jobs, and it runs on to 230: from 200 on that is no matter.
        at(inside(3, 0, 100, 100, &[1]), 130),
    ];
    let of = |jobs: &[Job]| check(jobs, &machine, &recorded(jobs).unwrap().schedule).unwrap()[0];
    let found = of(&jobs);
    assert_eq!((found.peak, found.beyond.time_n), (5, 1));
    // From 130 to 150 five of four cores are in use: what is beyond the machine is counted as that alone.
    assert_eq!((found.beyond.length_s, found.beyond_available.time_n), (20, 0));
    assert_eq!(of(&jobs[..2]).beyond_available.time_n, 0);
    // Without the reservation they ran on what was not theirs.
    let outside: Vec<Job> = (jobs[..2].iter())
        .map(|job| Job {
            reservation: None,
            ..job.clone()
        })
        .collect();
    assert_eq!(of(&outside).beyond_available.length_s, 50);
    // A job of a flexible reservation is inside as far as that has room.
    let flexible = of_four(vec![ReservedPool {
        is_flexible: true,
        ..pool(&[span(100, 200)], &[2])
    }]);
    let jobs = [at(inside(1, 0, 150, 150, &[3]), 90), at(job(2, 0, 20, 20, &[2]), 120)];
    let found = check(&jobs, &flexible, &recorded(&jobs).unwrap().schedule).unwrap()[0];
    assert_eq!((found.beyond.length_s, found.beyond_available.time_n), (20, 0));
    assert_eq!(found.peak, 5);
}

#[test]
fn the_watch_states_which_reservation_a_job_waited_for() {
    let machine = of_four(vec![pool(&[span(100, 200)], &[2])]);
    let jobs = [
        inside(1, 0, 30, 30, &[2]),
        inside(2, 0, 10, 10, &[2]),
        job(3, 10, 5, 5, &[1]),
        job(4, 80, 30, 30, &[3]),
    ];
    let watched = |place: u32| {
        let own = &jobs[index(place)];
        let mut watch = JobWatch::new((&jobs).into(), &machine, None, own, place);
        simulate_with(&jobs, &machine, &Settings::default(), &mut watch).unwrap();
        watch.finish();
        watch
    };
    let second = watched(1);
    let awaited = AwaitedReservation {
        span: Some(span(100, 200)),
        pass_n: 4,
    };
    assert_eq!(second.awaited, [awaited]);
    // At 0, 10, 15 and 80 it was not in force; at 100 the first job of it took all.
    assert_eq!(
        second.hindrances,
        BTreeMap::from([(Hindrance::OutsideReservation, 4), (Hindrance::PassedOver(None), 1)])
    );
    let last = second.last.clone().unwrap();
    assert_eq!(
        (last.now_s, last.free.first(), last.capacity.first(), last.ahead_n),
        (130, 2, 2, 0)
    );
    let fourth = watched(3);
    assert_eq!(fourth.start.unwrap().start_s, 200);
    assert_eq!(fourth.hindrances.get(&Hindrance::BeforeReservation), Some(&1));
}
