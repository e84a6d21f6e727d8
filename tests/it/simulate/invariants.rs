//! What holds for every trace: capacity, order, conservation, promises kept, the same result however the input is ordered
//! and scaled.

use gridtally::simulate::demand::Demand;
use gridtally::simulate::engine::{simulate, simulate_with};
use gridtally::simulate::job::Job;
use gridtally::simulate::machine::Machine;
use gridtally::simulate::observer::{Observer, Reservation};
use gridtally::simulate::predecessor::Predecessors;
use gridtally::simulate::schedule::Schedule;
use gridtally::simulate::settings::{Backfill, BaseOrder, Estimate, EventOrder, Settings};
use gridtally::simulate::trace::Trace;
use gridtally::simulate::verify::{placements, verify};
use gridtally::simulate::verify_easy::head_delays;
use proptest::prelude::*;

use super::{job, machine};

const NODE_N: i64 = 16;
const BURST_BUFFER: i64 = 40;

fn any_jobs() -> impl Strategy<Value = Vec<Job>> {
    let one = (
        0_i64..60,
        1_i64..30,
        0_i64..20,
        1_i64..=NODE_N,
        0_i64..=BURST_BUFFER,
        0_u8..3,
    );
    prop::collection::vec(one, 0..60).prop_map(|rows| {
        let jobs = (1..)
            .zip(rows)
            .map(|(id, (submit_s, run_s, more_s, nodes, buffer, has))| {
                let buffer = if has == 0 { buffer } else { 0 };
                job(id, submit_s, run_s, run_s + more_s, &[nodes, buffer])
            });
        jobs.collect()
    })
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let bases = prop::sample::select(vec![BaseOrder::Fcfs, BaseOrder::Wfp]);
    let backfills = prop::sample::select(vec![Backfill::None, Backfill::Easy]);
    let estimates = prop::sample::select(vec![Estimate::Requested, Estimate::Actual, Estimate::CqsimMixed]);
    let events = prop::sample::select(vec![EventOrder::Batched, EventOrder::Cqsim, EventOrder::Pyss]);
    (bases, backfills, estimates, events).prop_map(|(base, backfill, estimate, events)| Settings {
        base,
        backfill,
        estimate,
        events,
        ..Settings::default()
    })
}

fn trace(jobs: Vec<Job>) -> Vec<Job> {
    Trace::of_jobs(jobs).unwrap().jobs.to_vec()
}

fn starts(schedule: &Schedule) -> Vec<i64> {
    schedule.starts.iter().map(|start| start.unwrap().start_s).collect()
}

fn conservative() -> Settings {
    Settings {
        backfill: Backfill::Conservative,
        ..Settings::default()
    }
}

fn check(jobs: &[Job], machine: &Machine, settings: &Settings) -> Schedule {
    let schedule = simulate(jobs, machine, settings).unwrap();
    let found = verify(jobs, machine, &placements(jobs, &schedule)).unwrap();
    assert_eq!(found.violations, [], "{settings:?}");
    schedule
}

/// Remembers the reservations of the first waiting job.
#[derive(Default)]
struct Promises(Vec<Reservation>);

impl Observer for Promises {
    fn reserved(&mut self, reservation: &Reservation) {
        self.0.push(*reservation);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_schedule_stays_within_capacity_and_starts_every_job_once(jobs in any_jobs(), settings in any_settings()) {
        check(&trace(jobs), &machine(NODE_N, BURST_BUFFER), &settings);
    }

    #[test]
    fn a_conservative_schedule_stays_within_capacity(jobs in any_jobs()) {
        check(&trace(jobs), &machine(NODE_N, BURST_BUFFER), &conservative());
    }

    /// No job starts later than the place it got when it was submitted: reservations only move forward.
    #[test]
    fn a_conservative_reservation_is_kept(jobs in any_jobs()) {
        let (jobs, machine) = (trace(jobs), machine(NODE_N, BURST_BUFFER));
        let mut promises = Promises::default();
        let schedule = simulate_with(&jobs, &machine, &conservative(), &mut promises).unwrap();
        for promise in &promises.0 {
            let start = schedule.starts.get(usize::try_from(promise.job).unwrap()).unwrap().unwrap();
            prop_assert!(start.start_s <= promise.start_s, "{promise:?} {start:?}");
        }
    }

    #[test]
    fn easy_never_delays_the_first_waiting_job(jobs in any_jobs()) {
        let (jobs, machine) = (trace(jobs), machine(NODE_N, BURST_BUFFER));
        let mut promises = Promises::default();
        let schedule = simulate_with(&jobs, &machine, &Settings::default(), &mut promises).unwrap();
        prop_assert_eq!(head_delays(&jobs, &machine, &schedule), []);
        for promise in &promises.0 {
            let start = schedule.starts.get(usize::try_from(promise.job).unwrap()).unwrap().unwrap();
            prop_assert!(start.start_s <= promise.start_s, "{promise:?} {start:?}");
        }
    }

    #[test]
    fn the_order_of_the_input_does_not_matter(jobs in any_jobs(), settings in any_settings()) {
        let machine = machine(NODE_N, BURST_BUFFER);
        let forward = trace(jobs.clone());
        let backward = trace(jobs.into_iter().rev().collect());
        prop_assert_eq!(&forward, &backward);
        let one = simulate(&forward, &machine, &settings).unwrap();
        let other = simulate(&backward, &machine, &settings).unwrap();
        prop_assert_eq!(one, other);
    }

    #[test]
    fn times_scale(jobs in any_jobs(), settings in any_settings(), by in 2_i64..50) {
        let machine = machine(NODE_N, BURST_BUFFER);
        let jobs = trace(jobs);
        let longer: Vec<Job> = (jobs.iter())
            .map(|of| Job { submit_s: of.submit_s * by, run_s: of.run_s * by, limit_s: of.limit_s * by, ..of.clone() })
            .collect();
        let one = starts(&simulate(&jobs, &machine, &settings).unwrap());
        let other = starts(&simulate(&longer, &machine, &settings).unwrap());
        prop_assert_eq!(one.iter().map(|start_s| start_s * by).collect::<Vec<_>>(), other);
    }

    #[test]
    fn amounts_scale(jobs in any_jobs(), settings in any_settings(), by in 2_i64..50) {
        let jobs = trace(jobs);
        let wider: Vec<Job> = (jobs.iter())
            .map(|of| Job { need: Demand::of(&[of.need.get(0) * by, of.need.get(1) * by]), ..of.clone() })
            .collect();
        let one = simulate(&jobs, &machine(NODE_N, BURST_BUFFER), &settings).unwrap();
        let other = simulate(&wider, &machine(NODE_N * by, BURST_BUFFER * by), &settings).unwrap();
        prop_assert_eq!(starts(&one), starts(&other));
    }

    #[test]
    fn a_resource_that_no_job_requests_changes_nothing(jobs in any_jobs(), settings in any_settings()) {
        let one: Vec<Job> = (trace(jobs).into_iter())
            .map(|of| Job { need: Demand::of(&[of.need.first()]), ..of })
            .collect();
        let alone = Machine::of_one("nodes", NODE_N).unwrap();
        let with = simulate(&one, &machine(NODE_N, 5), &settings).unwrap();
        prop_assert_eq!(simulate(&one, &alone, &settings).unwrap(), with);
    }

    /// Where every limit is the run time, expected ends are ends: the estimates agree.
    #[test]
    fn estimates_agree_where_limits_are_exact(jobs in any_jobs()) {
        let machine = machine(NODE_N, BURST_BUFFER);
        let exact: Vec<Job> = (trace(jobs).into_iter()).map(|of| Job { limit_s: of.run_s, ..of }).collect();
        let of = |estimate| {
            let settings = Settings { estimate, ..Settings::default() };
            starts(&simulate(&exact, &machine, &settings).unwrap())
        };
        prop_assert_eq!(of(Estimate::Requested), of(Estimate::Actual));
        prop_assert_eq!(of(Estimate::Requested), of(Estimate::CqsimMixed));
    }
}

#[test]
fn degenerate_traces_are_simulated() {
    let machine = machine(4, 10);
    for settings in [Settings::default(), conservative()] {
        let no_jobs: [Job; 0] = [];
        assert!(simulate(&no_jobs, &machine, &settings).unwrap().starts.is_empty());
        let one = [job(1, 7, 5, 5, &[4, 10])];
        assert_eq!(starts(&check(&one, &machine, &settings)), [7]);
        // All at once, one after the other; ends and submissions in the same second.
        let queue: Vec<Job> = (0..5)
            .map(|id| job(id, 0, 10, 10, &[3]))
            .chain([job(9, 10, 1, 1, &[3])])
            .collect();
        assert_eq!(starts(&check(&queue, &machine, &settings)), [0, 10, 20, 30, 40, 50]);
        // A job that runs for no time at all.
        let none = [job(1, 0, 0, 1, &[4]), job(2, 0, 3, 3, &[4])];
        assert_eq!(starts(&check(&none, &machine, &settings)), [0, 0]);
        let same = [job(5, 0, 4, 4, &[4]), job(5, 0, 2, 4, &[4])];
        assert_eq!(check(&trace(same.to_vec()), &machine, &settings).starts.len(), 2);
    }
}

#[test]
fn a_job_waits_for_another_and_a_circle_never_starts() {
    let mut jobs = vec![
        job(1, 0, 10, 20, &[1]),
        job(2, 0, 5, 5, &[1]),
        job(3, 0, 5, 5, &[1]),
        job(4, 0, 5, 5, &[1]),
    ];
    jobs[1].after = Predecessors::end_of(1, 7);
    jobs[2].after = Predecessors::end_of(4, 0);
    jobs[3].after = Predecessors::end_of(3, 0);
    let jobs = Trace::of_jobs(jobs).unwrap().jobs.to_vec();
    let schedule = simulate(&jobs, &machine(4, 0), &Settings::default()).unwrap();
    let starts: Vec<_> = schedule
        .starts
        .iter()
        .map(|start| start.map(|start| start.start_s))
        .collect();
    assert_eq!(starts, [Some(0), Some(17), None, None]);
}

/// A shadow of nodes alone would let the third job delay the second, which waits for burst buffer.
#[test]
fn the_shadow_considers_every_kind_of_resource() {
    let jobs = [
        job(1, 0, 100, 100, &[1, 8]),
        job(2, 1, 10, 10, &[1, 5]),
        job(3, 2, 200, 200, &[1, 2]),
        job(4, 3, 200, 200, &[3, 0]),
        job(5, 4, 90, 90, &[1, 2]),
    ];
    let schedule = check(&jobs, &machine(10, 10), &Settings::default());
    // The third job leaves 8 of 10 when the second needs 5: it delays nobody. So does the fourth, which needs no buffer.
    assert_eq!(starts(&schedule), [0, 100, 2, 3, 100]);
    let tight = [
        job(1, 0, 100, 100, &[1, 8]),
        job(2, 1, 10, 10, &[1, 9]),
        job(3, 2, 200, 200, &[1, 2]),
    ];
    let schedule = check(&tight, &machine(10, 10), &Settings::default());
    assert_eq!(starts(&schedule), [0, 100, 110]);
}

#[test]
fn settings_that_exclude_each_other_are_refused() {
    let refused = [
        Settings {
            estimate: Estimate::CqsimMixed,
            ..conservative()
        },
        Settings {
            base: BaseOrder::Wfp,
            ..conservative()
        },
    ];
    for settings in refused {
        let error = simulate(&[], &machine(4, 4), &settings).unwrap_err();
        assert!(error.to_string().contains("conservative backfilling"), "{error}");
    }
}
