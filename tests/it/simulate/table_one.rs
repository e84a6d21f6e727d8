//! Table 1 of the paper: five jobs on 100 nodes and 100 TB of burst buffer, and what each method makes of them.

use gridtally::simulate::demand::Demand;
use gridtally::simulate::engine::simulate;
use gridtally::simulate::job::Job;
use gridtally::simulate::schedule::{SolverCounts, StartReason};
use gridtally::simulate::settings::Settings;
use gridtally::simulate::window::decide::{ChoiceRule, Objective, Tradeoff, bin_packing, of_front};
use gridtally::simulate::window::depth_first;
use gridtally::simulate::window::method::Method;
use gridtally::simulate::window::problem::{JobSet, WindowJob, WindowProblem};
use gridtally::simulate::window::solve::exact_front;
use gridtally::simulate::window::{WindowSettings, subset_sums};

use super::{job, machine};

/// Nodes and terabytes of J1 to J5.
const QUEUE: [[i64; 2]; 5] = [[80, 20], [10, 85], [40, 5], [10, 0], [20, 0]];

fn problem() -> WindowProblem {
    let jobs = QUEUE.map(|amounts| WindowJob {
        need: Demand::of(&amounts),
        ssd_gb: 0,
    });
    WindowProblem {
        jobs: jobs.to_vec(),
        free: Demand::of(&[100, 100]),
        capacity: Demand::of(&[100, 100]),
        second_kind: Some(1),
        ssd: None,
    }
}

/// The queue as jobs of a trace, all submitted at once. J4 ends before J1 does, and J5 after it, as the text's backfilling of
/// J4 presumes.
fn jobs() -> Vec<Job> {
    let limits_s = [100, 100, 100, 50, 200];
    let rows = QUEUE.iter().zip(limits_s).zip(1..);
    rows.map(|((amounts, limit_s), id)| job(id, 0, limit_s, limit_s, amounts))
        .collect()
}

/// The jobs that start at once under a method, and how much of both resources they take.
fn at_once(method: Method) -> (Vec<i64>, [i64; 2]) {
    let like = WindowSettings {
        second: Some("burst_buffer_gb".to_owned()),
        ..WindowSettings::default()
    };
    let settings = Settings {
        window: method.window(false, Tradeoff::Paper, &like),
        ..Settings::default()
    };
    let jobs = jobs();
    let schedule = simulate(&jobs, &machine(100, 100), &settings).unwrap();
    let started = schedule.started(&jobs).filter(|one| one.start.start_s == 0);
    let mut ids = Vec::new();
    let mut sums = [0, 0];
    for one in started {
        ids.push(one.job.id);
        sums = [sums[0] + one.job.need.get(0), sums[1] + one.job.need.get(1)];
    }
    (ids, sums)
}

fn choice(rule: ChoiceRule) -> (JobSet, i64, i64) {
    let problem = problem();
    let front = exact_front(&problem, &mut SolverCounts::default()).unwrap();
    let chosen = of_front(&problem, &front, rule);
    (chosen.set, chosen.worth.first, chosen.worth.second)
}

fn second_solution() -> (JobSet, i64, i64) {
    (JobSet::of(&[0, 4]), 100, 20)
}

fn third_solution() -> (JobSet, i64, i64) {
    (JobSet::of(&[1, 2, 3, 4]), 80, 90)
}

#[test]
fn bb_01_the_queue_is_that_of_table_one() {
    let sums = QUEUE.iter().fold([0, 0], |sum, job| [sum[0] + job[0], sum[1] + job[1]]);
    assert_eq!(sums, [160, 110]);
    assert!(!problem().is_feasible(JobSet::first(5)));
}

#[test]
fn bb_02_the_naive_method_starts_j1_and_backfills_j4() {
    assert_eq!(at_once(Method::Baseline), (vec![1, 4], [90, 20]));
    let jobs = jobs();
    let schedule = simulate(&jobs, &machine(100, 100), &Settings::default()).unwrap();
    let reasons: Vec<_> = schedule.starts.iter().map(|start| start.unwrap().reason).collect();
    assert_eq!(
        (reasons[0], reasons[3]),
        (StartReason::InOrder, StartReason::Backfilled)
    );
}

#[test]
fn bb_03_the_most_nodes_are_those_of_j1_and_j5() {
    assert_eq!(choice(ChoiceRule::Constrained(Objective::First)), second_solution());
    assert_eq!(at_once(Method::ConstrainedCpu), (vec![1, 5], [100, 20]));
}

#[test]
fn bb_04_weights_of_80_and_20_choose_j1_and_j5() {
    let rule = ChoiceRule::Weighted { first: 80, second: 20 };
    assert_eq!(choice(rule), second_solution());
    assert_eq!(at_once(Method::WeightedCpu), (vec![1, 5], [100, 20]));
    // Scores in percent of a percent: those of the three solutions of the table.
    let score = |set: &[usize]| {
        let worth = problem().worth(JobSet::of(set));
        80 * worth.first + 20 * worth.second
    };
    assert_eq!(
        [score(&[0, 4]), score(&[1, 2, 3, 4]), score(&[0, 3])],
        [8_400, 8_200, 7_600]
    );
}

#[test]
fn bb_05_bin_packing_takes_j1_then_j5() {
    let scores = QUEUE.map(|[nodes, buffer]| 100 * nodes + 100 * buffer);
    assert_eq!(scores, [10_000, 9_500, 4_500, 1_000, 2_000]);
    let packed = bin_packing(&problem());
    assert_eq!((packed.set, packed.worth.first, packed.worth.second), second_solution());
    assert_eq!(at_once(Method::BinPacking), (vec![1, 5], [100, 20]));
}

#[test]
fn bb_06_two_of_nineteen_feasible_sets_are_the_front() {
    let problem = problem();
    let feasible = (0..32).filter(|bits| problem.is_feasible(JobSet::of_bits(*bits)));
    assert_eq!(feasible.count(), 19);
    for front in [depth_first::front(&problem), subset_sums::front(&problem).unwrap()] {
        let points: Vec<_> = front
            .iter()
            .map(|one| (one.set, one.worth.first, one.worth.second))
            .collect();
        assert_eq!(points, [second_solution(), third_solution()]);
    }
}

#[test]
fn bb_07_equal_weights_choose_j2_to_j5_and_the_choice_turns_at_seven_ninths() {
    for (first, second) in [(50, 50), (20, 80), (77, 23)] {
        assert_eq!(
            choice(ChoiceRule::Weighted { first, second }),
            third_solution(),
            "{first}"
        );
    }
    for (first, second) in [(78, 22), (100, 0)] {
        assert_eq!(
            choice(ChoiceRule::Weighted { first, second }),
            second_solution(),
            "{first}"
        );
    }
    // At exactly 7 : 2 both are worth the same, and more nodes decide.
    assert_eq!(choice(ChoiceRule::Weighted { first: 7, second: 2 }), second_solution());
    assert_eq!(at_once(Method::Weighted), (vec![2, 3, 4, 5], [80, 90]));
    assert_eq!(at_once(Method::WeightedBb), (vec![2, 3, 4, 5], [80, 90]));
}

#[test]
fn bb_08_seventy_points_of_burst_buffer_replace_twenty_of_nodes() {
    let paper = ChoiceRule::Tradeoff(Tradeoff::Paper);
    assert_eq!(choice(paper), third_solution());
    assert_eq!(at_once(Method::Bbsched), (vec![2, 3, 4, 5], [80, 90]));
    // A gain of exactly twice the loss is not more than twice.
    let with = |jobs: &[[i64; 2]]| {
        let jobs = jobs.iter().map(|amounts| WindowJob {
            need: Demand::of(amounts),
            ssd_gb: 0,
        });
        let problem = WindowProblem {
            jobs: jobs.collect(),
            ..problem()
        };
        of_front(&problem, &depth_first::front(&problem), paper).set
    };
    assert_eq!(with(&[[100, 0], [80, 40]]), JobSet::of(&[0]));
    assert_eq!(with(&[[100, 0], [80, 41]]), JobSet::of(&[1]));
    // Of several the greatest gain, even if another loses less.
    assert_eq!(with(&[[100, 0], [90, 60], [70, 61]]), JobSet::of(&[2]));
    // Equally many nodes: more burst buffer, then the jobs nearest the front.
    assert_eq!(with(&[[100, 0], [100, 0]]), JobSet::of(&[0]));
    assert_eq!(with(&[[60, 0], [60, 0], [40, 0], [40, 0]]), JobSet::of(&[0, 2]));
}

#[test]
fn bb_08_the_rule_of_the_authors_code_differs() {
    // A rise by more than 30 % of itself, and a loss of less than ten points of nodes.
    let cqsim = ChoiceRule::Tradeoff(Tradeoff::Cqsim);
    assert_eq!(choice(cqsim), second_solution());
    let of = |jobs: &[[i64; 2]]| {
        let jobs = jobs.iter().map(|amounts| WindowJob {
            need: Demand::of(amounts),
            ssd_gb: 0,
        });
        let problem = WindowProblem {
            jobs: jobs.collect(),
            ..problem()
        };
        of_front(&problem, &depth_first::front(&problem), cqsim).set
    };
    assert_eq!(of(&[[100, 20], [91, 27]]), JobSet::of(&[1]));
    assert_eq!(of(&[[100, 20], [90, 27]]), JobSet::of(&[0]));
    assert_eq!(of(&[[100, 20], [91, 26]]), JobSet::of(&[0]));
}

/// The text's most burst buffer is 90 TB, which four sets have: with the most nodes of them the choice is unique.
#[test]
fn bb_03_the_most_burst_buffer_takes_the_most_nodes_of_equal_sets() {
    let problem = problem();
    let with_90 = (0..32).map(JobSet::of_bits).filter(|set| problem.is_feasible(*set));
    let with_90: Vec<_> = with_90
        .map(|set| problem.worth(set))
        .filter(|worth| worth.second == 90)
        .collect();
    let mut nodes: Vec<_> = with_90.iter().map(|worth| worth.first).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, [50, 60, 70, 80]);
    assert_eq!(choice(ChoiceRule::Constrained(Objective::Second)), third_solution());
    assert_eq!(at_once(Method::ConstrainedBb), (vec![2, 3, 4, 5], [80, 90]));
}
