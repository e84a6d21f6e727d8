//! Run by run or in one go, with any threads and any order of files: the same bytes.

use std::fmt::Write as _;

use super::{DumpJob, HEAD, LABS, Scene, dump, fairshare, listing};

/// Clusters, each under another rule of decay.
const RULES: [(&str, &str); 5] = [
    ("plain", "half_life = \"none\""),
    ("reset", "half_life = \"none\"\nreset = \"monthly\""),
    ("continuous", "half_life = \"3-00:00:00\"\ndecay = \"continuous\""),
    (
        "steps",
        "half_life = \"2-00:00:00\"\ncalc_period = \"00:07:00\"\nreset = \"weekly\"\nalgorithm = \"classic\"\npriority_weight = 1000",
    ),
    ("halving", "half_life = \"2-00:00:00\"\ndecay = \"halving-steps\""),
];

fn all_rules() -> String {
    let mut text = HEAD.replace("max_rejected", "calendar_timezone = \"Europe/Zurich\"\nmax_rejected");
    for (cluster, keys) in RULES {
        text.push_str(&fairshare(cluster, keys));
    }
    text
}

fn all_listings() -> String {
    let mut text = listing(RULES[0].0, LABS);
    for (cluster, _) in &RULES[1..] {
        let rows = listing(cluster, LABS);
        let (_, rows) = rows.split_once('\n').unwrap();
        text.push_str(rows);
    }
    text
}

/// The same jobs on every cluster.
fn dump_of_all(jobs: &[DumpJob]) -> String {
    let of_clusters = RULES.iter().zip(0_u32..).flat_map(|((cluster, _), nth)| {
        jobs.iter().map(move |job| DumpJob {
            id: job.id + nth * 10_000,
            cluster,
            ..job.clone()
        })
    });
    dump(&of_clusters.collect::<Vec<_>>())
}

/// A job that still ran when it was listed.
fn running(job: &DumpJob) -> DumpJob {
    DumpJob {
        end_s: None,
        ..job.clone()
    }
}

/// What each night brings: usual jobs over midnights and over the end of a month, days without any, a late job weeks old, a
/// job of another account, one without association, and the rest of a job that ran.
fn nights() -> Vec<Vec<DumpJob>> {
    let job = DumpJob::new;
    let mut night_of_gpu = job(31, "lab", "ann", "2026-03-03T20:00:00", 30_000, 7);
    night_of_gpu.partition = "gpu";
    let mut low = job(32, "inst", "cid", "2026-03-04T01:00:00", 3_601, 3);
    low.qos = "low";
    vec![
        vec![
            job(1, "lab", "ann", "2026-02-25T10:00:00", 50_000, 3),
            job(2, "lab", "bob", "2026-02-26T23:59:59", 1, 5),
            job(3, "inst", "cid", "2026-02-27T22:30:00", 7_201, 2),
            running(&job(4, "lab", "bob", "2026-02-27T12:00:00", 30_000, 4)),
        ],
        vec![
            job(11, "lab", "ann", "2026-02-28T18:00:00", 40_000, 3),
            job(4, "lab", "bob", "2026-02-27T12:00:00", 90_000, 4),
        ],
        vec![
            night_of_gpu,
            low,
            job(33, "guest", "eva", "2026-03-04T05:00:00", 5_000, 9),
        ],
        // After a gap of days, with a job that is weeks old and ended at midnight of the zone.
        vec![
            job(41, "inst", "cid", "2026-03-12T08:00:00", 60, 11),
            job(42, "lab", "bob", "2026-02-20T22:00:00", 3_600, 6),
        ],
        // Only the past.
        vec![job(51, "lab", "gus", "2026-03-01T12:00:00", 12_345, 1)],
        vec![job(61, "lab", "ann", "2026-04-02T00:00:00", 100_000, 2)],
    ]
}

fn written(scene: &Scene, night: usize, jobs: &[DumpJob]) {
    scene.write(&format!("jobs-{night}.txt"), &dump_of_all(jobs));
}

#[test]
fn run_by_run_is_one_go_to_the_byte() {
    let scene = Scene::new(&[("shares.txt", &all_listings())]);
    let pipeline = all_rules();
    for (night, jobs) in nights().iter().enumerate() {
        written(&scene, night, jobs);
        scene.run_into(&pipeline, "nightly", None);
        // Every night is what one go gives of the same files.
        let once = format!("once-{night}");
        scene.run_into(&pipeline, &once, None);
        assert!(
            scene.bytes("nightly") == scene.bytes(&once),
            "night {night}: {}",
            difference(&scene, "nightly", &once)
        );
    }
    let whole = scene.bytes("nightly");
    // Every cluster has February, March and April.
    assert_eq!(whole.len(), 3 * RULES.len(), "{:?}", whole.keys());
    for threads in [1, 3] {
        let lake = format!("threads-{threads}");
        scene.run_into(&pipeline, &lake, Some(threads));
        assert!(scene.bytes(&lake) == whole, "{}", difference(&scene, &lake, "nightly"));
    }
    // The same jobs in other files, the last night first.
    let shuffled = Scene::new(&[("shares.txt", &all_listings())]);
    let mut nights = nights();
    nights.reverse();
    for (night, jobs) in nights.iter_mut().enumerate() {
        jobs.reverse();
        written(&shuffled, night, jobs);
        shuffled.run_into(&pipeline, "nightly", None);
    }
    assert!(shuffled.bytes("nightly") == whole);
}

/// The first row that differs.
fn difference(scene: &Scene, one: &str, other: &str) -> String {
    let mut text = String::new();
    for (cluster, _) in RULES {
        let (rows, others) = (scene.rows(one, cluster), scene.rows(other, cluster));
        let differing = rows.iter().zip(&others).find(|(row, other)| row != other);
        let _ = writeln!(
            text,
            "{cluster}: {} and {} rows, {differing:?}",
            rows.len(),
            others.len()
        );
    }
    text
}

#[test]
fn a_run_touches_no_month_before_its_first_changed_day() {
    let scene = Scene::new(&[("shares.txt", &all_listings())]);
    let pipeline = all_rules();
    let nights = nights();
    for (night, jobs) in nights.iter().enumerate().take(3) {
        written(&scene, night, jobs);
    }
    scene.run(&pipeline);
    let before = scene.bytes("lake");
    let chained: Vec<&str> = RULES
        .iter()
        .map(|(cluster, _)| *cluster)
        .filter(|cluster| *cluster != "halving")
        .collect();
    let written_of = |jobs: &[DumpJob]| {
        written(&scene, 9, jobs);
        let report = scene.run(&pipeline);
        let own = report.written.into_iter().filter(|path| path.starts_with("fairshare/"));
        own.collect::<Vec<String>>()
    };
    // A job of April: what was computed ends on 2026-03-04, so March is continued and April added.
    let paths = written_of(&nights[5]);
    for cluster in &chained {
        let of = |month: &str| {
            paths
                .iter()
                .any(|path| path.contains(&format!("cluster={cluster}/month={month}")))
        };
        assert_eq!(
            (of("2026-02"), of("2026-03"), of("2026-04")),
            (false, true, true),
            "{cluster}: {paths:?}"
        );
    }
    let after = scene.bytes("lake");
    for (path, bytes) in before.iter().filter(|(path, _)| path.contains("month=2026-02")) {
        assert!(after[path] == *bytes, "{path} has changed");
    }
    // Nothing new: nothing is written.
    let report = scene.run(&pipeline);
    assert_eq!(report.written, [""; 0]);
    assert!(scene.bytes("lake") == after);
}

#[test]
fn months_that_vanish_are_taken_away_and_leave_no_usage() {
    let nights = nights();
    // Two sources of one site; then the jobs of the second turn out to be those of another site.
    let one = all_rules();
    let source = one
        .split_once("[[source]]")
        .and_then(|(_, rest)| rest.split_once("[[inventory]]"));
    let other = source
        .unwrap()
        .0
        .replace("\"jobs\"", "\"others\"")
        .replace("jobs-*", "others-*");
    let with = |other: &str| one.replace("[[inventory]]", &format!("[[source]]{other}[[inventory]]"));
    let (both, moved) = (with(&other), with(&other.replace("site = \"A\"", "site = \"B\"")));
    let replaced = |gone: &[DumpJob], kept: &[DumpJob]| {
        let scene = Scene::new(&[("shares.txt", &all_listings())]);
        written(&scene, 1, kept);
        scene.write("others-1.txt", &dump_of_all(gone));
        scene.run_into(&both, "nightly", None);
        let month_n = scene.bytes("nightly").len();
        scene.run_into(&moved, "nightly", None);
        scene.run_into(&moved, "once", None);
        assert!(
            scene.bytes("nightly") == scene.bytes("once"),
            "{}",
            difference(&scene, "nightly", "once")
        );
        assert!(scene.bytes("once").len() < month_n, "no month vanished");
    };
    // The first month, the last one, and all after the first.
    replaced(&nights[0], &nights[2]);
    replaced(&nights[5], &nights[2]);
    replaced(&nights[2], &nights[0][..3]);
}
