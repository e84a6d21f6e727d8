//! A run that is killed at any moment leaves a lake that reads whole, and the next run finishes the work.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gridtally::store::Manifest;

use super::scene::{Pipeline, Scene, assert_same, lake_hash, published, read_whole};
use crate::support::notes::assert_notes_alone;

/// Kills; `GRIDTALLY_RUN_KILLS` raises it.
const KILLS: u32 = 50;

/// Reads every published table to its end.
fn assert_readable(lake: &Path) {
    for path in published(lake) {
        if path.extension().is_some_and(|extension| extension == "parquet") {
            read_whole(&path, File::open(&path).unwrap());
        }
    }
}

/// Unless a journal records a commit under way, the files are exactly those of the manifest.
fn assert_consistent(lake: &Path) -> bool {
    let manifest = match fs::read(lake.join("manifest.json")) {
        Ok(text) => Manifest::parse(&text).unwrap(),
        Err(_) => Manifest::default(),
    };
    if lake.join(".gridtally/journal.json").exists() {
        return false;
    }
    let mut present = lake_hash(lake);
    present.remove("manifest.json");
    let stated = manifest
        .files()
        .map(|file| (file.path.clone(), file.blake3.clone()))
        .collect();
    assert_eq!(present, stated);
    true
}

#[test]
fn fifty_kills_and_a_clean_run() {
    let kills = std::env::var("GRIDTALLY_RUN_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let scene = Scene::sample();
    let pipelines = [
        Pipeline::sample(),
        // Everything is read and published again when the runs alternate.
        {
            let mut other = Pipeline::sample()
                .with("attribution", "\"by-end\"")
                .with("grain", "\"day\"");
            for source in &mut other.sources {
                source.keys = source
                    .keys
                    .replace("vo = { table = \"data/vo.csv\" }", "vo = { column = \"user\" }");
            }
            other
        },
    ];
    let files: Vec<_> = pipelines
        .iter()
        .enumerate()
        .map(|(at, pipeline)| {
            let file = format!("pipeline-{at}.toml");
            scene.write(&file, pipeline.text().as_bytes());
            scene.path(&file)
        })
        .collect();
    let run = |at: usize, out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.arg("run").arg(&files[at]).arg("--out").arg(scene.path(out));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let started = Instant::now();
    assert!(run(0, "undisturbed").status().unwrap().success());
    let mut whole = started.elapsed();
    let undisturbed = scene.lake("undisturbed");
    let lake = scene.path("lake");
    let journal = lake.join(".gridtally/journal.json");
    let (mut attempts, mut killed, mut amid_commit) = (0_u32, 0, 0);
    let mut seed: u64 = 20_260_329;
    while killed < kills {
        attempts += 1;
        assert!(
            attempts < 6 * kills,
            "only {killed} of {attempts} runs were caught alive"
        );
        let mut child = run(usize::try_from(attempts % 2).unwrap(), "lake").spawn().unwrap();
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let fraction = u32::try_from(seed >> 54).unwrap();
        if attempts % 4 == 3 {
            // The narrow place: as soon as the commit begins.
            let patience = Instant::now();
            while !journal.exists() && patience.elapsed() < 4 * whole && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(100));
            }
        } else {
            std::thread::sleep(whole * fraction / 1024);
        }
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            whole = whole * 15 / 16; // the first run was slower than others
        } else {
            killed += 1;
        }
        if lake.exists() {
            assert_readable(&lake);
            amid_commit += u32::from(!assert_consistent(&lake));
        }
    }
    eprintln!("{killed} of {attempts} runs were killed, {amid_commit} while they published");
    // A run that takes over is not a run that does nothing: the last kill may have left either pipeline's lake.
    assert!(run(1, "lake").status().unwrap().success());
    assert!(run(0, "lake").status().unwrap().success());
    assert_same(&undisturbed, &scene.lake("lake"), "after the kills");
    assert_eq!(scene.findings("lake"), []);
    assert!(assert_consistent(&lake));
    let machinery = fs::read_dir(lake.join(".gridtally")).unwrap();
    let names = machinery.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_notes_alone(names, "after the kills");
}
