//! A run without news changes nothing, and a run with little news changes little.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use gridtally::run::RunOptions;
use gridtally::run::run_report::Status;

use super::scene::{Pipeline, Scene, assert_same, lake_hash, lake_times};

fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> BTreeSet<String> {
    after
        .iter()
        .filter(|(path, hash)| before.get(*path) != Some(hash))
        .map(|(path, _)| path.clone())
        .collect()
}

#[test]
fn a_second_run_changes_no_byte_and_no_time() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    let first = scene.run(&pipeline, "lake");
    assert_eq!(first.status, Status::Published);
    let out = scene.path("lake");
    let (hashes, times) = (lake_hash(&out), lake_times(&out));
    let runs = || fs::read_dir(out.join("runs")).unwrap().count();
    let runs_before = runs();
    let second = scene.run(&pipeline, "lake");
    assert_eq!((second.status, second.files_read_n), (Status::Unchanged, 0));
    assert_eq!((second.written.len(), second.removed.len()), (0, 0));
    assert_eq!((&second.outcomes, &second.reasons), (&first.outcomes, &first.reasons));
    assert_same(&hashes, &lake_hash(&out), "second run");
    assert_eq!(times, lake_times(&out));
    assert_eq!(runs_before, runs(), "nothing happened, so nothing is noted");
}

#[test]
fn one_more_file_touches_only_what_it_speaks_of() {
    let scene = Scene::sample();
    let all = Pipeline::sample();
    let late = (0, "data/alp/sacct-2026-02.txt.gz".to_owned());
    let mut files = all.files();
    files.retain(|file| *file != late);
    scene.run(&all.only(&files), "lake");
    let out = scene.path("lake");
    let (hashes, times) = (lake_hash(&out), lake_times(&out));
    let report = scene.run(&all, "lake");
    assert_eq!(report.files_read_n, 1);
    let after = lake_hash(&out);
    let touched = changed(&hashes, &after);
    let retimed: BTreeSet<String> = lake_times(&out)
        .into_iter()
        .filter(|(path, time)| times.get(path) != Some(time))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(touched, retimed, "a file with the same bytes is left alone");
    let mut written: BTreeSet<String> = report.written.iter().cloned().collect();
    written.insert("manifest.json".to_owned());
    assert_eq!(touched, written);
    assert!(touched.contains("records/site=ALP-T2/record_month=2026-02-01/records.parquet"));
    for path in &touched {
        let is_expected = path.starts_with("ledger/")
            || path.starts_with("inputs/")
            || path == "manifest.json"
            || path.starts_with("usage/site=ALP-T2/")
            || path.starts_with("rejects/")
            || ["records", "history", "usage_part"]
                .iter()
                .any(|dataset| path.starts_with(&format!("{dataset}/site=ALP-T2/record_month=2026-0")));
        assert!(is_expected, "{path}");
        for untouched in [
            "BAY",
            "record_month=2026-04-01",
            "record_month=2026-05-01",
            "allocation_year=2026",
        ] {
            assert!(!path.contains(untouched), "{path}");
        }
    }
}

#[test]
fn a_file_under_another_name_changes_the_ledger_alone() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    let first = scene.run(&pipeline, "lake");
    let before = scene.lake("lake");
    let copy = "data/alp/sacct-2026-03.txt.again";
    fs::copy(scene.path("data/alp/sacct-2026-03.txt"), scene.path(copy)).unwrap();
    let mut more = pipeline.clone();
    more.sources[0].paths.push(copy.to_owned());
    let report = scene.run(&more, "lake");
    assert_eq!(report.files_read_n, 0);
    let touched: Vec<String> = changed(&before, &scene.lake("lake")).into_iter().collect();
    assert_eq!(
        touched,
        ["inputs/inputs.parquet", "ledger/ledger.parquet", "manifest.json"]
    );
    let same_file = |reasons: &BTreeMap<String, u64>| reasons.get("duplicate/same_file").copied().unwrap_or(0);
    assert!(same_file(&report.reasons) > same_file(&first.reasons));
    assert_eq!(scene.findings("lake"), []);
    // Both at once come to the same.
    let at_once = scene.run(&more, "at-once");
    assert_eq!(at_once.reasons, report.reasons);
    assert_same(&scene.lake("at-once"), &scene.lake("lake"), "copy later or at once");
}

/// The copy has the name that sorts first, and so the one its rows are accounted to.
#[test]
fn a_copy_that_sorts_before_its_original_comes_to_the_same_late_or_early() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    for (at, original, copy) in [
        (0, "data/alp/sacct-night-2026-06-02.txt", "data/alp/a-copy.txt"),
        (0, "data/alp/sacct-2026-03.txt", "data/alp/a-march.txt"),
        (
            1,
            "data/bay/apel/6a1e3920/6a1e392c0000b2",
            "data/bay/apel/69000000/69000000000001",
        ),
        (
            1,
            "data/bay/apel/6a1e3920/6a1e39390000c3",
            "data/bay/apel/69000000/69000000000002",
        ),
        (
            2,
            "data/bay/gracc/raw-2026.05.ndjson.zst",
            "data/bay/gracc/a-raw.ndjson.zst",
        ),
    ] {
        let bytes = fs::read(scene.path(original)).unwrap();
        scene.write(copy, &bytes);
        let mut more = pipeline.clone();
        more.sources[at].paths.push(copy.to_owned());
        let (late, at_once) = (format!("late{copy}"), format!("at-once{copy}"));
        scene.run(&pipeline, &late);
        scene.run(&more, &late);
        scene.run(&more, &at_once);
        assert_same(&scene.lake(&at_once), &scene.lake(&late), copy);
        assert_eq!(scene.findings(&late), []);
        // With requested months, the result is equal after the first run that requests everything.
        let windowed = format!("windowed{copy}");
        let march = RunOptions {
            from: Some("2026-03".parse().unwrap()),
            to: Some("2026-03".parse().unwrap()),
            ..RunOptions::default()
        };
        scene.run(&pipeline, &windowed);
        scene.run_with(&more, &windowed, march);
        assert_eq!(scene.findings(&windowed), []);
        scene.run(&more, &windowed);
        assert_same(&scene.lake(&at_once), &scene.lake(&windowed), copy);
    }
}

/// A dump that is rewritten every day under one name.
#[test]
fn a_file_that_grows_counts_nothing_twice() {
    let scene = Scene::sample();
    let mut pipeline = Pipeline::sample();
    let path = "data/alp/sacct-2026-03.txt";
    let whole = fs::read(scene.path(path)).unwrap();
    pipeline.sources.truncate(1);
    pipeline.sources[0].paths = vec![path.to_owned()];
    scene.run(&pipeline, "whole");
    let lines: Vec<_> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    for part in 1..=4 {
        scene.write(path, &lines[..lines.len() * part / 4].concat());
        let report = scene.run(&pipeline, "grown");
        assert_eq!((report.status, report.files_read_n), (Status::Published, 1));
        assert_eq!(scene.findings("grown"), []);
    }
    let usage = |out: &str| -> BTreeMap<String, String> {
        let of_usage = |(path, _): &(String, String)| path.starts_with("usage/");
        scene.lake(out).into_iter().filter(of_usage).collect()
    };
    assert!(!usage("whole").is_empty());
    assert_eq!(usage("whole"), usage("grown"));
}

/// Files move into an archive, some first and then the others.
#[test]
fn an_archive_comes_to_the_same_as_everything_at_once() {
    let scene = Scene::sample();
    let here = Pipeline::sample();
    let (mut there, mut both) = (here.clone(), here.clone());
    for at in 0..here.sources.len() {
        for path in &here.sources[at].paths {
            let archived = path.replace("data/", "archive/");
            scene.write(&archived, &fs::read(scene.path(path)).unwrap());
            both.sources[at].paths.push(archived);
        }
        there.sources[at].paths = here.sources[at]
            .paths
            .iter()
            .map(|path| path.replace("data/", "archive/"))
            .collect();
    }
    scene.run(&both, "at-once");
    scene.run(&here, "moved");
    let report = scene.run(&there, "moved");
    assert!(report.files_read_n < 6, "only files with refusals are read again");
    assert_same(&scene.lake("at-once"), &scene.lake("moved"), "moved at once");
    // The even ones first.
    let mut half = here.clone();
    for at in 0..here.sources.len() {
        for (to, from) in half.sources[at]
            .paths
            .iter_mut()
            .zip(&there.sources[at].paths)
            .step_by(2)
        {
            to.clone_from(from);
        }
    }
    for pipeline in [&here, &half, &there] {
        scene.run(pipeline, "by-half");
        assert_eq!(scene.findings("by-half"), []);
    }
    assert_same(&scene.lake("at-once"), &scene.lake("by-half"), "moved by half");
    assert_eq!(scene.run(&there, "by-half").status, Status::Unchanged);
}
