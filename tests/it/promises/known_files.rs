//! A file is not read again to learn that it is as it was; every change of it is seen.

use std::fs::{self, File};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use gridtally::config::Plan;
use gridtally::run::run_report::{RunReport, Status};
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Progress;

use super::scene::{Pipeline, Scene, assert_same};

const DUMP: &str = "data/alp/sacct-2026-03.txt";

const KEPT: &str = "lake/.gridtally/input_hashes.json";

/// Adds up the bytes that are hashed before anything is read.
#[derive(Default)]
struct Hashed(AtomicU64);

impl Progress for Hashed {
    fn begin(&self, phase: &str, total: u64, _: &str) {
        if phase == "hashing" {
            self.0.fetch_add(total, Ordering::Relaxed);
        }
    }

    fn add(&self, _: u64) {}
    fn end(&self) {}
}

struct Dump {
    scene: Scene,
    pipeline: Pipeline,
    bytes: Vec<u8>,
}

impl Dump {
    /// One dump that was just written.
    fn fresh() -> Self {
        let scene = Scene::sample();
        let mut pipeline = Pipeline::sample();
        pipeline.sources.truncate(1);
        pipeline.sources[0].paths = vec![DUMP.to_owned()];
        let bytes = fs::read(scene.path(DUMP)).unwrap();
        scene.write(DUMP, &bytes);
        Self { scene, pipeline, bytes }
    }

    /// One that the lake knows by its times.
    fn known() -> Self {
        let dump = Self::fresh();
        wait();
        assert_eq!(dump.run(), (Status::Published, 1, 0));
        assert_eq!(dump.run(), (Status::Unchanged, 0, 0));
        dump
    }

    fn run_with(&self, options: &RunOptions) -> (RunReport, u64) {
        let hashed = Hashed::default();
        let out = Some(self.scene.path("lake").to_str().unwrap().to_owned());
        let (plan, _) = Plan::load(&self.scene.file(&self.pipeline)).unwrap();
        let mut report = RunReport::new(&plan, options);
        stages::run_into(&plan, &RunOptions { out, ..options.clone() }, &hashed, &mut report).unwrap();
        (report, hashed.0.into_inner())
    }

    /// How it ended, the files it read, and the bytes it hashed before.
    fn run(&self) -> (Status, u64, u64) {
        let (report, hashed) = self.run_with(&RunOptions::default());
        (report.status, report.files_read_n, hashed)
    }

    /// As many bytes, with other content: the last two rows change places.
    fn changed(&self) -> Vec<u8> {
        let mut lines: Vec<&[u8]> = self.bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let last = lines.len() - 1;
        assert_ne!(lines[last - 1], lines[last]);
        lines.swap(last - 1, last);
        lines.concat()
    }

    fn size(&self) -> u64 {
        self.bytes.len().try_into().unwrap()
    }

    fn modified(&self) -> SystemTime {
        fs::metadata(self.scene.path(DUMP)).unwrap().modified().unwrap()
    }

    fn set_modified(&self, time: SystemTime) {
        let file = File::options().write(true).open(self.scene.path(DUMP)).unwrap();
        file.set_modified(time).unwrap();
    }

    /// The lake holds what one of all of it would.
    fn sound(&self) {
        assert_eq!(self.scene.findings("lake"), []);
    }
}

/// Until a change of now is old enough for the times of the file to tell a later one.
fn wait() {
    sleep(Duration::from_millis(2_100));
}

#[test]
fn a_touched_file_is_hashed_once_and_is_no_news() {
    let dump = Dump::known();
    let before = dump.scene.lake("lake");
    dump.set_modified(dump.modified() - Duration::from_hours(24));
    wait();
    assert_eq!(dump.run(), (Status::Unchanged, 0, dump.size()));
    assert_eq!(dump.run(), (Status::Unchanged, 0, 0));
    assert_same(&before, &dump.scene.lake("lake"), "touched");
    dump.sound();
}

#[test]
fn a_change_in_place_of_the_same_size_is_read() {
    let dump = Dump::known();
    dump.scene.write(DUMP, &dump.changed());
    assert_eq!(dump.run(), (Status::Published, 1, dump.size()));
    dump.sound();
}

#[test]
fn a_change_whose_time_was_set_back_is_read() {
    let dump = Dump::known();
    let time = dump.modified();
    dump.scene.write(DUMP, &dump.changed());
    dump.set_modified(time);
    assert_eq!(dump.modified(), time);
    assert_eq!(dump.run(), (Status::Published, 1, dump.size()));
    dump.sound();
}

/// Another file takes its name, older and as large.
#[test]
fn a_file_that_is_put_in_its_place_is_read() {
    let dump = Dump::fresh();
    let time = dump.modified();
    dump.scene.write("data/other", &dump.changed());
    let other = File::options().write(true).open(dump.scene.path("data/other")).unwrap();
    other.set_modified(time).unwrap();
    wait();
    assert_eq!(dump.run(), (Status::Published, 1, 0));
    assert_eq!(dump.run(), (Status::Unchanged, 0, 0));
    fs::rename(dump.scene.path("data/other"), dump.scene.path(DUMP)).unwrap();
    assert_eq!(dump.run(), (Status::Published, 1, dump.size()));
    dump.sound();
}

/// A file that changed just before it was read may change again in the same tick of the clock of its file system.
#[test]
fn a_file_that_just_changed_is_hashed_until_its_times_tell() {
    let dump = Dump::fresh();
    assert_eq!(dump.run(), (Status::Published, 1, 0));
    assert!(!dump.scene.path(KEPT).exists() || fs::read_to_string(dump.scene.path(KEPT)).unwrap().contains("[]"));
    let (_, _, hashed) = dump.run();
    assert_eq!(hashed, dump.size());
    let time = dump.modified();
    dump.scene.write(DUMP, &dump.changed());
    dump.set_modified(time);
    assert_eq!(dump.run(), (Status::Published, 1, dump.size()));
    wait();
    assert_eq!(dump.run(), (Status::Unchanged, 0, dump.size()));
    assert_eq!(dump.run(), (Status::Unchanged, 0, 0));
    dump.sound();
}

#[test]
fn everything_is_hashed_where_that_is_requested_or_nothing_is_kept() {
    let dump = Dump::known();
    let rehash = RunOptions {
        rehash: true,
        ..RunOptions::default()
    };
    let (report, hashed) = dump.run_with(&rehash);
    assert_eq!((report.status, hashed), (Status::Unchanged, dump.size()));
    assert_eq!(dump.run(), (Status::Unchanged, 0, 0));
    // A byte of what is kept is altered: it is not believed.
    let kept = fs::read_to_string(dump.scene.path(KEPT)).unwrap();
    let hash = blake3::hash(&dump.bytes).to_hex();
    assert!(kept.contains(hash.as_str()));
    dump.scene
        .write(KEPT, kept.replace(hash.as_str(), &"0".repeat(64)).as_bytes());
    assert_eq!(dump.run(), (Status::Unchanged, 0, dump.size()));
    assert_eq!(fs::read_to_string(dump.scene.path(KEPT)).unwrap(), kept);
    fs::remove_file(dump.scene.path(KEPT)).unwrap();
    assert_eq!(dump.run(), (Status::Unchanged, 0, dump.size()));
    assert_eq!(dump.run(), (Status::Unchanged, 0, 0));
    dump.sound();
}

#[test]
fn a_dry_run_keeps_nothing() {
    let dump = Dump::known();
    fs::remove_file(dump.scene.path(KEPT)).unwrap();
    let dry = RunOptions {
        dry_run: true,
        ..RunOptions::default()
    };
    let (report, hashed) = dump.run_with(&dry);
    assert_eq!((report.status, hashed), (Status::Unchanged, dump.size()));
    assert!(!dump.scene.path(KEPT).exists());
}
