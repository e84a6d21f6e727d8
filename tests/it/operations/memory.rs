//! `run --max-memory`: a bound that the system enforces.

use super::{Scene, job, stderr};

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
