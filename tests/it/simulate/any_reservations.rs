//! What holds for any reservations: no job outside or beyond its own, nothing taken from others, none delayed by an empty one.

use std::collections::BTreeMap;

use gridtally::simulate::demand::Demand;
use gridtally::simulate::engine::simulate;
use gridtally::simulate::job::Job;
use gridtally::simulate::machine::Machine;
use gridtally::simulate::reserved_pool::{ReservedPool, ReservedSpan, ReservedStep};
use gridtally::simulate::settings::{Backfill, BaseOrder, Estimate, EventOrder, Settings};
use gridtally::simulate::verify::{Violation, placements, verify};
use gridtally::simulate::window::WindowSettings;
use gridtally::simulate::window::decide::Tradeoff;
use gridtally::simulate::window::method::Method;
use proptest::prelude::*;

use super::reservations::{pool, span, with_reservations};
use super::{job, machine};

const NODE_N: i64 = 12;
const BUFFER: i64 = 30;

/// A reservation with one or two times, and amounts that change up to three times after it begins.
fn any_pool(name: &'static str) -> impl Strategy<Value = ReservedPool> {
    let amounts = || (0_i64..=4, 0_i64..=12).prop_map(|(nodes, gb)| Demand::of(&[nodes, gb]));
    (
        0_i64..60,
        1_i64..60,
        1_i64..40,
        1_i64..60,
        0_u8..8,
        amounts(),
        prop::collection::btree_map(1_i64..150, amounts(), 0..4),
    )
        .prop_map(move |(from_s, length_s, gap_s, next_s, flags, first_amounts, later)| {
            let first = ReservedSpan {
                ignores_jobs: flags & 1 > 0,
                ..span(from_s, from_s + length_s)
            };
            let again_s = first.until_s + gap_s;
            let spans = if flags & 2 > 0 {
                vec![first, span(again_s, again_s + next_s)]
            } else {
                vec![first]
            };
            let later = later.into_iter().map(|(after_s, amounts)| ReservedStep {
                from_s: from_s + after_s,
                amounts,
            });
            let mut steps = vec![ReservedStep {
                from_s,
                amounts: first_amounts,
            }];
            steps.extend(later);
            ReservedPool {
                name: name.to_owned(),
                is_flexible: flags & 4 > 0,
                spans,
                steps,
            }
        })
}

fn any_jobs() -> impl Strategy<Value = Vec<Job>> {
    let one = (
        0_i64..150,
        1_i64..40,
        0_i64..20,
        1_i64..=NODE_N,
        0_i64..=BUFFER,
        0_u32..6,
    );
    prop::collection::vec(one, 1..50).prop_map(|rows| {
        let jobs = (1..).zip(rows);
        let jobs = jobs.map(|(id, (submit_s, run_s, more_s, nodes, gb, which))| {
            let reservation = (which < 2).then_some(which);
            let (nodes, gb) = match reservation {
                Some(_) => (nodes % 4 + 1, gb % 6),
                None => (nodes, gb),
            };
            Job {
                reservation,
                ..job(id, submit_s, run_s, run_s + more_s, &[nodes, gb])
            }
        });
        gridtally::simulate::trace::Trace::of_jobs(jobs.collect())
            .unwrap()
            .jobs
            .to_vec()
    })
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let window = Method::Bbsched.window(
        false,
        Tradeoff::Paper,
        &WindowSettings {
            second: Some("burst_buffer_gb".to_owned()),
            ..WindowSettings::default()
        },
    );
    let bases = prop::sample::select(vec![BaseOrder::Fcfs, BaseOrder::Wfp]);
    let backfills = prop::sample::select(vec![Backfill::None, Backfill::Easy]);
    let estimates = prop::sample::select(vec![Estimate::Requested, Estimate::Actual, Estimate::CqsimMixed]);
    let events = prop::sample::select(vec![EventOrder::Batched, EventOrder::Cqsim, EventOrder::Pyss]);
    let windows = prop::sample::select(vec![None, window]);
    (bases, backfills, estimates, events, windows).prop_map(|(base, backfill, estimate, events, window)| Settings {
        base,
        backfill,
        estimate,
        events,
        window,
        ..Settings::default()
    })
}

fn any_machine() -> impl Strategy<Value = Machine> {
    let downs = prop::collection::btree_map(0_i64..200, (0_i64..=4, 0_i64..=6), 0..6);
    (any_pool("bronze"), any_pool("gold"), downs).prop_map(|(bronze, gold, downs)| {
        let down = |(at_s, (nodes, gb)): (i64, (i64, i64))| (at_s, Demand::of(&[nodes, gb]));
        let mut downs: BTreeMap<i64, Demand> = downs.into_iter().map(down).collect();
        downs.insert(300, Demand::NOTHING);
        with_reservations(machine(NODE_N, BUFFER), vec![bronze, gold], &downs)
    })
}

/// The same, which never has more than before: what a reservation gets while it is in force is unknown ahead.
fn without_growth(of: &ReservedPool) -> ReservedPool {
    let mut of = of.clone();
    let mut least = of.steps[0].amounts;
    for step in &mut of.steps {
        least = least.smaller(&step.amounts);
        step.amounts = least;
    }
    of
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_schedule_keeps_to_what_is_reserved(jobs in any_jobs(), machine in any_machine(), settings in any_settings()) {
        let schedule = simulate(&jobs, &machine, &settings).unwrap();
        let found = verify(&jobs, &machine, &placements(&jobs, &schedule)).unwrap();
        for violation in found.violations {
            // Only jobs whose reservation has ended, or never has enough, wait for ever.
            let Violation::NeverStarts(id) = violation else {
                return Err(TestCaseError::fail(format!("{violation:?}")));
            };
            let waiting = jobs.iter().find(|job| job.id == id).unwrap();
            let own = machine.reservation(waiting.reservation);
            prop_assert!(own.is_some_and(|own| !own.is_flexible), "{waiting:?}");
        }
        prop_assert_eq!(simulate(&jobs, &machine, &settings).unwrap(), schedule);
    }

    /// Where no job is ignored and no reservation grows, none of others has what is reserved when that begins.
    #[test]
    fn what_is_reserved_is_free_when_it_begins(jobs in any_jobs(), machine in any_machine(), settings in any_settings()) {
        let jobs: Vec<Job> = jobs.into_iter().map(|job| Job { reservation: None, ..job }).collect();
        let pools = machine.reservations().iter().map(without_growth).collect();
        let machine = with_reservations(super::machine(NODE_N, BUFFER), pools, &BTreeMap::new());
        let settings = Settings { estimate: Estimate::Requested, events: EventOrder::Batched, ..settings };
        let schedule = simulate(&jobs, &machine, &settings).unwrap();
        let begins = machine.reservations().iter().flat_map(|pool| &pool.spans);
        let ignored = begins.clone().any(|span| span.ignores_jobs);
        for span in begins.filter(|_| !ignored) {
            let mut used = Demand::NOTHING;
            for started in schedule.started(&jobs) {
                if started.start.start_s < span.from_s && span.from_s < started.end_s() {
                    used.add(&started.job.need);
                }
            }
            let available = machine.capacity().without(&machine.unavailable_at(span.from_s));
            prop_assert!(used.is_within(&available), "{span:?}: {used:?} of {available:?}");
        }
    }

    /// A reservation that is not stated by any job, and one that takes nothing, change nothing for the others.
    #[test]
    fn an_empty_reservation_changes_nothing(jobs in any_jobs(), settings in any_settings(), of in any_pool("gold")) {
        // There is a pass more when it begins and ends: orders and bounds that follow from the time or from passes may differ.
        let settings = Settings {
            base: BaseOrder::Fcfs,
            estimate: Estimate::Requested,
            events: EventOrder::Batched,
            window: None,
            ..settings
        };
        let jobs: Vec<Job> = jobs.into_iter().map(|job| Job { reservation: None, ..job }).collect();
        let empty = pool(&of.spans, &[0, 0]);
        let machine = machine(NODE_N, BUFFER);
        let with = with_reservations(machine.clone(), vec![empty], &BTreeMap::new());
        let starts = |machine: &Machine| -> Vec<i64> {
            let schedule = simulate(&jobs, machine, &settings).unwrap();
            schedule.starts.iter().map(|start| start.unwrap().start_s).collect()
        };
        prop_assert_eq!(starts(&machine), starts(&with));
    }
}
