//! The order of Slurm's multifactor priority: hand-made cases, and what holds for any.

use std::sync::Arc;

use gridtally::fairshare::priority::{
    FavoredSize, PriorityFacts, PriorityRule, PriorityScale, PriorityWeights, SizeBasis, TresScale,
};
use gridtally::fairshare::{
    AssociationKey, AssociationTree, CalculationTimes, FairshareMethod, HalfLife, ParentlessAccounts, RawShares,
    TreeRow, UsageDecay, UsageRule, UsageSegment,
};
use gridtally::simulate::engine::simulate;
use gridtally::simulate::halved_usage::HalvedUsage;
use gridtally::simulate::job::Job;
use gridtally::simulate::machine::Machine;
use gridtally::simulate::multifactor::Multifactor;
use gridtally::simulate::predecessor::Predecessors;
use gridtally::simulate::schedule::Schedule;
use gridtally::simulate::settings::{Backfill, BaseOrder, Settings};
use gridtally::simulate::shares::{DatedTree, JobUsage, RecordedUsage, SimulatedShares};
use gridtally::simulate::trace::Trace;
use gridtally::time::SecondSpan;
use proptest::prelude::*;

use super::job;

const E9: i128 = 1_000_000_000;

fn rule(weights: PriorityWeights) -> PriorityRule {
    PriorityRule {
        weights,
        max_age_s: 604_800,
        favored_size: FavoredSize::Large,
        size_basis: SizeBasis::Part,
        association_scale: PriorityScale::OfHighest(0),
        partition_scale: PriorityScale::OfHighest(10),
        qos_scale: PriorityScale::OfHighest(10),
        tres_scale: TresScale::OfPartition,
        node_n: 10,
        cpu_n: 0,
    }
}

fn of(weights: PriorityWeights, facts: Vec<PriorityFacts>) -> Multifactor {
    Multifactor {
        rule: rule(weights),
        times: CalculationTimes::new(300, 0).unwrap(),
        facts,
        shares: None,
    }
}

fn plain(jobs: &[Job]) -> Vec<PriorityFacts> {
    vec![PriorityFacts::default(); jobs.len()]
}

/// Two accounts with equal shares and one user each: jobs with odd numbers are of the first.
fn two_accounts(jobs: &[Job], decay: UsageDecay, recorded: Vec<RecordedUsage>) -> Multifactor {
    let row = |key: AssociationKey| TreeRow {
        key,
        parent_account: None,
        shares: RawShares::Number(1),
    };
    let users = [("a", "ann"), ("b", "bob")];
    let mut rows: Vec<TreeRow> = users
        .iter()
        .map(|(account, _)| row(AssociationKey::account(*account)))
        .collect();
    rows.extend(
        users
            .iter()
            .map(|(account, user)| row(AssociationKey::user(*account, *user))),
    );
    let of_job = |job: &Job| {
        Some(JobUsage {
            association: usize::from(job.id % 2 == 0),
            rate_e9: E9,
            factor_e9: E9,
        })
    };
    Multifactor {
        shares: Some(SimulatedShares {
            method: FairshareMethod::fair_tree(),
            rule: UsageRule::of_decay(decay),
            associations: users
                .iter()
                .map(|(account, user)| AssociationKey::user(*account, *user))
                .collect(),
            trees: vec![DatedTree {
                from_s: i64::MIN,
                tree: AssociationTree::of_rows(&rows, ParentlessAccounts::UnderRoot).unwrap(),
            }],
            jobs: jobs.iter().map(of_job).collect(),
            recorded,
        }),
        ..of(
            PriorityWeights {
                fairshare: 1000,
                ..PriorityWeights::default()
            },
            plain(jobs),
        )
    }
}

fn settings(multifactor: Multifactor) -> Settings {
    Settings {
        base: BaseOrder::Multifactor,
        multifactor: Some(Arc::new(multifactor)),
        ..Settings::default()
    }
}

/// The numbers of jobs in the order of their starts.
fn order(jobs: &[Job], schedule: &Schedule) -> Vec<i64> {
    let mut started: Vec<(i64, i64)> = schedule
        .started(jobs)
        .map(|started| (started.start.start_s, started.job.id))
        .collect();
    started.sort_unstable();
    started.into_iter().map(|(_, id)| id).collect()
}

fn simulated(jobs: &[Job], multifactor: Multifactor) -> Vec<i64> {
    let machine = Machine::of_one("cores", 1).unwrap();
    let schedule = simulate(jobs, &machine, &settings(multifactor)).unwrap();
    order(jobs, &schedule)
}

/// Three jobs of each account, all there at once; each runs for so long, one after another.
fn six(run_s: i64) -> Vec<Job> {
    let jobs = [1, 3, 5, 2, 4, 6].map(|id| job(id, 0, run_s, run_s, &[1]));
    Trace::of_jobs(jobs.to_vec()).unwrap().jobs.to_vec()
}

#[test]
fn usage_of_the_simulated_schedule_lowers_the_jobs_that_follow() {
    // Without usage both are first, so that 1 starts; then b has used nothing: 2. Then both have used an hour, and so on.
    let jobs = [1, 3, 5, 12, 14, 16].map(|id| job(id, 0, 3600, 3600, &[1]));
    let all = two_accounts(&jobs, UsageDecay::NONE, Vec::new());
    assert_eq!(simulated(&jobs, all), [1, 12, 3, 14, 5, 16]);
    // First come, first served has them by number.
    let machine = Machine::of_one("cores", 1).unwrap();
    let fcfs = simulate(&jobs, &machine, &Settings::default()).unwrap();
    assert_eq!(order(&jobs, &fcfs), [1, 3, 5, 12, 14, 16]);
}

#[test]
fn priorities_change_at_calculations_only() {
    // Jobs of 150 s, calculations at 0, 300, 600, ...: at 150 nobody has used anything yet, so that 3 follows 1. At 300 all usage
    // is of a: 12, and at 450 still: 14. At 600 both have used 300 s: 5, and at 750 that still holds: 16.
    let jobs = [1, 3, 5, 12, 14, 16].map(|id| job(id, 0, 150, 150, &[1]));
    let all = two_accounts(&jobs, UsageDecay::NONE, Vec::new());
    assert_eq!(simulated(&jobs, all), [1, 3, 12, 14, 5, 16]);
    let mut often = two_accounts(&jobs, UsageDecay::NONE, Vec::new());
    often.times = CalculationTimes::new(150, 0).unwrap();
    assert_eq!(simulated(&jobs, often), [1, 12, 3, 14, 5, 16]);
}

#[test]
fn usage_before_the_simulation_counts_and_decays() {
    // The first job runs for five minutes. a used 4000 a day earlier, b 1000 in the last hour.
    let jobs = [
        job(2, 90_000, 300, 300, &[1]),
        job(1, 90_010, 300, 300, &[1]),
        job(4, 90_020, 300, 300, &[1]),
    ];
    let used = |association, start_s, end_s, rate: i128| RecordedUsage {
        association,
        segment: UsageSegment {
            span: SecondSpan { start_s, end_s },
            rate_e9: rate * E9,
            factor_e9: E9,
        },
    };
    let recorded = vec![used(0, 0, 1000, 4), used(1, 88_000, 89_000, 1)];
    // Without decay a has used more: b's job comes first. With a half-life of an hour only what b used is left.
    let without = two_accounts(&jobs, UsageDecay::NONE, recorded.clone());
    assert_eq!(simulated(&jobs, without), [2, 4, 1]);
    let hour = UsageDecay::continuous(HalfLife::of_seconds(3600).unwrap());
    assert_eq!(simulated(&jobs, two_accounts(&jobs, hour, recorded)), [2, 1, 4]);
}

#[test]
fn a_recorded_job_counts_while_it_runs() {
    // Until 900 a recorded job of a adds usage; b then has used less although its own job ran.
    let jobs = [
        job(2, 0, 300, 300, &[1]),
        job(1, 10, 300, 300, &[1]),
        job(4, 20, 300, 300, &[1]),
    ];
    let running = RecordedUsage {
        association: 0,
        segment: UsageSegment {
            span: SecondSpan {
                start_s: -600,
                end_s: 900,
            },
            rate_e9: E9,
            factor_e9: E9,
        },
    };
    let all = two_accounts(&jobs, UsageDecay::NONE, vec![running]);
    assert_eq!(simulated(&jobs, all), [2, 4, 1]);
    assert_eq!(
        simulated(&jobs, two_accounts(&jobs, UsageDecay::NONE, Vec::new())),
        [2, 1, 4]
    );
}

#[test]
fn qos_partition_and_size_decide_by_their_weights_and_age_catches_up() {
    let jobs = [
        job(1, 0, 10_000, 10_000, &[1]),
        job(2, 10, 100, 100, &[1]),
        job(3, 20, 100, 100, &[1]),
        job(4, 30, 100, 100, &[1]),
    ];
    let facts = |qos: [u32; 4], partitions: [u32; 4], nodes: [u32; 4]| -> Vec<PriorityFacts> {
        (0..4)
            .map(|at| PriorityFacts {
                qos_priority: qos[at],
                partition_priority: partitions[at],
                node_n: nodes[at],
                ..PriorityFacts::default()
            })
            .collect()
    };
    let weights = |qos, partition, job_size, age| PriorityWeights {
        qos,
        partition,
        job_size,
        age,
        ..PriorityWeights::default()
    };
    let of_qos = facts([0, 0, 10, 5], [0; 4], [1; 4]);
    assert_eq!(
        simulated(&jobs, of(weights(1000, 0, 0, 0), of_qos.clone())),
        [1, 3, 4, 2]
    );
    let of_partition = facts([0; 4], [0, 1, 2, 10], [1; 4]);
    assert_eq!(simulated(&jobs, of(weights(0, 100, 0, 0), of_partition)), [1, 4, 3, 2]);
    let of_size = facts([0; 4], [0; 4], [1, 2, 1, 8]);
    assert_eq!(
        simulated(&jobs, of(weights(0, 0, 100, 0), of_size.clone())),
        [1, 4, 2, 3]
    );
    let mut small = of(weights(0, 0, 100, 0), of_size);
    small.rule.favored_size = FavoredSize::Small;
    assert_eq!(simulated(&jobs, small), [1, 3, 2, 4]);
    // Age is full after 20 s, which all of them waited: QOS decides.
    let mut aged = of(weights(10, 0, 0, 1_000_000), of_qos);
    aged.rule.max_age_s = 20;
    assert_eq!(simulated(&jobs, aged), [1, 3, 4, 2]);
}

#[test]
fn a_job_ages_from_the_end_of_the_job_it_waits_for() {
    // 3 waits for 1, which ends at 1000, and has no age before; 2 was there at 900.
    let mut waits = job(3, 0, 100, 100, &[1]);
    waits.after = Predecessors::end_of(1, 0);
    let jobs = [
        job(1, 0, 1000, 1000, &[1]),
        waits,
        job(2, 900, 100, 100, &[1]),
        job(4, 950, 5000, 5000, &[1]),
    ];
    let jobs = Trace::of_jobs(jobs.to_vec()).unwrap().jobs.to_vec();
    let age = || PriorityWeights {
        age: 604_800,
        ..PriorityWeights::default()
    };
    let mut every_second = of(age(), plain(&jobs));
    every_second.times = CalculationTimes::new(1, 0).unwrap();
    assert_eq!(simulated(&jobs, every_second), [1, 2, 4, 3]);
}

#[test]
fn priorities_of_other_jobs_are_refused() {
    let jobs = six(10);
    let machine = Machine::of_one("cores", 1).unwrap();
    let refused = |settings: &Settings| simulate(&jobs, &machine, settings).unwrap_err().to_string();
    let other = of(PriorityWeights::default(), plain(&jobs[1..]));
    assert!(refused(&settings(other)).contains("priorities of other jobs"));
    let none = Settings {
        base: BaseOrder::Multifactor,
        ..Settings::default()
    };
    assert!(refused(&none).contains("weights of priorities"));
    let conservative = Settings {
        backfill: Backfill::Conservative,
        ..settings(of(PriorityWeights::default(), plain(&jobs)))
    };
    assert!(refused(&conservative).contains("no other base order"));
}

#[test]
fn usage_in_halving_steps_counts_in_full_for_a_half_life() {
    let second = |start_s, end_s| UsageSegment {
        span: SecondSpan { start_s, end_s },
        rate_e9: 2 * E9,
        factor_e9: E9 / 2,
    };
    let mut usage = HalvedUsage::new(HalfLife::of_seconds(100).unwrap(), 2);
    usage.add(0, &second(0, 100)).unwrap();
    usage.add(0, &second(50, 150)).unwrap();
    let mut at = |at_s, zero_s| usage.usage_e6(0, at_s, zero_s).unwrap() / 1000;
    assert_eq!(at(60, None), 70_000);
    assert_eq!(at(150, None), (50 + 100) * 1000 + 50 * 500);
    // Of 200 seconds 50 are younger than 100, 100 and 50 are of the step before.
    assert_eq!(at(200, None), 50_000 + 150 * 500);
    assert_eq!(at(200, Some(100)), 50_000);
    assert_eq!(at(200, Some(150)), 0);
    assert_eq!(at(350, None), (100 + 50) * 250 + 50 * 125);
    assert_eq!(at(1_000_000, None), 0);
    assert_eq!(usage.usage_e6(1, 1_000_000, None).unwrap(), 0);
    // What began before that is not known any more.
    usage.add(0, &second(0, 1)).unwrap();
    assert!(usage.usage_e6(0, 1_000_000, None).is_err());
}

#[test]
fn usage_in_halving_steps_orders_jobs() {
    // Equal amounts of a and b, the one of a longer ago by a step: b has used twice as much, and a comes first.
    let half_life = HalfLife::of_seconds(100_000).unwrap();
    let used = |association, start_s| RecordedUsage {
        association,
        segment: UsageSegment {
            span: SecondSpan {
                start_s,
                end_s: start_s + 1000,
            },
            rate_e9: 10 * E9,
            factor_e9: E9,
        },
    };
    let jobs = [
        job(1, 0, 1000, 1000, &[1]),
        job(2, 500, 10, 10, &[1]),
        job(3, 501, 10, 10, &[1]),
    ];
    let jobs = Trace::of_jobs(jobs.to_vec()).unwrap().jobs.to_vec();
    let order = |recorded| {
        let decay = UsageDecay::HalvingSteps(half_life);
        simulated(&jobs, two_accounts(&jobs, decay, recorded))
    };
    assert_eq!(order(vec![used(0, -150_000), used(1, -50_000)]), [1, 3, 2]);
    assert_eq!(order(vec![used(1, -150_000), used(0, -50_000)]), [1, 2, 3]);
}

fn any_jobs() -> impl Strategy<Value = Vec<Job>> {
    let one = (0_i64..20_000, 1_i64..4000, 0_i64..2000, 1_i64..=8);
    prop::collection::vec(one, 0..50).prop_map(|rows| {
        let jobs = (1..)
            .zip(rows)
            .map(|(id, (submit_s, run_s, more_s, cores))| job(id, submit_s, run_s, run_s + more_s, &[cores]));
        Trace::of_jobs(jobs.collect()).unwrap().jobs.to_vec()
    })
}

proptest! {
    /// The same as the rule computes of every job by itself.
    #[test]
    fn usage_in_halving_steps_is_that_of_each_job(
        mut segments in prop::collection::vec((0_i64..5000, 1_i64..3000, 0_i128..1_000_000_000_000), 0..30),
        ats in prop::collection::vec(0_i64..3000, 1..8),
        half_life_s in 1_u32..3000,
    ) {
        segments.sort_unstable();
        let half_life = HalfLife::of_seconds(half_life_s).unwrap();
        let rule = UsageRule::of_decay(UsageDecay::HalvingSteps(half_life));
        let segments: Vec<UsageSegment> = (segments.into_iter())
            .map(|(start_s, run_s, rate_e9)| UsageSegment {
                span: SecondSpan { start_s, end_s: start_s + run_s },
                rate_e9,
                factor_e9: E9,
            })
            .collect();
        let mut halved = HalvedUsage::new(half_life, 1);
        let (mut at_s, mut added_n) = (0, 0);
        for more_s in ats {
            at_s += more_s;
            while let Some(segment) = segments.get(added_n).filter(|segment| segment.span.start_s < at_s) {
                halved.add(0, segment).unwrap();
                added_n += 1;
            }
            let each = segments.iter().map(|segment| rule.usage_e6(segment, at_s).unwrap());
            let expected: i128 = each.sum();
            let found = halved.usage_e6(0, at_s, None).unwrap();
            // Each is rounded once, and computed with doubles.
            let most = 30 + expected / 1_000_000_000;
            prop_assert!((found - expected).abs() <= most, "{found} {expected}");
        }
    }

    #[test]
    fn with_age_alone_the_schedule_is_that_of_first_come_first_served(
        jobs in any_jobs(),
        age in 0_u32..2_000_000,
        backfill in prop::sample::select(vec![Backfill::None, Backfill::Easy]),
    ) {
        let machine = Machine::of_one("cores", 8).unwrap();
        let weights = PriorityWeights { age, ..PriorityWeights::default() };
        let by_age = Settings { backfill, ..settings(of(weights, plain(&jobs))) };
        let fcfs = Settings { backfill, ..Settings::default() };
        let (by_age, fcfs) = (simulate(&jobs, &machine, &by_age).unwrap(), simulate(&jobs, &machine, &fcfs).unwrap());
        prop_assert_eq!(by_age, fcfs);
    }

    #[test]
    fn equal_inputs_give_equal_schedules_and_every_job_starts(jobs in any_jobs(), half_life_s in 600_u32..1_000_000) {
        let machine = Machine::of_one("cores", 8).unwrap();
        let decay = || UsageDecay::continuous(HalfLife::of_seconds(half_life_s).unwrap());
        let once = simulate(&jobs, &machine, &settings(two_accounts(&jobs, decay(), Vec::new()))).unwrap();
        let again = simulate(&jobs, &machine, &settings(two_accounts(&jobs, decay(), Vec::new()))).unwrap();
        prop_assert!(once.starts.iter().all(|start| start.is_some()));
        prop_assert_eq!(once, again);
    }
}
