//! Files that a run writes for other programs are none that it reads or publishes.

use std::fs;

use super::{Scene, stderr};

/// A lake, and the bytes of what must stay.
fn scene() -> (Scene, Vec<(&'static str, Vec<u8>)>) {
    let scene = Scene::new();
    assert!(scene.gridtally(&["run", "oak.toml"]).status.success());
    let names = ["oak.toml", "dump1.txt", "lake/manifest.json"];
    let kept = names.map(|name| (name, fs::read(scene.path().join(name)).unwrap()));
    (scene, kept.to_vec())
}

#[test]
fn metrics_and_events_are_not_written_over_what_a_run_reads_or_publishes() {
    let (scene, kept) = scene();
    let link = scene.path().join("elsewhere");
    std::os::unix::fs::symlink(scene.path().join("lake"), link).unwrap();
    for (file, why) in [
        ("oak.toml", "it is the pipeline file"),
        ("dump1.txt", "the source oak reads it"),
        ("./dump1.txt", "the source oak reads it"),
        ("dump2.txt", "the source oak reads it"),
        ("lake/manifest.json", "it is in the output"),
        ("lake/new.prom", "it is in the output"),
        ("elsewhere/new.prom", "it is in the output"),
    ] {
        for option in ["--textfile", "--openlineage"] {
            let ran = scene.gridtally(&["run", "oak.toml", option, file]);
            assert_eq!(ran.status.code(), Some(2), "{option} {file}: {}", stderr(&ran));
            assert!(stderr(&ran).contains(why), "{option} {file}: {}", stderr(&ran));
        }
    }
    let ran = scene
        .command(&["run", "oak.toml"])
        .env("OPENLINEAGE__TRANSPORT__TYPE", "file")
        .env("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", "dump1.txt")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2), "{}", stderr(&ran));
    for (name, bytes) in &kept {
        assert!(
            &fs::read(scene.path().join(name)).unwrap() == bytes,
            "{name} was changed"
        );
    }
    assert!(!scene.path().join("dump2.txt").exists());
    assert!(!scene.path().join("lake/new.prom").exists());
    let ran = scene.gridtally(&[
        "run",
        "oak.toml",
        "--textfile",
        "oak.prom",
        "--openlineage",
        "oak.jsonl",
    ]);
    assert!(ran.status.success(), "{}", stderr(&ran));
}

/// Which files a pipeline reads is not known where it is broken.
#[test]
fn metrics_replace_nothing_but_metrics() {
    let (scene, kept) = scene();
    fs::write(scene.path().join("oak.toml"), "[pipeline").unwrap();
    let ran = scene.gridtally(&["run", "oak.toml", "--textfile", "dump1.txt"]);
    assert_eq!(ran.status.code(), Some(78), "{}", stderr(&ran));
    assert!(stderr(&ran).contains("no file of metrics"), "{}", stderr(&ran));
    assert!(fs::read(scene.path().join("dump1.txt")).unwrap() == kept[1].1);
}

#[test]
fn a_sample_has_one_label_of_a_name() {
    let scene = Scene::new();
    for labels in [&["outcome=x"][..], &["source=x"], &["version=x"], &["a=x", "a=y"]] {
        let mut args = vec!["run", "oak.toml", "--textfile", "oak.prom"];
        args.extend(labels.iter().flat_map(|label| ["--textfile-label", *label]));
        let ran = scene.gridtally(&args);
        assert_eq!(ran.status.code(), Some(2), "{labels:?}: {}", stderr(&ran));
        assert!(!scene.path().join("oak.prom").exists() && !scene.path().join("lake").exists());
    }
}

#[test]
fn an_output_without_a_name_is_refused() {
    let scene = Scene::new();
    for args in [
        &["run", "oak.toml", "--out", ""][..],
        &["merge", "oak.toml", "--out", ""],
        &["plan", "oak.toml", "--shards", "2", "--out", ""],
    ] {
        let ran = scene.gridtally(args);
        assert_eq!(ran.status.code(), Some(2), "{args:?}: {}", stderr(&ran));
    }
    assert!(!scene.path().join("manifest.json").exists());
}
