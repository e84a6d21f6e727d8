//! What a change of settings does, what limits do, and what becomes of jobs without a benchmark.

use std::collections::BTreeSet;
use std::fs;

use gridtally::error::Kind;
use gridtally::run::RunOptions;
use gridtally::run::run_report::Status;

use super::scene::{Pipeline, Scene, Source, assert_same, lake_hash, lake_times};
use super::tables::{all, sum, text};
use crate::support::notes::assert_notes_alone;

fn is_of_records(path: &str) -> bool {
    path.starts_with("records/") || path.starts_with("history/")
}

#[test]
fn usage_follows_new_settings_and_records_stay() {
    /// From this variant on the benchmarks change.
    const BENCHMARKS_AT: usize = 4;
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    scene.run(&pipeline, "lake");
    let mut benchmarks = pipeline.clone();
    scene.write(
        "data/other.csv",
        b"site,cluster,benchmark,value_per_core,valid_from,valid_to\nALP-T2,,hs23,12.5,2020-01-01,\n",
    );
    benchmarks.normalise = Some("benchmarks = \"data/other.csv\"\nmissing = \"null\"\n".to_owned());
    let mut without = pipeline.clone();
    without.normalise = None;
    let variants = [
        pipeline.clone().with("attribution", "\"by-end\""),
        pipeline.clone().with("grain", "\"day\""),
        pipeline.clone().with("allocation_year_start", "\"02-15\""),
        pipeline.clone().with("calendar_timezone", "\"Asia/Tokyo\""),
        benchmarks,
        without,
        pipeline,
    ];
    let out = scene.path("lake");
    for (at, variant) in variants.iter().enumerate() {
        let before = lake_times(&out);
        let report = scene.run(variant, "lake");
        assert_eq!(
            (report.status, report.files_read_n),
            (Status::Published, 0),
            "variant {at}"
        );
        let touched: BTreeSet<_> = lake_times(&out)
            .into_iter()
            .filter(|(path, time)| before.get(path) != Some(time))
            .map(|(path, _)| path)
            .collect();
        // Records contain the factors they are scaled by; nothing else about them changes.
        let is_scaled_again = |path: &String| at >= BENCHMARKS_AT && path.starts_with("records/");
        assert!(
            !touched.iter().any(|path| is_of_records(path) && !is_scaled_again(path)),
            "variant {at}: {touched:?}"
        );
        let fresh = format!("fresh-{at}");
        scene.run(variant, &fresh);
        assert_same(&scene.lake(&fresh), &scene.lake("lake"), &format!("variant {at}"));
        assert_eq!(scene.findings("lake"), [], "variant {at}");
        assert_eq!(scene.run(variant, "lake").status, Status::Unchanged, "variant {at}");
    }
}

fn with_vo_of_user() -> Pipeline {
    let mut pipeline = Pipeline::sample();
    let keys = &mut pipeline.sources[0].keys;
    *keys = keys.replace("vo = { table = \"data/vo.csv\" }", "vo = { column = \"user\" }");
    pipeline
}

#[test]
fn records_are_built_again_when_their_source_is_read_otherwise() {
    let scene = Scene::sample();
    scene.run(&Pipeline::sample(), "lake");
    let other = with_vo_of_user();
    let report = scene.run(&other, "lake");
    assert_eq!(report.files_read_n + 1, report.files_n, "all but the copy in the spool");
    scene.run(&other, "fresh");
    assert_same(&scene.lake("fresh"), &scene.lake("lake"), "another VO rule");
    // Another site: no partition of the old one may stay.
    let mut moved = other;
    let keys = &mut moved.sources[0].keys;
    *keys = keys.replace("ALP-T2", "BAY/GRID");
    scene.run(&moved, "lake");
    scene.run(&moved, "moved");
    assert_same(&scene.lake("moved"), &scene.lake("lake"), "another site");
    assert_eq!(scene.findings("lake"), []);
}

#[test]
fn records_cannot_be_built_again_from_files_that_are_gone() {
    let scene = Scene::sample();
    scene.run(&Pipeline::sample(), "lake");
    let before = (scene.lake("lake"), lake_times(&scene.path("lake")));
    let mut other = with_vo_of_user();
    other.sources[0].paths.retain(|path| !path.contains("2026-02"));
    let e = scene.try_run(&other, "lake", RunOptions::default()).unwrap_err();
    assert_eq!((e.kind(), e.kind().exit_code()), (Kind::Config, 78));
    let stated = e.to_string();
    for word in [
        "alp-slurm",
        "sacct-2026-02.txt.gz",
        "no longer there",
        "restore the settings",
    ] {
        assert!(stated.contains(word), "{stated}");
    }
    assert_eq!(before, (scene.lake("lake"), lake_times(&scene.path("lake"))));
}

/// Rebuilt for some months only, a lake would lose the others.
#[test]
fn records_are_not_built_again_for_some_months_alone() {
    let scene = Scene::sample();
    scene.run(&Pipeline::sample(), "lake");
    let before = scene.lake("lake");
    let options = RunOptions {
        from: Some("2026-03".parse().unwrap()),
        ..RunOptions::default()
    };
    let e = scene.try_run(&with_vo_of_user(), "lake", options).unwrap_err();
    assert_eq!(e.kind(), Kind::Config);
    assert!(e.to_string().contains("--from"), "{e}");
    assert_same(&before, &scene.lake("lake"), "after the refusal");
}

#[test]
fn more_refusals_than_allowed_publish_nothing() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    let run = |pipeline: &Pipeline, out: &str| scene.try_run(pipeline, out, RunOptions::default());
    let report = scene.run(&pipeline, "any");
    let rejected = report.outcomes["rejected"];
    let mut of_apel = pipeline.clone();
    of_apel.sources[1].keys.push_str("max_rejected = 2\n");
    let mut of_apel_fraction = pipeline.clone();
    of_apel_fraction.sources[1].keys.push_str("max_rejected = 0.001\n");
    for (at, wrong) in [
        pipeline.clone().with("max_rejected", "0"),
        pipeline.clone().with("max_rejected", &(rejected - 1).to_string()),
        pipeline.clone().with("max_rejected", "0.0001"),
        of_apel,
        of_apel_fraction,
    ]
    .iter()
    .enumerate()
    {
        let wrong = wrong.clone().with("max_unread", "1.0");
        let e = run(&wrong, "none").unwrap_err();
        assert_eq!((e.kind(), e.kind().exit_code()), (Kind::Data, 65), "{at}");
        assert!(e.to_string().contains("max_rejected"), "{e}");
        assert!(e.to_string().contains("bad_"), "the reasons are named: {e}");
        assert!(lake_hash(&scene.path("none")).is_empty(), "{at}");
    }
    let mut of_apel = pipeline.clone();
    of_apel.sources[1].keys.push_str("max_rejected = 3\n");
    for right in [
        pipeline.clone().with("max_rejected", &rejected.to_string()),
        pipeline.clone().with("max_rejected", "0.5"),
        of_apel,
    ] {
        // The sample has a message that is refused whole.
        run(&right.with("max_unread", "1.0"), "some").unwrap();
        assert_same(&scene.lake("any"), &scene.lake("some"), "limits decide no byte");
    }
}

#[test]
fn jobs_without_a_benchmark_are_refused_where_that_is_requested() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    scene.run(&pipeline, "null");
    let missing = sum(&all(&scene.path("null"), "usage"), "benchmark_missing_job_n");
    assert!(missing > 0);
    let mut refusing = pipeline.clone();
    refusing.normalise = Some("benchmarks = \"data/benchmarks.csv\"\nmissing = \"reject\"\n".to_owned());
    let report = scene.run(&refusing, "lake");
    assert_eq!(scene.findings("lake"), []);
    let refused = all(&scene.path("lake"), "rejects");
    let of_benchmark = |row: &usize| text(&refused, "reason", *row).as_deref() == Some("benchmark_missing");
    let rows = (0..refused.num_rows()).filter(of_benchmark).count();
    assert!(
        i64::try_from(rows).unwrap() >= missing,
        "{rows} refused, {missing} missing"
    );
    assert!(report.reasons["rejected/benchmark_missing"] >= u64::try_from(rows).unwrap());
    let (with, without) = (all(&scene.path("null"), "usage"), all(&scene.path("lake"), "usage"));
    assert_eq!(sum(&with, "job_n") - missing, sum(&without, "job_n"));
    assert_eq!(sum(&without, "benchmark_missing_job_n"), 0);
    assert!(scene.path("lake/rejects/stage=normalise").is_dir());
    // There and back again.
    scene.run(&pipeline, "lake");
    assert_same(&scene.lake("null"), &scene.lake("lake"), "no longer refused");
    scene.run(&refusing, "lake");
    scene.run(&refusing, "fresh");
    assert_same(&scene.lake("fresh"), &scene.lake("lake"), "refused again");
    // Night by night it is the same.
    let files = refusing.files();
    for night in (1..=files.len()).step_by(4).chain([files.len()]) {
        scene.run(&refusing.only(&files[..night]), "nights");
        assert_eq!(scene.findings("nights"), [], "night {night}");
    }
    assert_same(&scene.lake("fresh"), &scene.lake("nights"), "refused night by night");
}

#[test]
fn a_fallback_is_used_and_counted() {
    let scene = Scene::sample();
    let mut pipeline = Pipeline::sample();
    scene.run(&pipeline, "null");
    let before = all(&scene.path("null"), "usage");
    pipeline.normalise =
        Some("benchmarks = \"data/benchmarks.csv\"\nmissing = { fallback = 10.0, benchmark = \"hs23\" }\n".to_owned());
    scene.run(&pipeline, "lake");
    let after = all(&scene.path("lake"), "usage");
    assert_eq!(sum(&after, "benchmark_missing_job_n"), 0);
    assert_eq!(
        sum(&after, "benchmark_fallback_job_n"),
        sum(&before, "benchmark_missing_job_n")
    );
    assert_eq!(sum(&after, "wall_s"), sum(&before, "wall_s"));
    assert_eq!(scene.findings("lake"), []);
}

#[test]
fn a_dry_run_publishes_nothing() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    let dry = RunOptions {
        dry_run: true,
        ..RunOptions::default()
    };
    let report = scene.run_with(&pipeline, "lake", dry.clone());
    assert_eq!(report.status, Status::DryRun);
    assert!(lake_hash(&scene.path("lake")).is_empty() && !scene.path("lake/runs").exists());
    let wet = scene.run(&pipeline, "lake");
    assert_eq!(wet.reasons, report.reasons);
    let before = (scene.lake("lake"), lake_times(&scene.path("lake")));
    scene.run_with(&pipeline.with("grain", "\"day\""), "lake", dry);
    assert_eq!(before, (scene.lake("lake"), lake_times(&scene.path("lake"))));
    let machinery = fs::read_dir(scene.path("lake/.gridtally")).unwrap();
    let names = machinery.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_notes_alone(names, "nothing staged is left");
}

/// Two pipelines that name one output by mistake.
#[test]
fn a_pipeline_of_another_name_is_kept_out_of_a_lake() {
    let scene = Scene::sample();
    scene.run(&Pipeline::sample(), "lake");
    let other = Pipeline::sample().with("name", "\"other\"");
    let error = scene.try_run(&other, "lake", RunOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Config, "{error}");
    assert!(error.to_string().contains("the lake of the pipeline sample"), "{error}");
    scene.run(&other, "own");
}

/// Under the strict rule a bad record takes its message along. Where that is less than the share of the source that may be refused, a
/// lake that knows the files from the other rule allows it as a new one does.
#[test]
fn the_strict_rule_returns_to_a_lake_as_it_comes_to_a_new_one() {
    let record = |number: u32, end: &str| {
        format!(
            "Site: OAK\nSubmitHost: ce.oak.example\nLocalJobId: {number}\nLocalUserId: u1\nVO: atlas\nWallDuration: 3600\nCpuDuration: 3000\n\
             Processors: 1\nNodeCount: 1\nStartTime: 1773100800\nEndTime: {end}\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n"
        )
    };
    let message = |numbers: std::ops::Range<u32>| {
        let records: String = numbers.map(|number| record(number, "1773104400")).collect();
        format!("APEL-individual-job-message: v0.3\n{records}")
    };
    let scene = Scene::empty();
    for file in 0..4 {
        scene.write(
            &format!("data/{file}"),
            message(100 * file..100 * file + 100).as_bytes(),
        );
    }
    // A message of five records with a bad one, and one that is sound.
    let bad = message(900..904) + &record(904, "soon") + &message(910..920);
    scene.write("data/bad", bad.as_bytes());
    let of = |acceptance: &str| {
        Pipeline::of(Source {
            name: "messages",
            paths: vec!["data".to_owned()],
            keys: format!("format = \"apel\"\nacceptance = \"{acceptance}\"\n"),
        })
    };
    let (mut strict, mut salvage) = (of("strict-apel"), of("salvage"));
    for pipeline in [&mut strict, &mut salvage] {
        pipeline.head.remove("max_rejected");
    }
    let refused = |out: &str, pipeline: &Pipeline| scene.run(pipeline, out).outcomes.get("rejected").copied();
    assert_eq!(refused("fresh", &strict), Some(5));
    assert_eq!(refused("lake", &salvage), Some(1));
    assert_eq!(refused("lake", &strict), Some(5));
    assert_same(&scene.lake("fresh"), &scene.lake("lake"), "back under the strict rule");
    // A bad file that comes in a night is weighed by itself, as before.
    scene.write("data/night", (message(950..954) + &record(954, "soon")).as_bytes());
    let error = scene.try_run(&strict, "lake", RunOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Data, "{error}");
}
