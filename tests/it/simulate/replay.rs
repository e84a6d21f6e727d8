//! Recorded starts held against a machine, and coefficients, by hand.

use gridtally::runtime::column::Column;
use gridtally::simulate::correlation::{pearson, spearman};
use gridtally::simulate::demand::Demand;
use gridtally::simulate::job::Job;
use gridtally::simulate::machine::{CapacityStep, Machine};
use gridtally::simulate::replay::recorded;
use gridtally::simulate::replay_check::{Excess, check};

use super::job;

fn column(numbers: &[i64]) -> Column<i64> {
    numbers.to_vec().into()
}

fn started(id: i64, start_s: i64, run_s: i64, core_n: i64) -> Job {
    Job {
        recorded_start_s: Some(start_s),
        ..job(id, 0, run_s, run_s, &[core_n])
    }
}

#[test]
fn every_violation_has_its_first_and_worst_time() {
    // Of 4 cores: 5 from 10 to 20, 7 from 15 to 20, 4 to 30, 6 from 40 to 50; one of 4 is down from 45.
    let jobs = [
        started(1, 0, 30, 4),
        started(2, 10, 10, 1),
        started(3, 15, 5, 2),
        started(4, 40, 10, 6),
        started(5, 60, 10, 4),
    ];
    let step = |from_s: i64, amount: i64| CapacityStep {
        from_s,
        unavailable: Demand::of(&[amount]),
    };
    let machine = Machine::of_one("cores", 4).unwrap();
    let machine = machine.with_steps(vec![step(45, 1), step(65, 0)]).unwrap();
    let checks = check(&jobs, &machine, &recorded(&jobs).unwrap().schedule).unwrap();
    let of = checks[0];
    assert_eq!((of.peak, of.peak_s, of.peak_job_n), (7, 15, 3));
    assert_eq!(of.used_s, 120 + 10 + 10 + 60 + 40);
    assert_eq!(
        of.beyond,
        Excess {
            time_n: 2,
            length_s: 20,
            excess_s: 5 + 15 + 20,
            first_s: Some(10),
            worst_s: Some(15),
            worst: 3,
        }
    );
    // From 45 to 50 four of the machine's cores are in use and three take jobs; the same from 60 to 65.
    assert_eq!(
        of.beyond_available,
        Excess {
            time_n: 2,
            length_s: 10,
            excess_s: 10,
            first_s: Some(45),
            worst_s: Some(45),
            worst: 1,
        }
    );
}

#[test]
fn coefficients_are_those_of_the_books() {
    let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9;
    assert!(near(pearson(&column(&[1, 2, 3]), &column(&[2, 4, 6])).unwrap(), 1.0));
    assert!(near(pearson(&column(&[1, 2, 3]), &column(&[6, 4, 2])).unwrap(), -1.0));
    // Instants do not lose digits: the same far from zero.
    let far = 1_700_000_000;
    assert!(near(
        pearson(
            &column(&[far + 1, far + 2, far + 4]),
            &column(&[far + 3, far + 2, far + 7])
        )
        .unwrap(),
        0.866_025_403_784
    ));
    // Equal numbers share the mean of their ranks: 4.5 over the root of 4.5 times 5.
    assert!(near(
        spearman(&column(&[1, 20, 20, 300]), &column(&[1, 3, 2, 4])).unwrap(),
        0.948_683_298_05
    ));
    assert!(near(
        spearman(&column(&[1, 2, 3, 4]), &column(&[1, 8, 27, 64])).unwrap(),
        1.0
    ));
    assert_eq!(pearson(&column(&[5, 5, 5]), &column(&[1, 2, 3])).unwrap(), None);
    assert_eq!(pearson(&column(&[]), &column(&[])).unwrap(), None);
}
