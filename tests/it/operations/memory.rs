//! `run --max-memory`: a bound that the system enforces.

use super::{Scene, job, stderr};
use crate::promises::scene::{assert_same, lake_hash};

fn many(scene: &Scene, row_n: u32) {
    let rows: Vec<String> = (1..=row_n).map(|id| job(id, 1 + id % 28)).collect();
    scene.dump("dump1.txt", &rows);
}

#[test]
fn a_run_within_the_least_memory_makes_the_same_lake() {
    let (a, b) = (Scene::new(), Scene::new());
    for scene in [&a, &b] {
        many(scene, 20_000);
    }
    let bounded = a.gridtally(&["run", "oak.toml", "--max-memory", "256M", "--threads", "2"]);
    assert!(bounded.status.success(), "{}", stderr(&bounded));
    assert!(b.gridtally(&["run", "oak.toml", "--threads", "2"]).status.success());
    let records = "lake/records/site=OAK/record_month=2026-10-01/records.parquet";
    let read = |scene: &Scene| std::fs::read(scene.path().join(records)).unwrap();
    assert!(read(&a) == read(&b), "results do not depend on it");
}

/// Several months of days with as many jobs as fill the memory of a run several times over: they were gathered day by day, with
/// several of them on their way to be written, and pages that were free again counted against the limit.
#[test]
fn months_of_large_days_are_merged_within_the_least_memory() {
    let scene = Scene::new();
    for dump in 0..20_u32 {
        let rows: Vec<String> = (0..16_000_u32)
            .map(|nth| {
                let (id, month, day) = (dump * 16_000 + nth, 6 + nth % 4, 1 + nth / 4 % 2);
                let start = format!(
                    "2026-{month:02}-{day:02}T{:02}:{:02}:{:02}",
                    id % 23,
                    id / 23 % 60,
                    id / 1380 % 60
                );
                format!(
                    "{id}|oak|u{}|a{}|COMPLETED|{start}|{start}||{}|{}|cpu=1,node=1|00:10:00\n",
                    id % 700,
                    id % 31,
                    id % 90_000,
                    1 + id % 64
                )
            })
            .collect();
        scene.dump(&format!("dump{dump}.txt"), &rows);
    }
    let bounded = scene.gridtally(&["run", "oak.toml", "--max-memory", "256M", "--threads", "2"]);
    assert!(bounded.status.success(), "{}", stderr(&bounded));
    let whole = scene.gridtally(&["run", "oak.toml", "--threads", "2", "--out", "whole"]);
    assert!(whole.status.success(), "{}", stderr(&whole));
    assert_same(
        &lake_hash(&scene.path().join("whole")),
        &lake_hash(&scene.path().join("lake")),
        "results do not depend on it",
    );
}

/// Where the limit of the process is lower than what is requested, the lower one stays: here as if the machine were small.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_needs_more_ends_with_the_code_of_memory() {
    let scene = Scene::new();
    many(&scene, 2000);
    let script = "ulimit -d 20000; exec \"$0\" run oak.toml --max-memory 256M --threads 2";
    let mut command = std::process::Command::new("sh");
    let ran = command
        .args(["-c", script, env!("CARGO_BIN_EXE_gridtally")])
        .current_dir(scene.path())
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(71), "{}", stderr(&ran));
    for advice in ["--max-memory", "--threads", "--shards"] {
        assert!(stderr(&ran).contains(advice), "{}", stderr(&ran));
    }
    assert!(!scene.path().join("lake/manifest.json").exists());
}

#[test]
fn sizes_that_are_too_small_or_are_none_are_refused() {
    let scene = Scene::new();
    for size in ["255M", "0", "1", "G", "-1G", "1.5G", "1X", "99999999999T", ""] {
        let option = format!("--max-memory={size}");
        assert_eq!(
            scene.gridtally(&["run", "oak.toml", &option]).status.code(),
            Some(2),
            "{size}"
        );
    }
}
