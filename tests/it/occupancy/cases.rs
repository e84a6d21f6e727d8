//! Every worked figure of the paper, and the rules it leaves open.

use gridtally::occupancy::{
    AllocationShapes, CapacitySegment, CapacityState, Grid, History, Interval, LEDGER_N, NodeQuery, NodeTotals,
    PRESETS, Resource, Resources, Scheme, Slices, Thresholds, TimeHistogram, Unit, bill, rate, tally_all,
};
use gridtally::time::{SecondSpan, Zone};
use proptest::prelude::*;

const GB: i64 = 1_000_000_000;
/// Seconds in the cases.
const SPAN_S: i64 = 100;

pub(super) fn unit(name: &str, thresholds: &[(Resource, i64)]) -> Unit {
    Unit {
        name: name.to_owned(),
        thresholds: thresholds.to_vec(),
        partitions: Vec::new(),
    }
}

fn core_and_2gb() -> Unit {
    unit("1 core + 2 GB", &[(Resource::Core, 1), (Resource::Memory, 2 * GB)])
}

fn units_of(unit: &Unit, free: &[i64]) -> i64 {
    unit.thresholds(&Resources::of(std::slice::from_ref(unit))).units(free)
}

/// A node of the capacity with these jobs for all of the time.
fn node(capacity: [i64; 3], jobs: &[[i64; 3]], units: &[Unit], scheme: Scheme) -> NodeTotals {
    node_in(&History::constant(&capacity), jobs, units, scheme).0
}

fn node_in(history: &History, jobs: &[[i64; 3]], units: &[Unit], scheme: Scheme) -> (NodeTotals, TimeHistogram) {
    let resources = Resources::of(units);
    let mut shapes = AllocationShapes::new(resources.width());
    let always = SecondSpan {
        start_s: 0,
        end_s: SPAN_S,
    };
    let mut slices = Slices::new([always]);
    for job in jobs {
        let shape = shapes.number(job, false).unwrap();
        slices.push(0, always, shape, 0).unwrap();
    }
    let thresholds: Vec<Thresholds> = units.iter().map(|unit| unit.thresholds(&resources)).collect();
    let question = NodeQuery {
        units: &thresholds,
        scheme,
    };
    let grid = Grid::new(&Zone::utc(), 0, SPAN_S);
    let histories = std::slice::from_ref(history);
    let slice = slices.slice(0, 1).unwrap();
    let (mut tallies, mut spreads) = tally_all(slice, histories, &shapes, &grid, |_| (0, question), 2).unwrap();
    (tallies.pop().unwrap(), spreads.remove(&0).unwrap())
}

/// A job for all of the time.
fn interval(shape: u32) -> Interval {
    Interval {
        start_s: 0,
        end_s: u32::try_from(SPAN_S).unwrap(),
        shape,
        tag: 0,
    }
}

/// Rates in ten-thousandths of cores and memory, as the paper prints them in percent; `None` where nothing is held.
fn rates(jobs: &[[i64; 3]], scheme: Scheme) -> [Option<i64>; 2] {
    let tally = node(NODE, jobs, &[core_and_2gb()], scheme);
    let day = &tally.days[0];
    [0, 1].map(|r| {
        let used: i64 = jobs.iter().map(|job| job[r]).sum();
        let billed = i64::try_from(day.units[0].billed[r] / i128::from(SPAN_S)).unwrap();
        rate(billed, used).map(|rate| i64::try_from((rate + 50_000_000) / 100_000_000).unwrap())
    })
}

/// The node that gives every rate the paper prints (CU-I1): 6 cores, 16 GB.
const NODE: [i64; 3] = [6, 16 * GB, 0];

fn units_on_node(jobs: &[[i64; 3]]) -> i128 {
    let tally = node(NODE, jobs, &[core_and_2gb()], Scheme::OverheadAware);
    tally.days[0].units[0].unit_s / i128::from(SPAN_S)
}

#[test]
fn cu_01_units_are_the_least_quotient() {
    let three = unit("3c", &[(Resource::Core, 3), (Resource::Memory, 5)]);
    assert_eq!(units_of(&three, &[10, 11, 0]), 2);
    assert_eq!(units_of(&three, &[10, 21, 0]), 3);
    assert_eq!(units_of(&three, &[2, 1000, 0]), 0);
    assert_eq!(units_of(&unit("nothing", &[]), &[10, 10, 10]), 0);
}

#[test]
fn cu_02_to_06_the_five_cases_of_the_second_figure() {
    let unit = core_and_2gb();
    for (core_n, gb, expected) in [(0, 3, 0), (3, 0, 0), (3, 1, 0), (3, 4, 2), (3, 7, 3)] {
        assert_eq!(
            units_of(&unit, &[core_n, gb * GB, 0]),
            expected,
            "{core_n} cores, {gb} GB free"
        );
    }
}

#[test]
fn cu_07_definitions_are_in_parallel_and_may_be_for_some_partitions() {
    let mut ours = unit("2 cores", &[(Resource::Core, 2)]);
    let both = [core_and_2gb(), ours.clone()];
    let tally = node(NODE, &[[1, 2 * GB, 0]], &both, Scheme::OverheadAware);
    let units: Vec<i128> = tally.days[0]
        .units
        .iter()
        .map(|unit| unit.unit_s / i128::from(SPAN_S))
        .collect();
    assert_eq!(units, [5, 2]);
    ours.partitions = vec!["gpu".to_owned()];
    assert!(ours.is_for(&["cpu", "gpu"]) && !ours.is_for(&["cpu"]) && both[0].is_for(&["cpu"]));
}

#[test]
fn cu_08_and_09_the_units_of_the_open_science_grid_are_shipped() {
    let preset = |word: &str| unit(word, PRESETS.iter().find(|(name, _)| *name == word).unwrap().1);
    assert_eq!(units_of(&preset("osg-cpu"), &[3, 7 * GB, 0]), 3);
    assert_eq!(units_of(&preset("osg-cpu"), &[3, 4 * GB - 1, 9]), 1);
    // A GPU alone: no core and no memory need be free.
    assert_eq!(units_of(&preset("osg-gpu"), &[0, 0, 2]), 2);
}

#[test]
fn a_unit_may_name_a_model_of_gpu() {
    let model = Resource::GpuModel("a100".to_owned());
    let units = [unit("a100", &[(model, 1)]), unit("any", &[(Resource::Gpu, 1)])];
    let resources = Resources::of(&units);
    assert_eq!(resources.width(), LEDGER_N + 1);
    let units_of = |free: [i64; 4]| {
        let of = units.iter().map(|unit| unit.thresholds(&resources).units(&free));
        of.collect::<Vec<_>>()
    };
    assert_eq!(units_of([0, 0, 4, 1]), [1, 4]);
    // Jobs that do not state the model of their GPUs hold some of those that look free.
    assert_eq!(units_of([0, 0, 1, 4]), [1, 1]);
}

#[test]
fn cu_11_only_values_of_nodes_are_added() {
    let (first, second) = ([3, 0, 0], [0, 6 * GB, 0]);
    let of = |free: [i64; 3]| node(free, &[], &[core_and_2gb()], Scheme::OverheadAware).days[0].units[0].unit_s;
    assert_eq!(of(first) + of(second), 0);
    let sum: Vec<i64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
    assert_eq!(
        units_of(&core_and_2gb(), &sum),
        3,
        "the result of adding up by resource"
    );
}

#[test]
fn cu_12_only_two_of_the_five_cases_are_undesirable() {
    let cases = [(0, 3), (3, 0), (3, 1), (3, 4), (3, 7)];
    let flagged = cases.map(|(core_n, gb)| units_of(&core_and_2gb(), &[core_n, gb * GB, 0]) > 0);
    assert_eq!(flagged, [false, false, false, true, true]);
}

#[test]
fn cu_13_the_distribution_is_weighted_by_time() {
    let mut seen = std::collections::BTreeMap::new();
    for free in [[0, 3, 0], [3, 0, 0], [3, 1, 0], [3, 4, 0], [3, 7, 0]] {
        let jobs = [[6 - free[0], (16 - free[1]) * GB, 0]];
        let (_, spread) = node_in(
            &History::constant(&NODE),
            &jobs,
            &[core_and_2gb()],
            Scheme::OverheadAware,
        );
        for ([_, unit_n, _], time_s) in spread.units[0].iter() {
            *seen.entry(unit_n).or_insert(0) += time_s;
        }
    }
    assert_eq!(seen, [(0, 3 * SPAN_S), (2, SPAN_S), (3, SPAN_S)].into());
}

#[test]
fn units_may_be_as_many_as_bytes() {
    let byte = unit("byte", &[(Resource::Memory, 1)]);
    let (tally, spread) = node_in(&History::constant(&NODE), &[[1, 1, 0]], &[byte], Scheme::OverheadAware);
    let free = 16 * GB - 1;
    assert_eq!(tally.days[0].units[0].unit_s, i128::from(free * SPAN_S));
    // 1970 began on a Thursday.
    assert_eq!(spread.units[0].iter().collect::<Vec<_>>(), [([72, free, 0], SPAN_S)]);
    assert_eq!(spread.shapes.iter().collect::<Vec<_>>(), [([5, free >> 30, 0], SPAN_S)]);
}

#[test]
fn cu_17_every_job_pays_the_rate_in_proportion_to_what_it_holds() {
    let jobs = [[1, 2 * GB, 0], [2, 7 * GB, 0]];
    let unit = core_and_2gb();
    let resources = Resources::of(std::slice::from_ref(&unit));
    let thresholds = unit.thresholds(&resources);
    // capacity - units x threshold, over what is allocated: 3 units are free, so (6 - 3) / 3 and (16 - 6) / 9.
    let units_n = i64::try_from(units_on_node(&jobs)).unwrap();
    let shared = [6 - units_n, 16 * GB - units_n * 2 * GB];
    let mut shapes = AllocationShapes::new(resources.width());
    let intervals = jobs.map(|job| interval(shapes.number(&job, false).unwrap()));
    let grid = Grid::new(&Zone::utc(), 0, SPAN_S);
    let billed = bill(
        &History::constant(&NODE),
        &intervals,
        &shapes,
        &grid,
        &thresholds,
        Scheme::OverheadAware,
    );
    for (interval, billed) in intervals.iter().zip(&billed) {
        for r in 0..2 {
            let held = i128::from(shapes.amounts(interval.shape)[r]);
            let allocated: i64 = jobs.iter().map(|job| job[r]).sum();
            let exact = held * i128::from(shared[r]) * i128::from(SPAN_S) * 1_000_000_000 / i128::from(allocated);
            assert!((billed[r] - exact).abs() <= 1, "{} {exact}", billed[r]);
        }
    }
}

#[test]
fn cu_18_to_21_one_node_gives_every_rate_of_the_paper() {
    let leftmost = [[2, 5_600_000_000, 0], [4, 5_600_000_000, 0]];
    assert_eq!(units_on_node(&leftmost), 0);
    assert_eq!(rates(&leftmost, Scheme::OverheadAware), [Some(10_000), Some(14_286)]);
    let next = [[1, 12 * GB, 0], [2, 4 * GB, 0]];
    assert_eq!(units_on_node(&next), 0);
    assert_eq!(rates(&next, Scheme::OverheadAware), [Some(20_000), Some(10_000)]);
    let rightmost = [[3, 9 * GB, 0]];
    assert_eq!(units_on_node(&rightmost), 3);
    assert_eq!(rates(&rightmost, Scheme::OverheadAware), [Some(10_000), Some(11_111)]);
}

#[test]
fn cu_22_the_two_cases_the_paper_does_not_price() {
    let one_gb_left = [[3, 15 * GB, 0]];
    assert_eq!(units_on_node(&one_gb_left), 0);
    assert_eq!(rates(&one_gb_left, Scheme::OverheadAware), [Some(20_000), Some(10_667)]);
    let four_gb_left = [[3, 12 * GB, 0]];
    assert_eq!(units_on_node(&four_gb_left), 2);
    assert_eq!(
        rates(&four_gb_left, Scheme::OverheadAware),
        [Some(13_333), Some(10_000)]
    );
}

#[test]
fn cu_23_what_jobs_are_billed_and_the_overhead_are_the_node() {
    let jobs = [[1, 12 * GB, 0], [2, 3 * GB, 0], [1, 500_000_000, 0]];
    let unit = core_and_2gb();
    let resources = Resources::of(std::slice::from_ref(&unit));
    let mut shapes = AllocationShapes::new(resources.width());
    let intervals = jobs.map(|job| interval(shapes.number(&job, false).unwrap()));
    let grid = Grid::new(&Zone::utc(), 0, SPAN_S);
    let thresholds = unit.thresholds(&resources);
    let history = History::constant(&NODE);
    let billed = bill(&history, &intervals, &shapes, &grid, &thresholds, Scheme::OverheadAware);
    let tally = node(NODE, &jobs, &[unit], Scheme::OverheadAware);
    for r in 0..2 {
        let all: i128 = billed.iter().map(|billed| billed[r]).sum();
        let overhead = tally.days[0].units[0].overhead[r];
        let capacity = i128::from(NODE[r]) * i128::from(SPAN_S);
        assert_eq!(all, (capacity - overhead) * 1_000_000_000, "to the last billionth");
    }
}

#[test]
fn cu_24_and_25_the_extremes_enclose_the_rate() {
    let jobs = [[3, 9 * GB, 0]];
    assert_eq!(rates(&jobs, Scheme::UsageOnly), [Some(10_000), Some(10_000)]);
    assert_eq!(rates(&jobs, Scheme::WholeNode), [Some(20_000), Some(17_778)]);
    for jobs in [&[[1, GB, 0]][..], &[[5, 2 * GB, 0]], &[[2, 15 * GB, 0], [1, GB, 0]]] {
        let [least, rate, most] =
            [Scheme::UsageOnly, Scheme::OverheadAware, Scheme::WholeNode].map(|scheme| rates(jobs, scheme));
        for r in 0..2 {
            assert!(least[r] <= rate[r] && rate[r] <= most[r]);
        }
    }
}

#[test]
fn cu_26_an_empty_node_has_no_rate_and_the_loss_is_the_providers() {
    let tally = node(NODE, &[], &[core_and_2gb()], Scheme::OverheadAware);
    let day = &tally.days[0];
    let of = |sums: [i128; 3]| [0, 1].map(|r| i64::try_from(sums[r] / i128::from(SPAN_S)).unwrap());
    assert_eq!(day.units[0].unit_s, 6 * i128::from(SPAN_S));
    assert_eq!(of(day.units[0].overhead), [6, 12 * GB]);
    assert_eq!(of(day.units[0].stranded), [0, 4 * GB]);
    assert_eq!(of(day.units[0].billed), [0, 0]);
    assert_eq!(rates(&[], Scheme::WholeNode), [None, None]);
    // Cores next to a job that holds memory only are idle: they are billed to nobody.
    assert_eq!(rates(&[[0, 16 * GB, 0]], Scheme::WholeNode), [None, Some(10_000)]);
}

#[test]
fn a_node_that_is_down_offers_nothing_and_what_drains_continues() {
    let mut history = History::constant(&NODE);
    let mut broken = history.segments[0].clone();
    (broken.from_s, broken.state) = (50, CapacityState::Down);
    history.segments.push(broken);
    let (tally, _) = node_in(&history, &[[2, 4 * GB, 0]], &[core_and_2gb()], Scheme::WholeNode);
    let day = &tally.days[0];
    assert_eq!((day.node_s, day.up_s), (100, 50));
    assert_eq!(day.allocated[0], 2 * 100);
    assert_eq!(day.down[0], 4 * 50);
    assert_eq!(day.units[0].unit_s, 4 * 50);
    // Whoever drains the node bears what it does not offer.
    assert_eq!(day.units[0].billed[0], 6 * 50 + 2 * 50);
}

#[test]
fn what_is_set_aside_for_the_system_is_reserved() {
    let mut history = History::constant(&NODE);
    history.segments[0].set_aside = vec![1, 0, 0];
    let (tally, _) = node_in(
        &history,
        &[[3, 0, 0]],
        &[unit("1c", &[(Resource::Core, 1)])],
        Scheme::OverheadAware,
    );
    let day = &tally.days[0];
    assert_eq!((day.reserved[0], day.units[0].overhead[0]), (100, 200));
}

#[test]
fn more_than_there_is_is_a_finding() {
    let tally = node(
        NODE,
        &[[4, GB, 0], [5, GB, 0]],
        &[core_and_2gb()],
        Scheme::OverheadAware,
    );
    let day = &tally.days[0];
    assert_eq!((day.allocated[0], day.over[0]), (600, 300));
    let [finding] = tally.findings.as_slice() else {
        panic!("{:?}", tally.findings)
    };
    assert_eq!(
        (finding.resource, finding.used, finding.capacity, finding.over),
        (0, 9, 6, 300)
    );
    assert_eq!((finding.from_s, finding.until_s), (0, 100));
}

#[test]
fn a_job_without_a_node_that_is_there_is_a_finding() {
    let absent = History {
        segments: vec![CapacitySegment {
            from_s: 60,
            state: CapacityState::Up,
            capacity: NODE.to_vec(),
            set_aside: vec![0; 3],
        }],
        known: vec![true; 3],
    };
    let (tally, _) = node_in(&absent, &[[1, 0, 0]], &[core_and_2gb()], Scheme::OverheadAware);
    assert_eq!(tally.days[0].node_s, 40);
    assert_eq!((tally.findings[0].from_s, tally.findings[0].until_s), (0, 60));
}

proptest! {
    #[test]
    fn units_are_what_division_states(
        free in prop_oneof![0..1_000_000_i64, i64::MIN..=i64::MAX],
        threshold in prop_oneof![1..1000_i64, 1..=i64::MAX],
        near in -1..=1_i64,
    ) {
        let of = unit("u", &[(Resource::Memory, threshold)]);
        prop_assert_eq!(units_of(&of, &[0, free, 0]), (free / threshold).max(0));
        // Where one more just fits, or just does not.
        let edge = (free.max(0) / threshold * threshold).saturating_add(near);
        prop_assert_eq!(units_of(&of, &[0, edge, 0]), (edge / threshold).max(0));
    }
}
