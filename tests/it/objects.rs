//! Inputs and lakes in an object store: the same bytes as on the local disk, whatever happens on the way.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use gridtally::store::Store;
use tempfile::TempDir;

use super::support::azure::Azure;
use super::support::notes::is_note;
use super::support::s3::S3;
use super::support::sample::repository;
use crate::promises::scene::{assert_same, lake_hash};

mod azure;
mod certificates;
mod keys;
mod locking;
pub(crate) mod parts;
mod readers;
mod settings;
mod shards;
mod snapshots;
mod web;

/// A server that is running.
trait Cloud {
    /// Gives a command the way to the server.
    fn introduce(&self, command: &mut Command);
    /// All of its objects.
    fn store(&self) -> Store;
}

impl Cloud for S3 {
    fn introduce(&self, command: &mut Command) {
        Self::introduce(self, command);
    }

    fn store(&self) -> Store {
        self.bucket()
    }
}

impl Cloud for Azure {
    fn introduce(&self, command: &mut Command) {
        Self::introduce(self, command);
    }

    fn store(&self) -> Store {
        self.container()
    }
}

fn gridtally(cloud: &impl Cloud, args: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    command.args(args).current_dir(folder);
    cloud.introduce(&mut command);
    command
}

fn run(cloud: &impl Cloud, args: &[&str], folder: &Path) -> String {
    let output = gridtally(cloud, args, folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", reported(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn reported(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn pipeline(inputs: &str) -> String {
    let tables = repository("sample-data");
    format!(
        "[pipeline]\nname = \"sample\"\noutput = \"lake\"\ncalendar_timezone = \"Europe/Zurich\"\noverlap = \"jobs\"\n\
         [[source]]\nname = \"alp\"\nformat = \"sacct\"\npaths = [\"{inputs}/alp/sacct-2026-0[1-4].txt*\"]\n\
         site = \"ALP-T2\"\ntimezone = \"Europe/Zurich\"\nvo = {{ table = \"{vo}\" }}\n\
         [[source]]\nname = \"bay\"\nformat = \"apel\"\npaths = [\"{inputs}/bay/apel\"]\nmax_unread = 1\n",
        vo = tables.join("vo.csv").display()
    )
}

/// A folder with pipelines of the sample data: its inputs here, and at `remote`.
fn sample(remote: &str) -> TempDir {
    let here = tempfile::tempdir().unwrap();
    let data = repository("sample-data");
    for (file, inputs) in [("local.toml", data.to_str().unwrap()), ("remote.toml", remote)] {
        std::fs::write(here.path().join(file), pipeline(inputs)).unwrap();
    }
    here
}

/// The inputs of [`pipeline`] under `in/`.
fn upload_sample(store: &Store) {
    for folder in ["alp", "bay/apel"] {
        upload(store, &repository("sample-data").join(folder), &format!("in/{folder}"));
    }
}

fn upload(store: &Store, folder: &Path, key: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let key = format!("{key}/{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            upload(store, &path, &key);
        } else {
            store.put(&key, std::fs::read(&path).unwrap().into()).unwrap();
        }
    }
}

/// BLAKE3 of every object of a lake by its path in it; the records of runs, and what it notes for itself, left out.
fn published(cloud: &impl Cloud, lake: &str) -> BTreeMap<String, String> {
    let store = cloud.store();
    let hash = |path: &str| blake3::hash(&store.get(path).unwrap().unwrap()).to_hex().to_string();
    let objects = store.list(lake).unwrap().into_iter();
    objects
        .map(|entry| (entry.path[lake.len() + 1..].to_owned(), hash(&entry.path)))
        .filter(|(path, _)| {
            !path.starts_with("runs/") && path != "seal.json" && (path == ".gridtally/lock" || !is_note(path))
        })
        .collect()
}

/// Output that does not contain the location of its inputs.
fn figures(lake: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_figure = |path: &str| {
        ["records/", "history/", "usage/", "usage_part/"]
            .iter()
            .any(|of| path.starts_with(of))
    };
    lake.iter()
        .filter(|(path, _)| is_figure(path))
        .map(|(path, hash)| (path.clone(), hash.clone()))
        .collect()
}

#[test]
fn object_stores_hold_the_same_bytes() {
    let s3 = S3::start();
    let here = sample("s3://bucket/in");
    let here = here.path();
    upload_sample(&s3.bucket());

    run(&s3, &["run", "local.toml", "--out", "lake"], here);
    let local = lake_hash(&here.join("lake"));
    run(&s3, &["run", "remote.toml", "--out", "from-remote"], here);
    let from_remote = lake_hash(&here.join("from-remote"));
    assert_same(&figures(&local), &figures(&from_remote), "inputs from a bucket");

    let started = Instant::now();
    run(&s3, &["run", "local.toml", "--out", "s3://bucket/lake"], here);
    let whole = started.elapsed();
    assert_same(&local, &published(&s3, "lake"), "a lake in a bucket");
    run(&s3, &["run", "remote.toml", "--out", "s3://bucket/both"], here);
    assert_same(&from_remote, &published(&s3, "both"), "inputs and lake in a bucket");

    // Objects whose tags are known are not read again.
    let input_reads = |s3: &S3| {
        s3.log()
            .lines()
            .filter(|line| line.contains("GET /") && line.contains("/in/alp/sacct-"))
            .count()
    };
    let reads = input_reads(&s3);
    assert!(reads > 0);
    run(&s3, &["run", "remote.toml", "--out", "s3://bucket/both"], here);
    assert_eq!(input_reads(&s3), reads);
    run(
        &s3,
        &["run", "remote.toml", "--out", "s3://bucket/both", "--rehash"],
        here,
    );
    assert!(input_reads(&s3) > reads);
    // One that is replaced by as many bytes is.
    let (key, reads) = ("in/alp/sacct-2026-03.txt", input_reads(&s3));
    let mut bytes = std::fs::read(repository("sample-data/alp/sacct-2026-03.txt")).unwrap();
    let end = bytes.len() - 1;
    bytes.swap(end - 1, end);
    s3.put(key, &bytes);
    let replaced = run(&s3, &["run", "remote.toml", "--out", "s3://bucket/both"], here);
    assert!(
        !replaced.contains("nothing new") && input_reads(&s3) > reads,
        "{replaced}"
    );

    let before = s3.changes();
    let again = run(&s3, &["run", "local.toml", "--out", "s3://bucket/lake"], here);
    assert!(
        again.contains("nothing new") && again.contains("s3://bucket/lake"),
        "{again}"
    );
    // The lock, of the run and of the note of its end, is given back by a request for many objects, which does not name them.
    assert_eq!(
        s3.changes(),
        before + 2,
        "a run without news changes nothing in the bucket but the note of the last run"
    );
    let sound = run(&s3, &["verify", "s3://bucket/lake"], here);
    assert!(sound.contains("s3://bucket/lake: sound"), "{sound}");

    for percent in [20, 40, 60, 75, 85, 92] {
        let mut command = gridtally(&s3, &["run", "local.toml", "--out", "s3://bucket/killed"], here);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * percent / 100);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    run(&s3, &["run", "local.toml", "--out", "s3://bucket/killed"], here);
    assert_same(
        &local,
        &published(&s3, "killed"),
        "after six kills, and nothing left over",
    );

    let victim = local
        .keys()
        .find(|path| path.starts_with("records/") && !path.contains('%'))
        .unwrap();
    s3.put(&format!("lake/{victim}"), b"no table");
    let damaged = gridtally(&s3, &["verify", "s3://bucket/lake"], here).output().unwrap();
    assert_eq!(damaged.status.code(), Some(65), "{}", reported(&damaged));
    let findings = String::from_utf8(damaged.stdout).unwrap();
    assert!(findings.contains(victim.as_str()), "{findings}");
}
