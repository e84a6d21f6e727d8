//! The kernel against the brute force on small clusters of every kind.

use std::collections::BTreeMap;
use std::ops::Range;

use gridtally::occupancy::{
    AllocationShapes, CapacitySegment, CapacityState, Grid, History, Interval, NodeQuery, NodeTotals, Resource,
    Resources, Scheme, Slices, Thresholds, TimeHistogram, Unit, bill, tally_all,
};
use gridtally::time::month::date_of;
use gridtally::time::{SecondSpan, Zone};
use proptest::prelude::*;

use super::brute::{self, Job, Mood, Payer, Phase};
use super::cases::unit;

/// Instants around which a local day or hour begins, ends or happens twice.
pub(super) const MOMENTS: [(&str, i64); 5] = [
    ("UTC", 1_767_225_600),
    ("Europe/Zurich", 1_792_890_000),
    ("Europe/Zurich", 1_774_746_000),
    ("Asia/Kolkata", 1_790_793_000),
    ("America/St_Johns", 1_793_503_800),
];

#[derive(Clone, Debug)]
struct Case {
    zone: &'static str,
    span: (i64, i64),
    /// By node.
    nodes: Vec<(Vec<Phase>, Vec<Job>)>,
    units: Vec<[i64; 4]>,
    payer: Payer,
}

pub(super) fn amounts(most: i64) -> impl Strategy<Value = [i64; 4]> {
    (0..=most, 0..=most * 3, 0..=3_i64)
        .prop_flat_map(|(core_n, byte, gpu_n)| (0..=gpu_n).prop_map(move |model_n| [core_n, byte, gpu_n, model_n]))
}

pub(super) fn job_of(from_s: i64, length_s: i64) -> impl Strategy<Value = Job> {
    (-20..length_s, 0..80_i64, amounts(4), prop::bool::weighted(0.1)).prop_map(
        move |(start_s, run_s, held, is_exclusive)| Job {
            start_s: from_s + start_s,
            end_s: from_s + start_s + run_s,
            held,
            is_exclusive,
        },
    )
}

pub(super) fn phase_of(from_s: i64, length_s: i64) -> impl Strategy<Value = Phase> {
    let mood = prop_oneof![4 => Just(Mood::Up), 1 => Just(Mood::Down), 1 => Just(Mood::Reserved)];
    let phase = (
        -20..length_s,
        mood,
        prop_oneof![8 => amounts(9), 1 => Just([0; 4])],
        prop::bool::weighted(0.2),
    );
    phase.prop_map(move |(start_s, mood, has, is_kept)| Phase {
        from_s: from_s + start_s,
        mood,
        has,
        kept_back: if is_kept { [1, 2, 0, 0].map(|n: i64| n) } else { [0; 4] },
    })
}

/// Clusters of some nodes, for so many seconds, with so many jobs on each.
fn cases(length_s: Range<i64>, job_n: Range<usize>) -> impl Strategy<Value = Case> {
    (0..MOMENTS.len(), 0..90_i64, length_s).prop_flat_map(move |(moment, before_s, length_s)| {
        let (zone, at_s) = MOMENTS[moment];
        let span = (at_s - before_s, at_s - before_s + length_s);
        let (job, phase) = (job_of(span.0, length_s), phase_of(span.0, length_s));
        let node = (
            prop::collection::vec(phase, 0..4),
            prop::collection::vec(job, job_n.clone()),
        );
        let unit = (0..3_i64, 0..4_i64, 0..2_i64, 0..2_i64)
            .prop_map(|(core_n, byte, gpu_n, model_n)| [core_n, byte, gpu_n, model_n])
            .prop_filter("a unit names something", |unit| *unit != [0; 4]);
        let payer = prop_oneof![Just(Payer::Aware), Just(Payer::Usage), Just(Payer::Whole)];
        (
            prop::collection::vec(node, 1..4),
            prop::collection::vec(unit, 1..4),
            payer,
        )
            .prop_map(move |(mut nodes, units, payer)| {
                for (phases, _) in &mut nodes {
                    phases.sort_by_key(|phase| phase.from_s);
                    phases.dedup_by_key(|phase| phase.from_s);
                }
                Case {
                    zone,
                    span,
                    nodes,
                    units,
                    payer,
                }
            })
    })
}

pub(super) fn model() -> Resource {
    Resource::GpuModel("m".to_owned())
}

/// The first amounts of these: of the resources followed.
pub(super) fn history(phases: &[Phase], resources: &Resources) -> History {
    let state = |mood| match mood {
        Mood::Up => CapacityState::Up,
        Mood::Down => CapacityState::Down,
        Mood::Reserved => CapacityState::Reserved,
    };
    let segments = phases.iter().map(|phase| CapacitySegment {
        from_s: phase.from_s,
        state: state(phase.mood),
        capacity: phase.has[..resources.width()].to_vec(),
        set_aside: phase.kept_back[..resources.width()].to_vec(),
    });
    History {
        segments: segments.collect(),
        known: vec![true; resources.width()],
    }
}

/// The days of a node as computed by brute force.
pub(super) fn days(tally: &NodeTotals) -> BTreeMap<String, brute::Day> {
    tally
        .days
        .iter()
        .map(|day| {
            let units = day.units.iter().map(|unit| brute::UnitDay {
                unit_s: unit.unit_s,
                overhead: unit.overhead,
                stranded: unit.stranded,
                billed: unit.billed,
            });
            let reported = brute::Day {
                there_s: day.node_s,
                up_s: day.up_s,
                capacity: day.capacity,
                allocated: day.allocated,
                down: day.down,
                reserved: day.reserved,
                over: day.over,
                units: units.collect(),
            };
            (date_of(day.day).unwrap().to_string(), reported)
        })
        .collect()
}

/// The ledger's identity, and what jobs held beyond what there is.
fn closes(tally: &NodeTotals, truth: &brute::Answer) {
    for day in &tally.days {
        for unit in &day.units {
            for r in 0..3 {
                let sum = day.allocated[r] + unit.overhead[r] + unit.stranded[r] + day.down[r] + day.reserved[r];
                assert_eq!(day.capacity[r], sum, "the ledger closes");
            }
        }
    }
    for r in 0..3 {
        let of = tally.findings.iter().filter(|finding| finding.resource == r);
        let (over_s, over) = of.fold((0, 0), |(s, over), finding| {
            (s + finding.until_s - finding.from_s, over + finding.over)
        });
        assert_eq!(over_s, truth.over_s[r]);
        assert_eq!(over, truth.days.values().map(|day| day.over[r]).sum::<i128>());
    }
}

/// The jobs of a node pay what it bills by the first unit, to the last digit.
fn pays_all(tally: &NodeTotals, billed: &[[i128; 3]]) {
    for r in 0..3 {
        let all: i128 = billed.iter().map(|billed| billed[r]).sum();
        let of_days: i128 = tally.days.iter().map(|day| day.units[0].billed[r]).sum();
        assert_eq!(all, of_days * 1_000_000_000);
    }
}

/// Units of how many nodes there were by hour and number, and what was free.
pub(super) type Spreaded = (BTreeMap<(usize, i64, i64), i64>, BTreeMap<[i64; 3], i64>);

pub(super) fn spreaded<'a>(spreads: impl IntoIterator<Item = &'a TimeHistogram>) -> Spreaded {
    let mut all = Spreaded::default();
    for spread in spreads {
        for (unit, seconds) in spread.units.iter().enumerate() {
            for ([hour, n, _], s) in seconds.iter() {
                *all.0.entry((unit, hour, n)).or_default() += s;
            }
        }
        for (shape, s) in spread.shapes.iter() {
            *all.1.entry(shape).or_default() += s;
        }
    }
    all
}

/// Units of these amounts, in the order of the brute force.
pub(super) fn named(units: &[[i64; 4]]) -> Vec<Unit> {
    let places = [Resource::Core, Resource::Memory, Resource::Gpu, model()];
    let named = units.iter().map(|amounts| {
        let thresholds: Vec<_> = places.iter().cloned().zip(*amounts).filter(|(_, n)| *n > 0).collect();
        unit("u", &thresholds)
    });
    named.collect()
}

fn agrees(case: &Case, threads: usize) {
    // The model is followed where one of them names it.
    let named = named(&case.units);
    let resources = Resources::of(&named);
    let width = resources.width();
    let thresholds: Vec<Thresholds> = named.iter().map(|unit| unit.thresholds(&resources)).collect();
    let scheme = match case.payer {
        Payer::Aware => Scheme::OverheadAware,
        Payer::Usage => Scheme::UsageOnly,
        Payer::Whole => Scheme::WholeNode,
    };
    let zone = Zone::named(case.zone).unwrap();
    let (from_s, until_s) = case.span;
    let grid = Grid::new(&zone, from_s, until_s);
    let mut shapes = AllocationShapes::new(resources.width());
    let mut slices = Slices::new([SecondSpan::from([from_s, until_s])]);
    for (node, (_, jobs)) in (0..).zip(&case.nodes) {
        for job in jobs {
            let shape = shapes.number(&job.held[..width], job.is_exclusive).unwrap();
            slices
                .push(node, SecondSpan::from([job.start_s, job.end_s]), shape, 0)
                .unwrap();
        }
    }
    let histories: Vec<History> = case
        .nodes
        .iter()
        .map(|(phases, _)| history(phases, &resources))
        .collect();
    let question = NodeQuery {
        units: &thresholds,
        scheme,
    };
    let slice = slices.slice(0, histories.len()).unwrap();
    let together = tally_all(slice, &histories, &shapes, &grid, |_| (0, question), threads).unwrap();
    let (tallies, spreads) = tally_all(slice, &histories, &shapes, &grid, |nth| (nth, question), threads).unwrap();
    assert_eq!(together.0, tallies);
    assert_eq!(spreaded(together.1.values()), spreaded(spreads.values()));
    for (((tally, spread), history), (phases, jobs)) in
        tallies.iter().zip(spreads.values()).zip(&histories).zip(&case.nodes)
    {
        let truth = brute::answer(phases, jobs, &case.units, case.payer, case.zone, case.span);
        let days = days(tally);
        assert_eq!(days, truth.days);
        assert_eq!(spreaded([spread]), (truth.histogram.clone(), truth.shapes.clone()));
        closes(tally, &truth);
        // The jobs' bills, each known by its tag.
        let mut intervals: Vec<Interval> = Vec::new();
        for (tag, job) in (0_u32..).zip(jobs) {
            let (start_s, end_s) = (job.start_s.max(from_s), job.end_s.min(until_s));
            if start_s < end_s {
                let relative = |s: i64| u32::try_from(s - from_s).unwrap();
                let shape = shapes.number(&job.held[..width], job.is_exclusive).unwrap();
                intervals.push(Interval {
                    start_s: relative(start_s),
                    end_s: relative(end_s),
                    shape,
                    tag,
                });
            }
        }
        let billed = bill(history, &intervals, &shapes, &grid, &thresholds[0], scheme);
        for (interval, billed) in intervals.iter().zip(&billed) {
            let expected = truth.billed[usize::try_from(interval.tag).unwrap()];
            for r in 0..3 {
                let got = f64::from(u32::try_from(billed[r] / 1_000).unwrap()) / 1e6;
                assert!((got - expected[r]).abs() < 3e-6, "{got} {}", expected[r]);
            }
        }
        pays_all(tally, &billed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_kernel_agrees_with_counting_every_second(case in cases(1..150, 0..12), threads in 1..3_usize) {
        agrees(&case, threads);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_does_on_nodes_where_thousands_of_jobs_begin_and_end(case in cases(2500..3500, 600..1500), threads in 1..3_usize) {
        agrees(&case, threads);
    }
}
