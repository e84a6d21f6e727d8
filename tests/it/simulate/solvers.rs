//! The exact solvers against brute force, and the genetic algorithm against them.

use gridtally::simulate::demand::Demand;
use gridtally::simulate::machine::LocalSsd;
use gridtally::simulate::rng::Rng;
use gridtally::simulate::schedule::SolverCounts;
use gridtally::simulate::window::decide::{ChoiceRule, Objective, Tradeoff, of_all};
use gridtally::simulate::window::front::generational_distance;
use gridtally::simulate::window::genetic::{self, GeneticSettings};
use gridtally::simulate::window::problem::{JobSet, Objectives, Solution, WindowJob, WindowProblem};
use gridtally::simulate::window::solve::{Solver, SolverChoice, StepBudget, exact_front};
use gridtally::simulate::window::{WindowSettings, depth_first, subset_sums};

/// A window of so many jobs that each fit alone.
fn random(rng: &mut Rng, job_n: usize) -> WindowProblem {
    let (nodes, buffer) = (rng.within(1, 60), rng.within(0, 90));
    let scale = rng.within(1, 4);
    let jobs = (0..job_n).map(|_| WindowJob {
        need: Demand::of(&[
            rng.within(1, nodes) * scale,
            if rng.happens(600_000) {
                rng.within(0, buffer) * scale
            } else {
                0
            },
        ]),
        ssd_gb: 0,
    });
    WindowProblem {
        jobs: jobs.collect(),
        free: Demand::of(&[nodes * scale, buffer * scale]),
        capacity: Demand::of(&[80 * scale, 100 * scale]),
        second_kind: Some(1),
        ssd: None,
    }
}

/// The front by looking at every set: for each number of nodes the most burst buffer, and the set nearest the front of the
/// window of those that have both.
fn brute_force(problem: &WindowProblem) -> Vec<Solution> {
    let set_n = 1_usize << problem.jobs.len();
    let mut sums = vec![(0_i64, 0_i64); set_n];
    let rows = usize::try_from(problem.free.first()).unwrap() + 1;
    let mut best: Vec<Option<(i64, u64)>> = vec![None; rows];
    for set in 0..set_n {
        if set > 0 {
            let job = &problem.jobs[usize::try_from(set.trailing_zeros()).unwrap()];
            let rest = sums[set & (set - 1)];
            sums[set] = (rest.0 + job.need.first(), rest.1 + job.need.get(1));
        }
        let (nodes, buffer) = sums[set];
        if nodes <= problem.free.first() && buffer <= problem.free.get(1) {
            let place = &mut best[usize::try_from(nodes).unwrap()];
            let nearness = u64::try_from(set).unwrap().reverse_bits();
            *place = (*place).max(Some((buffer, nearness)));
        }
    }
    let mut front = Vec::new();
    let mut most = -1;
    for (nodes, best) in best.iter().enumerate().rev() {
        let Some((buffer, nearness)) = *best else { continue };
        if buffer > most {
            most = buffer;
            front.push(Solution {
                set: JobSet::of_bits(nearness.reverse_bits()),
                worth: Objectives {
                    first: i64::try_from(nodes).unwrap(),
                    second: buffer,
                    ..Objectives::default()
                },
            });
        }
    }
    front
}

#[test]
fn bb_09_exact_fronts_equal_brute_force_on_ten_thousand_windows() {
    let mut rng = Rng::new(9);
    for nth in 0..10_000_usize {
        // Every size up to 16; the large ones less often, since brute force takes its time.
        let job_n = match nth % 100 {
            0 => 16,
            1..3 => 15,
            3..6 => 14,
            _ => nth % 14,
        };
        let problem = random(&mut rng, job_n);
        let expected = brute_force(&problem);
        assert_eq!(depth_first::front(&problem), expected, "{problem:?}");
        assert_eq!(subset_sums::front(&problem), Some(expected), "{problem:?}");
    }
}

#[test]
fn bb_09_both_exact_solvers_agree_on_windows_of_twenty() {
    let mut rng = Rng::new(20);
    for _ in 0..200 {
        let problem = random(&mut rng, 20);
        assert_eq!(Some(depth_first::front(&problem)), subset_sums::front(&problem));
    }
}

fn solver(rule: ChoiceRule, choice: SolverChoice) -> Solver {
    Solver {
        rule,
        choice,
        genetic: GeneticSettings {
            generation_n: 20,
            ..GeneticSettings::default()
        },
    }
}

#[test]
fn auto_is_exact_where_the_budget_suffices_and_counts_where_it_does_not() {
    let mut rng = Rng::new(31);
    let rules = [
        ChoiceRule::Tradeoff(Tradeoff::Paper),
        ChoiceRule::Weighted { first: 50, second: 50 },
    ];
    let within = SolverChoice::Auto(StepBudget(1 << 40));
    let tight = SolverChoice::Auto(StepBudget(10));
    let (mut all, mut few) = (SolverCounts::default(), SolverCounts::default());
    for nth in 0..200 {
        let problem = random(&mut rng, 4 + nth % 20);
        let rule = rules[nth % 2];
        let mut exact = SolverCounts::default();
        let expected = solver(rule, SolverChoice::Exact).choose(&problem, 1, &mut exact);
        assert_eq!(solver(rule, within).choose(&problem, 1, &mut all), expected);
        let found = solver(rule, tight).choose(&problem, 1, &mut few);
        assert!(problem.is_feasible(found.set) && problem.worth(found.set) == found.worth);
        assert_eq!(
            solver(rule, tight).choose(&problem, 1, &mut SolverCounts::default()),
            found
        );
    }
    assert_eq!((all.over_budget_n, all.genetic_n), (0, 0));
    assert!(few.over_budget_n > 100 && few.over_budget_n == few.genetic_n, "{few:?}");
    assert_eq!(few.searched_n(), all.searched_n());
}

#[test]
fn a_bounded_search_grows_into_the_exact_front() {
    let mut rng = Rng::new(32);
    for _ in 0..50 {
        let problem = random(&mut rng, 14);
        let whole = depth_first::front_within(&problem, u64::MAX);
        assert!(whole.is_complete);
        let last = depth_first::front_within(&problem, whole.step_n);
        assert!(last.is_complete);
        let short = depth_first::front_within(&problem, whole.step_n - 1);
        assert!(!short.is_complete && short.step_n == whole.step_n - 1);
        let front = whole.front.sorted();
        for one in short.front.sorted() {
            assert!(front.iter().any(|best| best.worth.covers(&one.worth)));
        }
    }
}

#[test]
fn the_exact_solver_is_chosen_by_size() {
    let mut rng = Rng::new(3);
    let mut counts = SolverCounts::default();
    for job_n in [10, 16, 17, 50, 64] {
        let problem = random(&mut rng, job_n);
        let front = exact_front(&problem, &mut counts).unwrap();
        assert!(front.iter().all(|one| problem.is_feasible(one.set)));
        assert!(front.iter().all(|one| problem.worth(one.set) == one.worth));
    }
    assert_eq!((counts.depth_first_n, counts.subset_sums_n), (2, 3));
    // Amounts without a common unit that are too large for sums of subsets: depth first, or no exact solver.
    let wide = |job_n: usize| {
        let mut problem = random(&mut Rng::new(4), job_n);
        for (job, nth) in problem.jobs.iter_mut().zip(1..) {
            job.need = Demand::of(&[1_000_003 + nth, 2_000_029 * nth]);
        }
        problem.free = Demand::of(&[3_000_100, 80_000_000]);
        problem
    };
    assert!(subset_sums::front(&wide(18)).is_none());
    assert!(exact_front(&wide(18), &mut counts).is_some());
    assert!(exact_front(&wide(30), &mut counts).is_none());
    // A third resource that limits the set is seen by depth-first search alone.
    let mut third = random(&mut rng, 18);
    for job in &mut third.jobs {
        job.need = job.need.with(2, 1);
    }
    third.free = third.free.with(2, 3);
    assert!(subset_sums::front(&third).is_none());
    let front = depth_first::front(&third);
    assert!(front.iter().all(|one| one.set.slots().count() <= 3));
}

#[test]
fn bb_12_the_genetic_algorithm_depends_on_its_seed_alone() {
    let problem = random(&mut Rng::new(5), 20);
    let settings = GeneticSettings {
        generation_n: 60,
        ..GeneticSettings::default()
    };
    let one = genetic::solve(&problem, &settings, 7);
    assert_eq!(one, genetic::solve(&problem, &settings, 7));
    let others = (8..20).map(|stream| genetic::solve(&problem, &settings, stream));
    assert!(others.into_iter().any(|other| other != one));
    assert!(!one.is_empty() && one.len() <= settings.population_n);
    for solution in &one {
        assert!(problem.is_feasible(solution.set));
        assert_eq!(problem.worth(solution.set), solution.worth);
        assert!(one.iter().all(|other| !other.worth.dominates(&solution.worth)));
    }
}

#[test]
fn bb_12_the_genetic_algorithm_never_beats_the_exact_front() {
    let mut rng = Rng::new(6);
    for nth in 0..40 {
        let problem = random(&mut rng, 14);
        let exact = depth_first::front(&problem);
        let settings = GeneticSettings {
            generation_n: 40,
            ..GeneticSettings::default()
        };
        for found in genetic::solve(&problem, &settings, nth) {
            assert!(exact.iter().any(|one| one.worth.covers(&found.worth)), "{problem:?}");
        }
    }
}

#[test]
fn bb_13_the_defaults_are_those_of_the_paper() {
    let settings = WindowSettings::default();
    assert_eq!(settings.size, 20);
    assert_eq!(settings.genetic.generation_n, 500);
    assert_eq!(settings.genetic.population_n, 20);
    // 0.05 %: 500 of a million.
    assert_eq!(settings.genetic.mutation_per_million, 500);
}

#[test]
fn bb_14_the_generational_distance_is_the_mean_distance_to_the_front() {
    let at = |first, second| Solution {
        set: JobSet::NONE,
        worth: Objectives {
            first,
            second,
            ..Objectives::default()
        },
    };
    let capacity = at(100, 200).worth;
    let front = [at(100, 20), at(80, 180)];
    let distance = |found: &[Solution]| generational_distance(found, &front, &capacity);
    assert!(distance(&front).abs() < 1e-12);
    assert!(distance(&front[..1]).abs() < 1e-12);
    // 3 % of the nodes and 4 % of the burst buffer away; and a point of the front.
    assert!((distance(&[at(97, 12)]) - 0.05).abs() < 1e-12);
    assert!((distance(&[at(97, 12), at(80, 180)]) - 0.025).abs() < 1e-12);
}

#[test]
fn bb_14_the_genetic_algorithm_comes_near_the_front_and_more_generations_nearer() {
    let mut rng = Rng::new(14);
    let problems: Vec<_> = (0..12).map(|_| random(&mut rng, 16)).collect();
    let mean = |generation_n| {
        let distances = problems.iter().map(|problem| {
            let settings = GeneticSettings {
                generation_n,
                ..GeneticSettings::default()
            };
            let capacity = problem.worth_of(&problem.capacity, 0);
            generational_distance(
                &genetic::solve(problem, &settings, 1),
                &depth_first::front(problem),
                &capacity,
            )
        });
        distances.sum::<f64>() / 12.0
    };
    let (short, long) = (mean(0), mean(200));
    assert!(long <= short && long < 0.1, "{short} {long}");
}

fn ssd_problem(rng: &mut Rng, job_n: usize) -> WindowProblem {
    let jobs = (0..job_n).map(|_| {
        let nodes = rng.within(1, 12);
        let gb = rng.within(0, 256);
        WindowJob {
            need: Demand::of(&[nodes, rng.within(0, 20), if gb > 128 { nodes } else { 0 }]),
            ssd_gb: gb,
        }
    });
    WindowProblem {
        jobs: jobs.collect(),
        free: Demand::of(&[24, 40, 12]),
        capacity: Demand::of(&[40, 50, 20]),
        second_kind: Some(1),
        ssd: Some(LocalSsd {
            large_kind: 2,
            small_gb: 128,
            large_gb: 256,
        }),
    }
}

/// The values of a set counted node by node: small jobs on small nodes first, in the order of the window.
fn node_by_node(problem: &WindowProblem, set: JobSet) -> Option<Objectives> {
    let (mut small, mut large) = (problem.free.first() - problem.free.get(2), problem.free.get(2));
    let mut worth = Objectives::default();
    let jobs: Vec<_> = set.slots().map(|slot| problem.jobs[slot]).collect();
    for wants_large in [true, false] {
        for job in jobs.iter().filter(|job| (job.ssd_gb > 128) == wants_large) {
            worth.second += job.need.get(1);
            for _ in 0..job.need.first() {
                let gb = if wants_large || small == 0 {
                    large -= 1;
                    256
                } else {
                    small -= 1;
                    128
                };
                if large < 0 {
                    return None;
                }
                worth.first += 1;
                worth.ssd_gb += job.ssd_gb;
                worth.less_waste_gb -= gb - job.ssd_gb;
            }
        }
    }
    (worth.second <= problem.free.get(1)).then_some(worth)
}

#[test]
fn bb_19_waste_of_local_storage_is_that_of_nodes_given_one_by_one() {
    let mut rng = Rng::new(19);
    for _ in 0..60 {
        let problem = ssd_problem(&mut rng, 8);
        for bits in 0..256 {
            let set = JobSet::of_bits(bits);
            let expected = node_by_node(&problem, set);
            assert_eq!(problem.is_feasible(set), expected.is_some(), "{problem:?} {set:?}");
            if let Some(expected) = expected {
                assert_eq!(problem.worth(set), expected, "{problem:?} {set:?}");
            }
        }
    }
}

/// The rule of four objectives, by looking at every set.
#[test]
fn bb_19_the_rule_of_four_objectives_is_that_of_brute_force() {
    let mut rng = Rng::new(190);
    let mut replaced_n = 0;
    for _ in 0..150 {
        let problem = ssd_problem(&mut rng, 9);
        let sets = (0..512).map(JobSet::of_bits).filter(|set| problem.is_feasible(*set));
        let all: Vec<Solution> = sets
            .map(|set| Solution {
                set,
                worth: problem.worth(set),
            })
            .collect();
        let front: Vec<&Solution> = (all.iter())
            .filter(|one| !all.iter().any(|other| other.worth.dominates(&one.worth)))
            .collect();
        let most = front.iter().map(|one| one.worth.first).max().unwrap();
        let starts = front.iter().filter(|one| one.worth.first == most);
        let start = starts.max_by_key(|one| one.set.bits().reverse_bits()).unwrap();
        // Shares of the capacity over the common denominator 40 * 50 * 7680.
        let gain = |one: &Solution| {
            let (a, b) = (&one.worth, &start.worth);
            ((a.second - b.second) * 7_680 + (a.ssd_gb - b.ssd_gb + a.less_waste_gb - b.less_waste_gb) * 50) * 40
        };
        let loss = |one: &Solution| (start.worth.first - one.worth.first) * 50 * 7_680;
        let better = front.iter().filter(|one| gain(one) > 0 && gain(one) > 4 * loss(one));
        let best = better.max_by_key(|one| (gain(one), one.worth.first, one.set.bits().reverse_bits()));
        replaced_n += i32::from(best.is_some());
        let expected = best.unwrap_or(start);
        let chosen = of_all(&problem, ChoiceRule::Tradeoff(Tradeoff::Paper));
        assert_eq!(chosen, **expected, "{problem:?}");
    }
    assert!(replaced_n > 10, "{replaced_n}");
}

#[test]
fn bb_19_single_objectives_with_local_storage_take_the_most_of_one() {
    let mut rng = Rng::new(191);
    for _ in 0..60 {
        let problem = ssd_problem(&mut rng, 9);
        let sets = (0..512).map(JobSet::of_bits).filter(|set| problem.is_feasible(*set));
        let all: Vec<Objectives> = sets.map(|set| problem.worth(set)).collect();
        let of = |objective| of_all(&problem, ChoiceRule::Constrained(objective)).worth;
        assert_eq!(
            of(Objective::First).first,
            all.iter().map(|worth| worth.first).max().unwrap()
        );
        assert_eq!(
            of(Objective::Second).second,
            all.iter().map(|worth| worth.second).max().unwrap()
        );
        assert_eq!(
            of(Objective::Ssd).ssd_gb,
            all.iter().map(|worth| worth.ssd_gb).max().unwrap()
        );
        let sum = |worth: &Objectives| {
            worth.first * 50 * 7_680 + worth.second * 40 * 7_680 + (worth.ssd_gb + worth.less_waste_gb) * 40 * 50
        };
        let chosen = of_all(&problem, ChoiceRule::WeightedEqually).worth;
        assert_eq!(sum(&chosen), all.iter().map(sum).max().unwrap());
    }
}
