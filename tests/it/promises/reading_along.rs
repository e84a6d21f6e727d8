//! A reader sees complete files while runs publish.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use gridtally::error::Kind;

use super::scene::{Pipeline, Scene, assert_same, published, read_whole};

/// Reads everything there is; the number of files.
fn look(lake: &Path) -> usize {
    let mut read = 0;
    for path in published(lake) {
        let file = match File::open(&path) {
            Ok(file) => file,
            // Taken away since the folder was listed.
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            Err(e) => panic!("{}: {e}", path.display()),
        };
        if path.extension().is_some_and(|extension| extension == "parquet") {
            read_whole(&path, file);
            read += 1;
        } else if path.ends_with("manifest.json") {
            let text = std::io::read_to_string(file).unwrap();
            gridtally::store::Manifest::parse(text.as_bytes()).unwrap();
        }
    }
    read
}

#[test]
fn a_reader_never_sees_half_a_file() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    let files = pipeline.files();
    let lake = scene.path("lake");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut rounds, mut read) = (0, 0);
            while !done.load(Ordering::Relaxed) {
                read += look(&lake);
                rounds += 1;
            }
            (rounds, read)
        });
        for night in (1..=files.len()).step_by(3) {
            if reader.is_finished() {
                break;
            }
            scene.run(&pipeline.only(&files[..night]), "lake");
        }
        for (attribution, grain) in [
            ("by-end", "day"),
            ("prorated", "day"),
            ("by-end", "month"),
            ("prorated", "month"),
        ] {
            if reader.is_finished() {
                break;
            }
            let attribution = format!("\"{attribution}\"");
            let other = pipeline.clone().with("attribution", &attribution);
            scene.run(&other.with("grain", &format!("\"{grain}\"")), "lake");
        }
        done.store(true, Ordering::Relaxed);
        let (rounds, read) = reader.join().unwrap();
        assert!(rounds > 5 && read > 50, "{rounds} rounds, {read} files");
    });
}

/// One of them publishes, or one after the other; the one that is turned away reports it.
#[test]
fn runs_at_the_same_time_do_not_mix() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    scene.run(&pipeline, "alone");
    let file = scene.file(&pipeline);
    let runs: Vec<_> = (0..3)
        .map(|_| {
            Command::new(env!("CARGO_BIN_EXE_gridtally"))
                .arg("run")
                .arg(&file)
                .arg("--out")
                .arg(scene.path("lake"))
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut published = 0;
    for run in runs {
        let output = run.wait_with_output().unwrap();
        if output.status.success() {
            published += 1;
        } else {
            let stated = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                output.status.code(),
                Some(i32::from(Kind::Busy.exit_code())),
                "{stated}"
            );
        }
    }
    assert!(published > 0);
    assert_same(&scene.lake("alone"), &scene.lake("lake"), "runs at the same time");
    assert_eq!(scene.findings("lake"), []);
}
