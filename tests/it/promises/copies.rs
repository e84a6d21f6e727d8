//! Jobs that are recorded under two identities, in two files or in one: shifted in time, or under two names of a cluster.

use std::fmt::Write as _;

use gridtally::error::Kind;
use gridtally::run::RunOptions;

use super::scene::{Pipeline, Scene, Source};
use crate::support::collect::shared;

pub(super) const HEADER: &str =
    "JobIDRaw|JobID|Cluster|User|Account|Submit|Start|End|ElapsedRaw|State|AllocCPUS|TotalCPU\n";

/// 2026-03-10T00:00:00Z
pub(super) const NIGHT: i64 = 1_773_100_800;
pub(super) const HOUR: i64 = 3600;

/// One job, its times moved by some seconds.
pub(super) fn job(cluster: &str, id: i64, submit_s: i64, wall_s: i64, shift_s: i64) -> String {
    let submit_s = submit_s + shift_s;
    let start_s = submit_s + 60 + id % 7;
    let user = id % 5;
    format!(
        "{id}|{id}|{cluster}|u{user}|bio|{submit_s}|{start_s}|{}|{wall_s}|COMPLETED|{}|00:{:02}.{:03}\n",
        start_s + wall_s,
        1 + id % 4,
        id % 60,
        id % 1000
    )
}

/// The jobs of a night, from a number on.
pub(super) fn night(cluster: &str, (first, n): (i64, i64), from_s: i64, shift_s: i64) -> String {
    let jobs =
        (first..first + n).map(|id| job(cluster, id, from_s + (id - first) * 211, 100 + id * 37 % 5000, shift_s));
    HEADER.to_owned() + &jobs.collect::<String>()
}

pub(super) fn pipeline(files: &[&str]) -> Pipeline {
    Pipeline::of(Source {
        name: "zoo",
        paths: files.iter().map(|file| format!("data/{file}")).collect(),
        keys: "format = \"sacct\"\nsite = \"ZOO\"\n".to_owned(),
    })
}

pub(super) fn scene(files: &[(&str, String)]) -> Scene {
    let scene = Scene::empty();
    for (name, text) in files {
        scene.write(&format!("data/{name}"), text.as_bytes());
    }
    scene
}

/// Why a run stops.
pub(super) fn stopped(scene: &Scene, files: &[&str]) -> String {
    let error = scene
        .try_run(&pipeline(files), "lake", RunOptions::default())
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Data, "{error}");
    error.to_string()
}

#[test]
fn a_night_printed_in_another_zone_stops_the_run() {
    // Whole hours, and zones of 30 and 45 minutes; also to and fro over midnight.
    for (shift_s, stated) in [
        (2 * HOUR, "2:00 h earlier there"),
        (-5 * HOUR, "5:00 h later there"),
        (5 * HOUR + 1800, "5:30 h earlier there"),
        (5 * HOUR + 2700, "5:45 h earlier there"),
    ] {
        let scene = scene(&[
            ("1.txt", night("zoo", (100, 350), NIGHT, 0)),
            ("2.txt", night("zoo", (100, 350), NIGHT, shift_s)),
        ]);
        scene.run(&pipeline(&["1.txt"]), "lake");
        let before = scene.lake("lake");
        let why = stopped(&scene, &["1.txt", "2.txt"]);
        assert!(
            why.contains("2.txt: 350 of 350 jobs of ZOO, cluster zoo, are in ") && why.contains("1.txt"),
            "{why}"
        );
        assert!(
            why.contains(stated) && why.contains("TZ=UTC") && why.contains("copied_jobs"),
            "{why}"
        );
        assert_eq!(scene.lake("lake"), before);
        // In one go as well.
        let error = scene
            .try_run(&pipeline(&["1.txt", "2.txt"]), "other", RunOptions::default())
            .unwrap_err();
        assert!(error.to_string().contains(stated), "{error}");
    }
}

#[test]
fn a_dump_that_overlaps_the_night_before_is_enough() {
    let scene = scene(&[
        ("1.txt", night("zoo", (100, 300), NIGHT, 0)),
        // Its last third, and what came since.
        ("2.txt", night("zoo", (300, 300), NIGHT + 200 * 211, HOUR)),
    ]);
    // The length of a job follows from its number, so that the overlap is of the same jobs.
    scene.run(&pipeline(&["1.txt"]), "lake");
    let why = stopped(&scene, &["1.txt", "2.txt"]);
    assert!(why.contains("2.txt: 100 of 300 jobs of ZOO"), "{why}");
}

#[test]
fn a_cluster_that_was_renamed_stops_the_run() {
    let scene = scene(&[
        ("1.txt", night("zoo", (100, 40), NIGHT, 0)),
        ("2.txt", night("tierpark", (100, 40), NIGHT, 0)),
    ]);
    scene.run(&pipeline(&["1.txt"]), "lake");
    let why = stopped(&scene, &["1.txt", "2.txt"]);
    assert!(
        why.contains("40 of 40 jobs") && why.contains("of cluster zoo there and tierpark here"),
        "{why}"
    );
}

#[test]
fn what_the_pipeline_keeps_is_counted_and_named() {
    let scene = scene(&[
        ("1.txt", night("zoo", (100, 40), NIGHT, 0)),
        ("2.txt", night("zoo", (100, 40), NIGHT, HOUR)),
    ]);
    let keep = pipeline(&["1.txt", "2.txt"]).with("copied_jobs", "\"keep\"");
    let report = scene.run(&keep, "lake");
    assert_eq!(report.reasons.get("accepted/job"), Some(&80));
    let [copied] = &report.copied_jobs[..] else {
        panic!("{:?}", report.copied_jobs)
    };
    assert_eq!((copied.job_n, copied.of_job_n, copied.shift_s), (40, 40, 3600));
    assert_eq!(
        (copied.site.as_str(), copied.is_estimate, copied.of_files.len()),
        ("ZOO", false, 1)
    );
    assert!(copied.file.ends_with("2.txt"), "{}", copied.file);
    assert!(report.text().contains("counted twice"), "{}", report.text());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json.pointer("/copied_jobs/0/job_n"), Some(&serde_json::json!(40)));
}

#[test]
fn a_large_day_is_compared_by_a_sample() {
    let dump = |shift_s| {
        let jobs = (0..20_000).map(|id| job("zoo", id, NIGHT + id * 4, 100 + id * 37 % 5000, shift_s));
        HEADER.to_owned() + &jobs.collect::<String>()
    };
    let scene = scene(&[("1.txt", dump(0)), ("2.txt", dump(HOUR))]);
    let why = stopped(&scene, &["1.txt", "2.txt"]);
    assert!(why.contains("about "), "{why}");
}

/// A dump that repeats behind itself: the same jobs later.
#[test]
fn a_copy_within_one_file_stops_the_run() {
    for (shift_s, stated) in [
        (2 * HOUR, "2:00 h earlier there"),
        (-3 * 86_400, "3 d 0:00 h later there"),
    ] {
        let first = night("zoo", (100, 40), NIGHT, 0);
        let behind = first.len();
        let repeated = first + night("zoo", (100, 40), NIGHT, shift_s).strip_prefix(HEADER).unwrap();
        let scene = scene(&[("1.txt", repeated)]);
        let why = stopped(&scene, &["1.txt"]);
        let place = format!("1.txt (bytes {behind} to ");
        assert!(
            why.contains(&place) && why.contains("40 of 80 jobs of ZOO, cluster zoo, are in the same file once more"),
            "{why}"
        );
        assert!(why.contains(stated) && why.contains("core hours"), "{why}");
    }
    // Recorded twice unchanged, a job is one job.
    let first = night("zoo", (100, 40), NIGHT, 0);
    let scene = scene(&[("1.txt", first.clone() + first.strip_prefix(HEADER).unwrap())]);
    let report = scene.run(&pipeline(&["1.txt"]), "lake");
    assert_eq!(report.reasons.get("accepted/job"), Some(&40));
}

/// Both members of a tar contain the same jobs.
#[test]
fn a_copy_within_one_tar_stops_the_run() {
    let one = night("zoo", (100, 40), NIGHT, 0);
    let two = night("zoo", (100, 40), NIGHT, 20 * HOUR);
    let tar = crate::support::tar::tar(&[("a/1.txt", one.as_bytes()), ("a/2.txt", two.as_bytes())]);
    let scene = Scene::empty();
    scene.write("data/dumps.tar", &tar);
    let why = stopped(&scene, &["dumps.tar"]);
    assert!(
        why.contains("20:00 h earlier there") && why.contains("dumps.tar"),
        "{why}"
    );
    // Where they begin among the unpacked bytes of the tar.
    assert!(
        why.contains("dumps.tar (bytes ") && why.contains("40 of 80 jobs"),
        "{why}"
    );
}

#[test]
fn a_copy_shifted_by_any_time_stops_the_run() {
    for (shift_s, stated) in [
        (15 * HOUR, "15:00 h earlier there"),
        (-1234, "0:20:34 h later there"),
        (2 * 86_400 + 60, "2 d 0:01 h earlier there"),
        (30 * 86_400, "30 d 0:00 h earlier there"),
    ] {
        let scene = scene(&[
            ("1.txt", night("zoo", (100, 40), NIGHT, 0)),
            ("2.txt", night("zoo", (100, 40), NIGHT, shift_s)),
        ]);
        scene.run(&pipeline(&["1.txt"]), "lake");
        let why = stopped(&scene, &["1.txt", "2.txt"]);
        assert!(
            why.contains("2.txt (bytes ") && why.contains("40 of 40 jobs of ZOO"),
            "{why}"
        );
        assert!(why.contains(stated), "{why}");
    }
}

/// The last hours of a month, printed in a zone where they are of the next one.
#[test]
fn a_copy_beyond_the_edge_of_a_month_stops_the_run() {
    // 2026-03-31T20:00:00Z
    let from_s = NIGHT + 21 * 86_400 + 20 * HOUR;
    let scene = scene(&[
        ("1.txt", night("zoo", (100, 40), from_s, 0)),
        ("2.txt", night("zoo", (100, 40), from_s, 8 * HOUR)),
    ]);
    scene.run(&pipeline(&["1.txt"]), "lake");
    let why = stopped(&scene, &["1.txt", "2.txt"]);
    assert!(why.contains("40 of 40 jobs of ZOO"), "{why}");
    assert!(why.contains("8:00 h earlier there"), "{why}");
    // The earlier month may also be the copy.
    let error = scene
        .try_run(&pipeline(&["1.txt", "2.txt"]), "other", RunOptions::default())
        .unwrap_err();
    assert!(error.to_string().contains("8:00 h earlier there"), "{error}");
}

/// Copies that are kept are listed in the last lines, with their jobs and hours.
#[test]
fn kept_copies_are_in_the_last_lines() {
    let first = night("zoo", (100, 40), NIGHT, 0);
    let repeated = first.clone() + night("zoo", (100, 40), NIGHT, 40 * HOUR).strip_prefix(HEADER).unwrap();
    let scene = scene(&[("1.txt", repeated)]);
    let keep = pipeline(&["1.txt"]).with("copied_jobs", "\"keep\"");
    let report = scene.run(&keep, "lake");
    let core_s: i64 = (100..140).map(|id: i64| (100 + id * 37 % 5000) * (1 + id % 4)).sum();
    let [copied] = &report.copied_jobs[..] else {
        panic!("{:?}", report.copied_jobs)
    };
    assert_eq!((copied.job_n, copied.of_job_n, copied.shift_s), (40, 80, 40 * HOUR));
    assert_eq!(copied.core_hour_tenths, u128::from(core_s.unsigned_abs() / 360));
    let text = report.text();
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.contains("counted twice: ")).unwrap();
    assert!(lines.len() - at <= 4, "{text}");
}

/// What happens on real clusters and is not a mistake.
#[test]
fn nothing_else_is_taken_for_a_copy() {
    let mut others = String::from(HEADER);
    // Requeued every hour under one number, the same each time; a number that is used again; the same numbers on another
    // cluster at other times; tasks of an array that are all alike.
    for hour in 0..24 {
        for id in 1..30 {
            others += &job("zoo", id, NIGHT + hour * HOUR, 100, 0);
        }
    }
    for id in 200..300 {
        others += &job("zoo", id, NIGHT + 30 * HOUR + id * 13, 100 + id * 37 % 5000, 0);
        others += &job("other", id, NIGHT + 2 * HOUR + id * 17, 100 + id * 37 % 5000, 0);
    }
    for id in 1000..1200 {
        let start_s = NIGHT + (id % 8) * HOUR;
        let _ = writeln!(
            others,
            "{id}|900_{id}|zoo|u1|bio|{start_s}|{start_s}|{}|600|COMPLETED|1|00:01.000",
            start_s + 600
        );
    }
    let again = others.clone() + &job("zoo", 5000, NIGHT, 100, 0);
    let first = night("zoo", (200, 100), NIGHT, 0);
    let scene = scene(&[("1.txt", first), ("2.txt", others), ("3.txt", again)]);
    for files in [&["1.txt"][..], &["1.txt", "2.txt"], &["1.txt", "2.txt", "3.txt"]] {
        let report = scene.run(&pipeline(files), "lake");
        assert!(report.copied_jobs.is_empty());
    }
}

/// A second dump with fewer columns agrees with the first in all columns of both.
#[test]
fn a_copy_without_user_and_cores_stops_the_run() {
    for shift_s in [HOUR, 40 * HOUR] {
        let mut few = String::from("JobIDRaw|Submit|Start|End|ElapsedRaw|State\n");
        for id in 100..140_i64 {
            let wall_s = 100 + id * 37 % 5000;
            let submit_s = NIGHT + (id - 100) * 211 + shift_s;
            let start_s = submit_s + 60 + id % 7;
            let _ = writeln!(few, "{id}|{submit_s}|{start_s}|{}|{wall_s}|COMPLETED", start_s + wall_s);
        }
        let scene = scene(&[("1.txt", night("zoo", (100, 40), NIGHT, 0)), ("2.txt", few)]);
        scene.run(&pipeline(&["1.txt"]), "lake");
        let why = stopped(&scene, &["1.txt", "2.txt"]);
        assert!(why.contains("40 of 40 jobs of ZOO"), "{why}");
        assert!(
            why.contains(&format!("{}:00 h earlier there", shift_s / HOUR % 24)),
            "{why}"
        );
    }
}

/// Dumps of a real cluster, one printed in UTC and one, with fewer columns, in the time of Zurich.
/// Tasks of an array and components of a heterogeneous job.
fn tasks(has_raw_ids: bool, tasks: &[(i64, &str)]) -> String {
    let rows = tasks.iter().map(|(id, name)| {
        let row = job("c1", *id, NIGHT + id * 600, 300 + id, 0).replacen(&format!("|{id}|"), &format!("|{name}|"), 1);
        if has_raw_ids {
            row
        } else {
            row.split_once('|').unwrap().1.to_owned()
        }
    });
    let header = if has_raw_ids {
        HEADER
    } else {
        HEADER.split_once('|').unwrap().1
    };
    header.to_owned() + &rows.collect::<String>()
}

#[test]
fn a_task_that_one_dump_knows_by_its_displayed_number_alone_stops_the_run() {
    let ids = [
        (900, "900_1"),
        (901, "900_2"),
        (950, "950+0"),
        (951, "950+1"),
        (970, "970"),
    ];
    for (first, second) in [(true, false), (false, true)] {
        let scene = scene(&[("a.txt", tasks(first, &ids)), ("b.txt", tasks(second, &ids))]);
        let why = stopped(&scene, &["a.txt", "b.txt"]);
        assert!(
            why.contains("4 of 5 jobs of ZOO, cluster c1, are in data/a.txt") && why.contains("has no raw job numbers"),
            "{why}"
        );
        // The night after.
        let scene = self::scene(&[("a.txt", tasks(first, &ids))]);
        scene.run(&pipeline(&["a.txt"]), "lake");
        scene.write("data/b.txt", tasks(second, &ids[1..2]).as_bytes());
        let why = stopped(&scene, &["a.txt", "b.txt"]);
        assert!(why.contains("1 of 1 jobs"), "{why}");
    }
    // Of either kind two dumps hold the same jobs.
    for has_raw_ids in [true, false] {
        let again = tasks(has_raw_ids, &ids).replace("|COMPLETED|", "|FAILED|");
        let scene = scene(&[("a.txt", tasks(has_raw_ids, &ids)), ("b.txt", again)]);
        let report = scene.run(&pipeline(&["a.txt", "b.txt"]), "lake");
        assert_eq!(report.outcomes["accepted"], 5, "{has_raw_ids}");
    }
}

#[test]
fn a_real_dump_in_local_time_in_addition_to_one_in_utc_stops_the_run() {
    let test = "promises::copies::a_real_dump_in_local_time_beside_one_in_utc_stops_the_run";
    let Some(folder) = shared(test, "data/slurm/22.05") else {
        return;
    };
    let paths = ["sacct_all_P.txt.xz", "sacct_zurich_P.txt"].map(|file| format!("{}/{file}", folder.display()));
    let of = |name, timezone: &str, paths: &[String]| Source {
        name,
        paths: paths.to_vec(),
        keys: format!("format = \"sacct\"\nsite = \"ZOO\"\ncluster = \"zoo\"\ntimezone = \"{timezone}\"\n"),
    };
    let scene = Scene::empty();
    let error = scene
        .try_run(&Pipeline::of(of("zoo", "UTC", &paths)), "lake", RunOptions::default())
        .unwrap_err();
    let why = error.to_string();
    assert!(why.contains("sacct_zurich_P.txt"), "{why}");
    assert!(why.contains("1:00 h earlier there"), "{why}");
    // Each in its own zone: the same jobs, once.
    let [utc, local] = &paths;
    let both = Pipeline {
        sources: vec![
            of("utc", "UTC", std::slice::from_ref(utc)),
            of("local", "Europe/Zurich", std::slice::from_ref(local)),
        ],
        ..Pipeline::of(of("utc", "UTC", &[]))
    };
    let report = scene.run(&both, "both");
    assert!(report.copied_jobs.is_empty(), "{}", report.text());
}
