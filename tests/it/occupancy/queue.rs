//! Jobs that waited against what was free: the kernel agrees with asking every job at every second.

use std::collections::{BTreeMap, BTreeSet};

use gridtally::occupancy::queue::ByCause;
use gridtally::occupancy::{
    AllocationShapes, Ask, Grid, Queue, QueueMachine, QueueSums, Resources, Slices, Thresholds, Wait, queue,
};
use gridtally::time::month::date_of;
use gridtally::time::{SecondSpan, Zone};
use proptest::prelude::*;

use super::brute::{Job, Mood, Phase, held_by};
use super::cases::unit;
use super::random::{MOMENTS, amounts, history, job_of, model, named, phase_of};

/// A job in a queue.
#[derive(Clone, Debug)]
struct Waiting {
    start_s: i64,
    end_s: i64,
    /// Cores, bytes, GPUs, GPUs of the model: on each node.
    need: [i64; 4],
    node_n: usize,
    is_exclusive: bool,
    limit_s: Option<i64>,
    /// Nodes that will do.
    nodes: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
struct Case {
    zone: &'static str,
    span: (i64, i64),
    nodes: Vec<(Vec<Phase>, Vec<Job>)>,
    units: Vec<[i64; 4]>,
    waiting: Vec<Waiting>,
}

fn cases() -> impl Strategy<Value = Case> {
    (0..MOMENTS.len(), 0..90_i64, 1..150_i64).prop_flat_map(|(moment, before_s, length_s)| {
        let (zone, at_s) = MOMENTS[moment];
        let span = (at_s - before_s, at_s - before_s + length_s);
        let node = (
            prop::collection::vec(phase_of(span.0, length_s), 0..4),
            prop::collection::vec(job_of(span.0, length_s), 0..8),
        );
        let waiting = (
            (0..length_s, 1..60_i64),
            amounts(3),
            1..3_usize,
            prop::bool::weighted(0.2),
            prop::option::of(0..40_i64),
            prop::collection::btree_set(0..3_usize, 0..4),
        )
            .prop_map(
                move |((start_s, wait_s), need, node_n, is_exclusive, limit_s, nodes)| Waiting {
                    start_s: span.0 + start_s,
                    end_s: (span.0 + start_s + wait_s).min(span.1),
                    need,
                    node_n,
                    is_exclusive,
                    limit_s,
                    nodes,
                },
            );
        let unit = (0..3_i64, 0..4_i64, 0..2_i64, 0..2_i64)
            .prop_map(|(core_n, byte, gpu_n, model_n)| [core_n, byte, gpu_n, model_n])
            .prop_filter("a unit names something", |unit| *unit != [0; 4]);
        (
            prop::collection::vec(node, 3..4),
            prop::collection::vec(unit, 0..3),
            prop::collection::vec(waiting, 1..9),
        )
            .prop_map(move |(mut nodes, units, waiting)| {
                for (phases, _) in &mut nodes {
                    phases.sort_by_key(|phase| phase.from_s);
                    phases.dedup_by_key(|phase| phase.from_s);
                }
                Case {
                    zone,
                    span,
                    nodes,
                    units,
                    waiting,
                }
            })
    })
}

/// Jobs of one pool and unit by date as printed.
type Answer = BTreeMap<(BTreeSet<usize>, Option<usize>, String), QueueSums>;

/// How many units a job takes; none that names nothing it needs.
fn takes(unit: &[i64; 4], need: &[i64; 4]) -> i64 {
    let mut taken = 0;
    while (0..4).any(|r| unit[r] > 0 && unit[r] * taken < need[r]) {
        taken += 1;
    }
    taken
}

/// Nodes that would do for a job in a second.
fn would_do(case: &Case, job: &Waiting, second: i64) -> Vec<[usize; 3]> {
    // Nodes that would do, drained, reserved and open: by vector, then by each unit.
    let mut counts = vec![[0_usize; 3]; 1 + case.units.len()];
    for node in &job.nodes {
        let (phases, jobs) = &case.nodes[*node];
        let Some(phase) = phases.iter().rev().find(|phase| phase.from_s <= second) else {
            continue;
        };
        let now: Vec<&Job> = jobs
            .iter()
            .filter(|job| job.start_s <= second && second < job.end_s)
            .collect();
        let held: [i64; 4] = std::array::from_fn(|r| now.iter().map(|job| job.held[r]).sum());
        if now.iter().any(|job| job.is_exclusive) || (job.is_exclusive && held != [0; 4]) {
            continue;
        }
        let free: [i64; 4] = std::array::from_fn(|r| {
            let left = (phase.has[r] - held[r]).max(0);
            left - left.min(phase.kept_back[r])
        });
        let mut kind = match phase.mood {
            Mood::Down => 0,
            Mood::Reserved => 1,
            Mood::Up => 2,
        };
        let next = phases
            .iter()
            .find(|phase| phase.from_s > second && phase.mood == Mood::Reserved);
        if kind == 2
            && job
                .limit_s
                .is_some_and(|limit| next.is_some_and(|next| second + limit > next.from_s))
        {
            kind = 1;
        }
        if (0..4).all(|r| job.need[r] <= free[r]) {
            counts[0][kind] += 1;
        }
        for (nth, unit) in case.units.iter().enumerate() {
            let (taken, unit) = (takes(unit, &job.need), held_by(unit));
            if taken > 0 && (0..4).all(|r| unit[r] * taken <= free[r]) {
                counts[1 + nth][kind] += 1;
            }
        }
    }
    counts
}

/// Why it waits, if so many nodes would do.
fn why(counts: &[usize; 3], node_n: usize) -> Option<usize> {
    let [down, reserved, open] = *counts;
    if open >= node_n {
        Some(2)
    } else if open + reserved >= node_n {
        Some(1)
    } else {
        (open + reserved + down >= node_n).then_some(0)
    }
}

/// Second by second, job by job, node by node.
fn truth(case: &Case) -> Answer {
    let zone = jiff::tz::TimeZone::get(case.zone).unwrap();
    let mut answer = Answer::new();
    let mut fitted: BTreeSet<(usize, String)> = BTreeSet::new();
    let mut waited: BTreeSet<(usize, String)> = BTreeSet::new();
    let measured = |job: &Waiting| -> Vec<Option<usize>> {
        let of = (0..case.units.len()).filter(|nth| takes(&case.units[*nth], &job.need) > 0);
        let of: Vec<Option<usize>> = of.map(Some).collect();
        if of.is_empty() { vec![None] } else { of }
    };
    for second in case.span.0..case.span.1 {
        let day = jiff::Timestamp::from_second(second)
            .unwrap()
            .to_zoned(zone.clone())
            .date()
            .to_string();
        // By pool and unit: whether any job fits, by vector and by units.
        let mut any: BTreeMap<(BTreeSet<usize>, Option<usize>), [bool; 2]> = BTreeMap::new();
        for (nth, job) in case.waiting.iter().enumerate() {
            if second < job.start_s || job.end_s <= second {
                continue;
            }
            waited.insert((nth, day.clone()));
            let counts = would_do(case, job, second);
            for unit in measured(job) {
                let by_vector = why(&counts[0], job.node_n);
                let by_unit = unit.and_then(|unit| why(&counts[1 + unit], job.node_n));
                let sums = answer.entry((job.nodes.clone(), unit, day.clone())).or_default();
                sums.wait_s += 1;
                sums.is_vector_unknown = job.nodes.is_empty();
                sums.is_unit_unknown = job.nodes.is_empty() || unit.is_none();
                let add = |sums: &mut ByCause, cause: Option<usize>| {
                    if let Some(cause) = cause {
                        sums[cause] += 1;
                    }
                };
                add(&mut sums.vector_s, by_vector);
                add(&mut sums.unit_s, by_unit);
                sums.both_s += i64::from(by_vector.is_some() && by_unit.is_some());
                let any = any.entry((job.nodes.clone(), unit)).or_default();
                any[0] |= by_vector.is_some();
                any[1] |= by_unit.is_some();
                if by_vector.is_some() {
                    fitted.insert((nth, day.clone()));
                }
            }
        }
        for ((pool, unit), [by_vector, by_unit]) in any {
            let sums = answer.entry((pool, unit, day.clone())).or_default();
            sums.vector_moment_s += i64::from(by_vector);
            sums.unit_moment_s += i64::from(by_unit);
        }
    }
    for (nth, day) in waited {
        let job = &case.waiting[nth];
        for unit in measured(job) {
            let sums = answer.entry((job.nodes.clone(), unit, day.clone())).or_default();
            sums.job_n += 1;
            sums.fitting_job_n += i64::from(fitted.contains(&(nth, day.clone())));
        }
    }
    answer
}

fn kernel(case: &Case) -> Answer {
    let mut named = named(&case.units);
    named.push(unit("model", &[(model(), 1)]));
    let resources = Resources::of(&named);
    let thresholds: Vec<Thresholds> = named.iter().map(|unit| unit.thresholds(&resources)).collect();
    let units: Vec<(usize, Thresholds)> = thresholds.into_iter().enumerate().take(case.units.len()).collect();
    let (from_s, until_s) = case.span;
    let mut shapes = AllocationShapes::new(resources.width());
    let mut slices = Slices::new([SecondSpan::from([from_s, until_s])]);
    for (node, (_, jobs)) in (0..).zip(&case.nodes) {
        for job in jobs {
            let shape = shapes.number(&job.held, job.is_exclusive).unwrap();
            slices
                .push(node, SecondSpan::from([job.start_s, job.end_s]), shape, 0)
                .unwrap();
        }
    }
    let histories: Vec<_> = case
        .nodes
        .iter()
        .map(|(phases, _)| history(phases, &resources))
        .collect();
    let mut line = Queue::default();
    let mut waits = Vec::new();
    let mut groups: Vec<BTreeSet<usize>> = Vec::new();
    for job in &case.waiting {
        let group = groups.iter().position(|nodes| *nodes == job.nodes).unwrap_or_else(|| {
            groups.push(job.nodes.clone());
            line.pools
                .push(job.nodes.iter().map(|node| u32::try_from(*node).unwrap()).collect());
            groups.len() - 1
        });
        let taken = units
            .iter()
            .map(|(nth, thresholds)| (*nth, thresholds.taken(&job.need)));
        let ask = Ask {
            pool: group,
            group,
            node_n: u32::try_from(job.node_n).unwrap(),
            need: job.need.to_vec(),
            is_exclusive: job.is_exclusive,
            limit_s: job.limit_s,
            units: taken.filter(|(_, n)| *n > 0).collect(),
        };
        let number = line.asks.iter().position(|known| *known == ask).unwrap_or_else(|| {
            line.asks.push(ask);
            line.asks.len() - 1
        });
        let relative = |s: i64| u32::try_from(s - from_s).unwrap();
        if job.start_s < job.end_s {
            waits.push(Wait {
                start_s: relative(job.start_s),
                end_s: relative(job.end_s),
                ask: u32::try_from(number).unwrap(),
            });
        }
    }
    let (unit_numbers, thresholds): (Vec<usize>, Vec<Thresholds>) = units.into_iter().unzip();
    let machines = histories.iter().map(|history| QueueMachine {
        history,
        units: &unit_numbers,
        thresholds: &thresholds,
    });
    let machines: Vec<QueueMachine<'_>> = machines.collect();
    let grid = Grid::new(&Zone::named(case.zone).unwrap(), from_s, until_s);
    let slice = slices.slice(0, histories.len()).unwrap();
    let sums = queue(slice, &machines, &shapes, &grid, &line, &waits).unwrap();
    let named = sums.into_iter().map(|(key, sums)| {
        (
            (
                groups[key.group].clone(),
                key.unit,
                date_of(key.day).unwrap().to_string(),
            ),
            sums,
        )
    });
    named.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_queue_agrees_with_asking_every_job_at_every_second(case in cases()) {
        prop_assert_eq!(kernel(&case), truth(&case));
    }
}
