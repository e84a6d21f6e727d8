//! What does not fit memory waits on disk, and groups of nodes take no more than they need.

use gridtally::error::Kind;
use gridtally::occupancy::{
    AllocationShapes, Grid, History, NodeQuery, NodeTotals, Resource, Resources, Scheme, Slices, Thresholds,
    TimeHistogram, TimeHistograms, Wait, peaks, tally_all,
};
use gridtally::time::{SecondSpan, Zone};

use super::brute::{self, Job, Mood, Payer, Phase};
use super::cases::unit;
use super::random::{Spreaded, days, spreaded};
use crate::generator::rng::Rng;

const CORE_N: i64 = 8;
const MEMORY_BYTE: i64 = 48;
/// The second begins where the first ends, the third does not.
const SPANS: [SecondSpan; 3] = [
    SecondSpan {
        start_s: 1_767_225_600,
        end_s: 1_767_226_600,
    },
    SecondSpan {
        start_s: 1_767_226_600,
        end_s: 1_767_227_900,
    },
    SecondSpan {
        start_s: 1_767_229_000,
        end_s: 1_767_229_500,
    },
];
const NODE_N: usize = 35;
const JOB_N: usize = 700;

/// Jobs with the node of each.
fn jobs() -> Vec<(usize, Job)> {
    let mut rng = Rng::new(35);
    let mut chance = |below| rng.between(0, below);
    let (from_s, until_s) = (SPANS[0].start_s - 100, SPANS[2].end_s + 100);
    let jobs = (0..JOB_N).map(|_| {
        let node = usize::try_from(chance(35)).unwrap();
        let start_s = from_s + chance(until_s - from_s);
        let job = Job {
            start_s,
            // Some run through all slices, some not at all.
            end_s: start_s + chance(if node == 7 { 4000 } else { 300 }),
            held: [chance(4), chance(20), 0, 0],
            is_exclusive: chance(20) == 0,
        };
        (node, job)
    });
    jobs.collect()
}

/// Everything that can be asked of slices.
type SweepResult = (Vec<NodeTotals>, Spreaded, Vec<Vec<i64>>, Vec<Wait>);

fn put(slices: &mut Slices, shapes: &mut AllocationShapes) {
    for (tag, (node, job)) in (0_u32..).zip(jobs()) {
        let shape = shapes.number(&job.held[..3], job.is_exclusive).unwrap();
        let (node, span) = (u32::try_from(node).unwrap(), SecondSpan::from([job.start_s, job.end_s]));
        slices.push(node, span, shape, tag).unwrap();
        slices
            .wait(SecondSpan::from([job.start_s - 50, job.start_s]), tag)
            .unwrap();
    }
}

fn thresholds() -> Vec<Thresholds> {
    let named = [unit("u", &[(Resource::Core, 1), (Resource::Memory, 5)])];
    named
        .iter()
        .map(|unit| unit.thresholds(&Resources::of(&named)))
        .collect()
}

fn reported(mut slices: Slices, threads: usize) -> Vec<SweepResult> {
    let mut shapes = AllocationShapes::new(3);
    put(&mut slices, &mut shapes);
    let thresholds = thresholds();
    let question = NodeQuery {
        units: &thresholds,
        scheme: Scheme::OverheadAware,
    };
    let histories = vec![History::constant(&[CORE_N, MEMORY_BYTE, 0]); NODE_N];
    let reported = SPANS.into_iter().enumerate().map(|(nth, span)| {
        let slice = slices.slice(nth, NODE_N).unwrap();
        let grid = Grid::new(&Zone::utc(), span.start_s, span.end_s);
        let (tallies, spreads) = tally_all(slice, &histories, &shapes, &grid, |_| (0, question), threads).unwrap();
        let spreads = spreaded(spreads.values());
        (
            tallies,
            spreads,
            peaks(slice, &shapes).unwrap(),
            slices.waits(nth).unwrap(),
        )
    });
    reported.collect()
}

#[test]
fn slices_on_disk_state_what_they_do_in_memory() {
    let in_memory = reported(Slices::new(SPANS), 1);
    // Room for some hundred jobs, for one, and for none.
    for (memory_byte, threads) in [(3000, 2), (20, 1), (0, 2)] {
        assert_eq!(reported(Slices::new(SPANS).within(memory_byte), threads), in_memory);
    }
    let jobs = jobs();
    let phases = [Phase {
        from_s: 0,
        mood: Mood::Up,
        has: [CORE_N, MEMORY_BYTE, 0, 0],
        kept_back: [0; 4],
    }];
    for (span, (tallies, ..)) in SPANS.into_iter().zip(&in_memory) {
        for node in [0, 7, 15, 16, 34] {
            let of_node = jobs.iter().filter(|(of, _)| *of == node);
            let of_node: Vec<Job> = of_node.map(|(_, job)| job.clone()).collect();
            let truth = brute::answer(
                &phases,
                &of_node,
                &[[1, 5, 0, 0]],
                Payer::Aware,
                "UTC",
                (span.start_s, span.end_s),
            );
            assert_eq!(days(&tallies[node]), truth.days);
        }
    }
}

/// Cuts the unnamed file in which `tag` is found off in the middle.
#[cfg(target_os = "linux")]
fn cut(tag: u32) {
    let mut found = 0;
    for fd in std::fs::read_dir("/proc/self/fd").unwrap() {
        let path = fd.unwrap().path();
        let is_unnamed = std::fs::read_link(&path).is_ok_and(|to| to.to_string_lossy().ends_with("(deleted)"));
        let Some(bytes) = is_unnamed.then(|| std::fs::read(&path).ok()).flatten() else {
            continue;
        };
        if bytes.windows(4).any(|word| word == tag.to_le_bytes()) {
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_len(u64::try_from(bytes.len() / 2).unwrap()).unwrap();
            found += 1;
        }
    }
    assert_eq!(found, 1, "the jobs went to a file of their own");
}

#[test]
#[cfg(target_os = "linux")]
fn a_temporary_file_that_lost_jobs_is_an_error_that_states_it() {
    const TAG: u32 = 0xB5AD_4ECE;
    let mut slices = Slices::new(SPANS).within(1000);
    for nth in 0..500 {
        let start_s = SPANS[0].start_s + i64::from(nth);
        let span = SecondSpan::from([start_s, start_s + 9]);
        slices.push(nth % 40, span, 0, TAG).unwrap();
        slices.wait(span, TAG).unwrap();
    }
    cut(TAG);
    let mut shapes = AllocationShapes::new(3);
    shapes.number(&[1, 1, 0], false).unwrap();
    let histories = vec![History::constant(&[CORE_N, MEMORY_BYTE, 0]); 40];
    let question = NodeQuery {
        units: &thresholds(),
        scheme: Scheme::OverheadAware,
    };
    let slice = slices.slice(0, 40).unwrap();
    let grid = Grid::new(&Zone::utc(), SPANS[0].start_s, SPANS[0].end_s);
    for threads in [1, 2] {
        let why = tally_all(slice, &histories, &shapes, &grid, |_| (0, question), threads).unwrap_err();
        assert_eq!(why.kind(), Kind::Io);
        assert!(why.to_string().contains("temporary file"), "{why}");
    }
    assert_eq!(peaks(slice, &shapes).unwrap_err().kind(), Kind::Io);
    assert_eq!(slices.waits(0).unwrap_err().kind(), Kind::Io);
}

#[test]
fn thousands_of_groups_of_nodes_take_what_their_places_need() {
    const GROUP_N: usize = 3000;
    /// Places in which a thousand jobs could leave a node, if all were kept.
    const ALL_N: usize = GROUP_N * (168 * 65 + 65 * 257);
    let (from_s, until_s) = (1_767_225_600, 1_767_225_600 + 7 * 86_400);
    let (mut shapes, mut rng) = (AllocationShapes::new(3), Rng::new(3000));
    let mut chance = |below| rng.between(0, below);
    let mut slices = Slices::new([SecondSpan::from([from_s, until_s])]);
    for node in 0..u32::try_from(GROUP_N).unwrap() {
        for _ in 0..3 {
            let start_s = from_s + chance(until_s - from_s);
            let shape = shapes
                .number(&[1 + chance(30), (1 + chance(99)) << 30, 0], false)
                .unwrap();
            slices
                .push(
                    node,
                    SecondSpan::from([start_s, start_s + 1 + chance(90_000)]),
                    shape,
                    0,
                )
                .unwrap();
        }
    }
    let thresholds = thresholds();
    let question = NodeQuery {
        units: &thresholds,
        scheme: Scheme::OverheadAware,
    };
    let histories = vec![History::constant(&[64, 256 << 30, 0]); GROUP_N];
    let slice = slices.slice(0, GROUP_N).unwrap();
    let grid = Grid::new(&Zone::utc(), from_s, until_s);
    let ask = |group: fn(usize) -> usize| {
        let all = tally_all(slice, &histories, &shapes, &grid, |nth| (group(nth), question), 2);
        all.unwrap()
    };
    let kept_n = |spreads: &TimeHistograms| -> usize {
        let of = |spread: &TimeHistogram| spread.shapes.kept_n() + spread.units[0].kept_n();
        spreads.values().map(of).sum()
    };
    let (apart, together) = (ask(|nth| nth), ask(|_| 0));
    assert_eq!(apart.1.len(), GROUP_N);
    assert!(kept_n(&apart.1) < ALL_N / 50, "{} of {ALL_N}", kept_n(&apart.1));
    assert_eq!(apart.0, together.0);
    assert_eq!(spreaded(apart.1.values()), spreaded(together.1.values()));
    // Whatever the group, each node is up all week.
    for spread in apart.1.values() {
        assert_eq!(spread.shapes.iter().map(|(_, s)| s).sum::<i64>(), until_s - from_s);
    }
}
