//! A night that brings one VO something in one month makes the files of that VO and month, and no others.

use std::fmt::Write as _;

use gridtally::run::RunOptions;
use gridtally::run::run_report::{RunReport, Status};

use super::scene::{Scene, assert_same};

const VOS: usize = 40;
const HEADER: &str =
    "JobIDRaw|Cluster|Account|User|State|Submit|Start|End|ElapsedRaw|NCPUS|NNodes|AllocTRES|TotalCPU\n";

const POLICY: &str = r#"
id = "cores"
version = "1"
title = "Core hours"
source = "invented"
pool = "cpu"
unit = "core_hour"
formula = "cores * seconds / 3600"
[[example]]
name = "a core"
in = { cores = 1, seconds = 3600 }
expect = 1
"#;

fn job(number: usize, vo: usize, month: usize) -> String {
    format!(
        "{number}|oak|vo{vo}|u|COMPLETED|2026-0{month}-09T10:00:00|2026-0{month}-09T10:00:00|2026-0{month}-09T11:00:00|3600|2|1|\
         cpu=2,mem=1G,node=1|00:30:00\n"
    )
}

fn pipeline(files: &str) -> String {
    format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\nallocation_year_start = \"04-01\"\n\
         [[source]]\nname = \"dumps\"\nformat = \"sacct\"\npaths = [{files}]\nsite = \"OAK\"\ntimezone = \"UTC\"\n\
         vo = {{ column = \"account\" }}\n[[charge]]\npolicies = [\"policy.toml\"]\n"
    )
}

/// Two months of all VOs.
fn scene() -> Scene {
    let scene = Scene::empty();
    let mut text = HEADER.to_owned();
    for number in 0..2 * VOS {
        text += &job(number, number % VOS, 2 + number / VOS);
    }
    scene.write("all.txt", text.as_bytes());
    scene.write("policy.toml", POLICY.as_bytes());
    scene.write("all.toml", pipeline("\"all.txt\"").as_bytes());
    scene.write("both.toml", pipeline("\"all.txt\", \"night.txt\"").as_bytes());
    scene
}

fn run(scene: &Scene, file: &str, lake: &str) -> RunReport {
    scene.run_file(file, lake, RunOptions::default()).unwrap()
}

fn of<'a>(written: &'a [String], dataset: &str) -> Vec<&'a str> {
    let folder = format!("{dataset}/site=OAK/");
    written
        .iter()
        .map(String::as_str)
        .filter(|path| path.starts_with(&folder))
        .collect()
}

fn night(rows: &str) -> RunReport {
    let scene = scene();
    let first = run(&scene, "all.toml", "lake");
    assert_eq!(of(&first.written, "usage").len(), VOS);
    assert_eq!(of(&first.written, "charges").len(), VOS);
    scene.write("night.txt", (HEADER.to_owned() + rows).as_bytes());
    let report = run(&scene, "both.toml", "lake");
    assert_eq!(report.status, Status::Published);
    assert_eq!(scene.findings("lake"), []);
    run(&scene, "both.toml", "at-once");
    assert_same(
        &scene.lake("at-once"),
        &scene.lake("lake"),
        "in two nights and in one go",
    );
    report
}

#[test]
fn one_vo_in_one_month() {
    let report = night(&job(1_000, 7, 3));
    let folder = "site=OAK/vo=vo7/allocation_year=2025";
    assert_eq!(of(&report.written, "usage"), [format!("usage/{folder}/usage.parquet")]);
    assert_eq!(
        of(&report.written, "charges"),
        [format!("charges/{folder}/charges.parquet")]
    );
    let month = "site=OAK/record_month=2026-03-01";
    for dataset in ["records", "usage_part", "job_charges", "charge_part"] {
        assert_eq!(
            of(&report.written, dataset),
            [format!("{dataset}/{month}/{dataset}.parquet")]
        );
    }
    let mut others: Vec<&String> = report.written.iter().collect();
    others.retain(|path| !path.contains("site=OAK"));
    assert_eq!(others, ["inputs/inputs.parquet", "ledger/ledger.parquet"], "{others:?}");
    // What did not change was not made either, to be thrown away.
    assert!(
        report.unchanged_n < 10,
        "{} files were built and found unchanged",
        report.unchanged_n
    );
}

/// A row of a job that is there already, under the name of another file.
#[test]
fn a_duplicate_changes_no_sum() {
    let report = night(&job(7, 7, 2));
    for dataset in ["usage", "charges", "usage_part", "charge_part"] {
        assert_eq!(of(&report.written, dataset), [] as [&str; 0]);
    }
    assert!(
        report.unchanged_n < 10,
        "{} files were built and found unchanged",
        report.unchanged_n
    );
}

/// A job that ran longer than was recorded, and of another VO: the former one loses it.
#[test]
fn a_job_that_moves_touches_two() {
    let mut rows = String::new();
    write!(rows, "{}", job(7, 9, 2).replace("T11:00:00|3600", "T12:00:00|7200")).unwrap();
    let report = night(&rows);
    let folder = |vo: usize| format!("usage/site=OAK/vo=vo{vo}/allocation_year=2025/usage.parquet");
    assert_eq!(of(&report.written, "usage"), [folder(7), folder(9)]);
    // The former version is in the history, which had none.
    assert_eq!(report.removed, ["history/empty.parquet"]);
}
