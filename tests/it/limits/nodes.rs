//! Jobs of more than any node has, as many as there may be: no sum of a node or of bills ends the run, and none wraps.

use arrow_array::Array;
use gridtally::occupancy::NodeLoad;
use gridtally::occupancy::node_room::NodeRoom;
use gridtally::run::run_report::RunReport;
use gridtally::schema::batch::{decimal, int, number, text, word};

use super::{DUMPS, HEADER, Scene, assert_same_files, lake, pipeline, row, rows, sum};

const OVERHEAD: &str = "[overhead]\nnodes = \"from-jobs\"\nbilling = \"overhead-aware\"\n\
                        [[overhead.unit]]\nname = \"1c2g\"\ncore = 1\nmemory = \"2GiB\"\n";

fn source() -> String {
    format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}")
}

/// As much CPU time as a job may have: 10^12 s.
const MOST: &str = "11574074-01:46:40";

/// The jobs on nodes and in bills were those of `records`: refused ones too. These run over the end of a month, of which the
/// later part is swept again when the refusals of the earlier change.
#[test]
fn jobs_that_usage_does_not_hold_are_on_no_node() {
    let (vast_n, night_n) = (200_u32, 4_u32);
    let span = [
        ("Submit", "2026-10-31T23:00:00"),
        ("Start", "2026-10-31T23:30:00"),
        ("End", "2026-11-01T00:30:00"),
    ];
    let nights = |at_once: bool| {
        let scene = Scene::new();
        let pipeline = pipeline(&source(), OVERHEAD);
        for night in 0..night_n {
            let vast = [&span[..], &[("TotalCPU", MOST)]].concat();
            let vast = (0..vast_n / night_n).map(|nth| row(1000 * night + nth, &vast));
            let plain = (0..5).map(|nth| row(1000 * night + 900 + nth, &span));
            let rows: String = vast.chain(plain).collect();
            scene.write(&format!("dumps/2026-11-1{night}.txt"), HEADER.to_owned() + &rows);
            if !at_once {
                scene.run(&pipeline);
            }
        }
        if at_once {
            scene.run(&pipeline);
        }
        scene
    };
    let scene = nights(true);
    let counted = sum(&scene, "usage", "job_n");
    assert!(counted < i128::from(vast_n), "{counted} jobs are counted");
    assert_eq!(sum(&scene, "overhead", "allocated_core_s"), 3600 * counted);
    assert_eq!(sum(&scene, "overhead_queue", "wait_s"), 1800 * counted);
    // By core and by memory.
    assert_eq!(sum(&scene, "job_charges", "job_n"), 2 * counted);
    let (whole, nightly) = (lake(&scene.path("lake")), lake(&nights(false).path("lake")));
    assert_same_files(&whole, &nightly);
}

/// 8 192 jobs of a pebibyte on one node were less than nothing: their sum wrapped.
#[test]
fn memory_of_many_jobs_does_not_wrap() {
    let (vast_n, plain_n) = (8200_u32, 3_u32);
    let vast = (0..vast_n).map(|nth| row(nth, &[("AllocTRES", "cpu=1,mem=1P,node=1")]));
    let plain = (0..plain_n).map(|nth| row(10_000 + nth, &[]));
    let scene = Scene::new();
    scene.write(
        "dumps/a.txt",
        HEADER.to_owned() + &vast.chain(plain).collect::<String>(),
    );
    let report = scene.run(&pipeline(&source(), OVERHEAD));
    let room = 1_u32 << 11;
    assert_eq!(found(&scene, "node_sum_limit"), i64::from(vast_n - room));
    assert_eq!(report.overhead.unwrap().findings.get("node_sum_limit"), Some(&1));
    let on_node = i128::from(room + plain_n);
    assert_eq!(sum(&scene, "overhead", "allocated_core_s"), 3600 * on_node);
    let byte_s = (i128::from(room) << 50) + (i128::from(plain_n) << 31);
    assert_eq!(wide(&scene, "overhead", "allocated_memory_byte_s"), 3600 * byte_s);
    // Of the others it is known that they are not billed, and why.
    let unpriced = "the sums of a node it ran on cannot take it";
    assert_eq!(unpriced_n(&scene, unpriced), 2 * i64::from(vast_n - room));
}

/// Jobs that ran for a second and were suspended for a month: the GPUs that they held did not fit 63 bits once added up.
#[test]
fn bills_that_the_sums_of_a_month_cannot_take_are_unknown() {
    let (vast_n, plain_n) = (52_000_u32, 3_u32);
    let span = [
        ("Start", "2026-10-01T00:00:00"),
        ("Submit", "2026-10-01T00:00:00"),
        ("End", "2026-10-31T23:00:00"),
        ("ElapsedRaw", "1"),
        ("Suspended", "30-22:59:59"),
        ("AllocTRES", "cpu=1,mem=2G,node=1,gres/gpu=350000"),
    ];
    let vast = (0..vast_n).map(|nth| row(nth, &span));
    let plain = (0..plain_n).map(|nth| row(100_000 + nth, &[]));
    let scene = Scene::new();
    scene.write(
        "dumps/a.txt",
        HEADER.to_owned() + &vast.chain(plain).collect::<String>(),
    );
    let report: RunReport = scene.run(&pipeline(&source(), OVERHEAD));
    assert_eq!(sum(&scene, "usage", "job_n"), i128::from(vast_n + plain_n));
    // Its GPU seconds count once by core, once by memory and once by GPU.
    let load = 3 * 350_000 * (31 * 86_400 - 3600);
    let without_room = u64::from(vast_n) - (1_u64 << 57) / load;
    assert_eq!(report.overhead.unwrap().beyond_sums_job_n, without_room);
    let unpriced = "the sums of the month cannot take it";
    assert_eq!(unpriced_n(&scene, unpriced), 3 * i64::try_from(without_room).unwrap());
    let gpu_s: i128 = sum(&scene, "charges", "alloc_gpu_s");
    let priced_n = i128::from(u64::from(vast_n) - without_room);
    assert_eq!(gpu_s, priced_n * i128::from(load));
    // Cores are given back while a job is suspended.
    let core_s: i128 = sum(&scene, "charges", "alloc_core_s");
    assert_eq!(core_s, 3 * priced_n + 2 * 3600 * i128::from(plain_n));
}

/// The most that jobs hold on a node fits 63 bits, and so does its sum over a day; vast jobs leave room for others.
#[test]
fn a_node_has_room_for_less_than_63_bits() {
    let most = |amounts: [i64; 3]| {
        let (mut room, mut admitted_n) = (NodeRoom::default(), 0_i128);
        while room.admit(NodeLoad::of(&amounts)) {
            admitted_n += 1;
        }
        (room, admitted_n)
    };
    let (room, cores_n) = most([1 << 26, 0, 0]);
    let of = |mut room: NodeRoom, amounts: [i64; 3]| room.admit(NodeLoad::of(&amounts));
    assert!(!of(room, [1 << 20, 0, 0]) && of(room, [128, 1 << 38, 4]));
    assert!(2 * (cores_n << 26) * 2 * 86_400 < 1 << 63);
    let (room, byte_n) = most([1, 1 << 50, 0]);
    assert!(!of(room, [0, 1 << 46, 0]) && of(room, [1, 1 << 45, 0]));
    assert!(2 * (byte_n << 50) < 1 << 63);
    // A rate has 12 digits after the point.
    assert!(2 * (byte_n << 50) * 10_i128.pow(12) < i128::MAX / (31 * 86_400 + 3600));
    assert!(!NodeRoom::default().admit(NodeLoad::of(&[i64::MIN, 0, 0])));
}

/// Jobs in the findings of a kind.
fn found(scene: &Scene, kind: &str) -> i64 {
    let of = |batch: &arrow_array::RecordBatch| {
        let (kinds, jobs) = (text(batch, "kind").unwrap(), int(batch, "job_n").unwrap());
        let own = (0..batch.num_rows()).filter(|row| kinds.value(*row) == kind);
        own.map(|row| jobs.value(row)).sum::<i64>()
    };
    rows(scene, "overhead_finding").iter().map(of).sum()
}

/// Rows of single charges that are unknown for a reason.
fn unpriced_n(scene: &Scene, why: &str) -> i64 {
    let of = |batch: &arrow_array::RecordBatch| {
        let (whys, charges) = (text(batch, "why_unpriced").unwrap(), decimal(batch, "charge").unwrap());
        let own = (0..batch.num_rows()).filter(|row| word(whys, *row) == Some(why));
        own.inspect(|row| assert!(charges.is_null(*row)))
            .map(|_| 1)
            .sum::<i64>()
    };
    rows(scene, "job_charges").iter().map(of).sum()
}

/// The sum of a column of decimals.
fn wide(scene: &Scene, dataset: &str, column: &str) -> i128 {
    let of = |batch: &arrow_array::RecordBatch| {
        let values = decimal(batch, column).unwrap();
        (0..batch.num_rows())
            .filter_map(|row| number(values, row))
            .sum::<i128>()
    };
    rows(scene, dataset).iter().map(of).sum()
}
