//! Terms of the multifactor priority that the real cluster did not show.

use gridtally::fairshare::priority::{
    FavoredSize, PriorityFacts, PriorityHold, PriorityRule, PriorityScale, PriorityWeights, SizeBasis, TresAmount,
    TresScale, TresWeight,
};

use super::{assert_all_near, assert_near};

fn rule() -> PriorityRule {
    PriorityRule {
        weights: PriorityWeights {
            job_size: 1000,
            ..PriorityWeights::default()
        },
        max_age_s: 3600,
        favored_size: FavoredSize::Large,
        size_basis: SizeBasis::Part,
        association_scale: PriorityScale::OfHighest(50),
        partition_scale: PriorityScale::OfHighest(20),
        qos_scale: PriorityScale::OfHighest(100),
        tres_scale: TresScale::OfPartition,
        node_n: 10,
        cpu_n: 100,
    }
}

fn job() -> PriorityFacts {
    PriorityFacts {
        node_n: 2,
        cpu_n: 40,
        limit_min: 5,
        ..PriorityFacts::default()
    }
}

#[test]
fn job_size_favors_large_or_small_jobs_by_part_or_by_time() {
    let cases = [
        (FavoredSize::Large, SizeBasis::Part, 300.0),
        (FavoredSize::Small, SizeBasis::Part, 700.0),
        (FavoredSize::Large, SizeBasis::PerMinute, 80.0),
        (FavoredSize::Small, SizeBasis::PerMinute, 920.0),
    ];
    for (favored_size, size_basis, expected) in cases {
        let rule = PriorityRule {
            favored_size,
            size_basis,
            ..rule()
        };
        assert_near(rule.terms(&job()).job_size, expected, 1e-9);
    }
    // Without CPUs only the nodes count; a size above the cluster is the cluster.
    let mut odd = job();
    odd.cpu_n = 0;
    assert_near(rule().terms(&odd).job_size, 200.0, 1e-9);
    odd.node_n = 99;
    assert_near(rule().terms(&odd).job_size, 1000.0, 0.0);
}

#[test]
fn priorities_are_parts_of_the_highest_or_themselves() {
    let mut rule = rule();
    rule.weights.association = 100;
    rule.weights.partition = 100;
    rule.weights.qos = 100;
    let mut job = job();
    (job.association_priority, job.partition_priority, job.qos_priority) = (10, 5, 30);
    let terms = rule.terms(&job);
    assert_all_near(&[terms.association, terms.partition, terms.qos], &[20.0, 25.0, 30.0]);
    rule.association_scale = PriorityScale::Plain;
    rule.partition_scale = PriorityScale::Plain;
    rule.qos_scale = PriorityScale::Plain;
    let terms = rule.terms(&job);
    assert_all_near(
        &[terms.association, terms.partition, terms.qos],
        &[1000.0, 500.0, 3000.0],
    );
}

#[test]
fn resources_are_parts_of_the_partition_or_amounts() {
    let mut rule = rule();
    rule.weights.tres = ["CPU", "gres/gpu"]
        .map(|name| TresWeight {
            name: name.to_owned(),
            weight: 100.0,
        })
        .to_vec();
    let mut job = job();
    let amount = |name: &str, amount, of_partition| TresAmount {
        name: name.to_owned(),
        amount,
        of_partition,
    };
    job.tres = vec![amount("cpu", 40, 80), amount("mem", 5, 5), amount("gres/gpu", 2, 0)];
    let terms = rule.terms(&job);
    assert_all_near(&terms.tres.iter().map(|of| of.term).collect::<Vec<_>>(), &[50.0, 0.0]);
    rule.tres_scale = TresScale::Plain;
    let terms = rule.terms(&job);
    assert_all_near(
        &terms.tres.iter().map(|of| of.term).collect::<Vec<_>>(),
        &[4000.0, 200.0],
    );
}

#[test]
fn a_priority_is_whole_from_one_to_the_largest_of_32_bits_and_zero_when_held() {
    let priority = |site, nice, hold| {
        let job = PriorityFacts {
            site,
            nice,
            hold,
            ..job()
        };
        rule().terms(&job).priority
    };
    let waiting = PriorityHold::Waiting;
    assert_eq!(priority(0, 0, waiting), 300);
    assert_eq!(priority(7, 100, waiting), 207);
    assert_eq!(priority(0, 300, waiting), 1);
    assert_eq!(priority(0, 2_000_000_000, waiting), 1);
    assert_eq!(priority(i64::from(u32::MAX), 0, waiting), u32::MAX);
    assert_eq!(priority(0, i64::MIN, waiting), u32::MAX);
    assert_eq!(priority(500, 0, PriorityHold::Held), 0);
}

#[test]
fn age_is_full_from_the_greatest_age_on() {
    let mut rule = rule();
    rule.weights.age = 1000;
    let age = |rule: &PriorityRule, waiting_s| {
        let job = PriorityFacts { waiting_s, ..job() };
        rule.terms(&job).age
    };
    assert_all_near(
        &[age(&rule, 1800), age(&rule, 3600), age(&rule, 9999), age(&rule, -5)],
        &[500.0, 1000.0, 1000.0, 0.0],
    );
    rule.max_age_s = 0;
    assert_near(age(&rule, 0), 1000.0, 0.0);
}
