//! Jobs that run on what is no longer theirs: hand-made cases of what others may have meanwhile.

use std::collections::BTreeMap;

use gridtally::simulate::demand::Demand;
use gridtally::simulate::machine::Machine;
use gridtally::simulate::reserved_pool::{ReservedPool, ReservedSpan, ReservedStep};

use super::job;
use super::reservations::{inside, pool, span, starts, with_reservations};

/// In force although jobs run on what is reserved.
fn at_once(from_s: i64, until_s: i64) -> ReservedSpan {
    ReservedSpan {
        ignores_jobs: true,
        ..span(from_s, until_s)
    }
}

/// The same, which has so many from a second on.
fn then(mut of: ReservedPool, from_s: i64, cores: i64) -> ReservedPool {
    of.steps.push(ReservedStep {
        from_s,
        amounts: Demand::of(&[cores]),
    });
    of
}

fn of_twelve(pools: Vec<ReservedPool>, downs: &[(i64, i64)]) -> Machine {
    let downs = downs.iter().map(|(at_s, cores)| (*at_s, Demand::of(&[*cores])));
    let downs: BTreeMap<i64, Demand> = downs.collect();
    with_reservations(Machine::of_one("cores", 12).unwrap(), pools, &downs)
}

#[test]
fn a_job_whose_reservation_shrinks_has_what_others_get_back() {
    // The first has one of the three cores that are reserved at 29. Of these, two are no longer reserved from 42 on, and the
    // second has all three: the first is on twelve without them, and one of what is open is the second's.
    let machine = of_twelve(vec![then(pool(&[at_once(29, 53)], &[3]), 42, 1)], &[]);
    let jobs = [
        job(1, 0, 52, 52, &[10]),
        inside(2, 29, 100, 100, &[2]),
        job(3, 43, 30, 30, &[8]),
        // Two of eleven are free at 52, and as many when the reservation has ended.
        job(4, 44, 1, 1, &[3]),
    ];
    assert_eq!(starts(&jobs, &machine), [Some(0), Some(29), Some(52), Some(82)]);
}

#[test]
fn a_job_that_runs_on_is_also_on_the_reservation_that_begins_then() {
    let silver = ReservedPool {
        name: "silver".to_owned(),
        ..pool(&[at_once(200, 400)], &[3])
    };
    let machine = of_twelve(vec![pool(&[at_once(100, 200)], &[3]), silver], &[]);
    let mut of_silver = inside(3, 200, 10, 10, &[1]);
    of_silver.reservation = Some(1);
    let jobs = [
        // Has one of what is reserved, at 100 and at 200.
        job(1, 0, 500, 500, &[10]),
        // Has the other two.
        inside(2, 100, 200, 200, &[2]),
        of_silver,
    ];
    assert_eq!(starts(&jobs, &machine), [Some(0), Some(100), Some(300)]);
}

#[test]
fn a_job_on_what_is_down_has_its_place_back_when_that_is_up() {
    // While three are down, the reservation shrinks to one, and a job of it has two: when they are up, one of them is its.
    let gold = then(pool(&[at_once(100, 300)], &[3]), 200, 1);
    let machine = of_twelve(vec![gold], &[(150, 3), (250, 0)]);
    let jobs = [
        job(1, 0, 500, 500, &[9]),
        inside(2, 100, 300, 300, &[2]),
        job(3, 260, 10, 10, &[2]),
        job(4, 270, 10, 10, &[1]),
    ];
    assert_eq!(starts(&jobs, &machine), [Some(0), Some(100), Some(400), Some(270)]);
}

#[test]
fn a_reservation_that_is_down_leaves_its_jobs_where_they_are() {
    // Two of three that are reserved go down under a job that has all: they are free for none when they are up and open.
    let gold = then(pool(&[span(0, 100)], &[3]), 20, 1);
    let machine = of_twelve(vec![gold], &[(20, 2), (40, 0)]);
    let jobs = [
        inside(1, 0, 60, 60, &[3]),
        job(2, 30, 200, 200, &[9]),
        job(3, 45, 5, 5, &[1]),
    ];
    assert_eq!(starts(&jobs, &machine), [Some(0), Some(30), Some(60)]);
}
