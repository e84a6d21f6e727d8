//! Lakes of earlier releases: `tests/lakes` has one of each, and today's program reads it, continues it, or states what to do.
//!
//! `GRIDTALLY_WRITE_LAKE=NAME` writes `tests/lakes/NAME.tar.gz` with the program as it is: once for a release, never again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gridtally::store::{Fact, Manifest};
use tempfile::TempDir;

use super::promises::scene::{assert_same, lake_hash};
use super::support::forge::{forge_manifest, with_own_hash};
use super::support::sample::repository;

const PIPELINE: &str = "[pipeline]\nname = \"oak\"\noutput = \"lake\"\nkeep = { nights = 30, months = 24, tags = \"all\" }\n\
     [[source]]\nname = \"oak\"\nformat = \"sacct\"\npaths = [\"dumps\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\n\
     vo = { column = \"account\" }\n";

/// Jobs of a dump.
const JOBS: usize = 12;

/// Nights that an archived lake has.
const NIGHTS: usize = 2;

/// The names of the archives.
fn archives() -> Vec<PathBuf> {
    let files = fs::read_dir(repository("tests/lakes")).unwrap();
    let mut found: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    found.sort();
    assert!(!found.is_empty());
    found
}

/// The folder of an archive: the pipeline, its dumps and its lake.
fn unpacked(archive: &Path) -> TempDir {
    let here = tempfile::tempdir().unwrap();
    let mut tar = Command::new("tar");
    let status = tar
        .arg("-xzf")
        .arg(archive)
        .arg("-C")
        .arg(here.path())
        .status()
        .unwrap();
    assert!(status.success());
    here
}

/// The dump of a night arrives.
fn arrive(here: &Path, nth: usize) {
    let mut text =
        "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n".to_owned();
    for job in 0..JOBS {
        let (id, vo) = (nth * 1000 + job, job % 2);
        let day = format!("2026-0{}-11T{job:02}", nth + 1);
        writeln!(
            text,
            "{id}|oak|u|vo{vo}|COMPLETED|{day}:00:00|{day}:00:00|{day}:30:00|1800|2|cpu=2,node=1|00:50:00"
        )
        .unwrap();
    }
    fs::create_dir_all(here.join("dumps")).unwrap();
    fs::write(here.join(format!("dumps/{nth}.txt")), text).unwrap();
}

fn gridtally(here: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    command.args(args).current_dir(here).output().unwrap()
}

fn done(here: &Path, args: &[&str]) -> String {
    let output = gridtally(here, args);
    assert!(output.status.success(), "{args:?}: {}", words(&output));
    words(&output)
}

fn refused(here: &Path, args: &[&str], code: i32) -> String {
    let output = gridtally(here, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", words(&output));
    words(&output)
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The files of a lake, but for empty ones, which keep the description of the release that wrote them, and the manifest, which
/// names their hashes.
fn comparable(lake: &Path) -> BTreeMap<String, String> {
    let mut files = lake_hash(lake);
    files.retain(|path, _| path != "manifest.json" && !path.ends_with("/empty.parquet"));
    files
}

/// Jobs by EGI's report.
fn jobs(here: &Path, as_of: &[&str]) -> usize {
    let args = [&["report", "egi", "lake", "--format", "csv", "--quiet"], as_of].concat();
    let table = done(here, &args);
    let rows = table.lines().skip(1);
    rows.map(|row| row.split(',').nth(3).unwrap().parse::<usize>().unwrap())
        .sum()
}

/// The same nights, by today's program alone.
fn fresh(nights: usize) -> TempDir {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("p.toml"), PIPELINE).unwrap();
    for nth in 0..nights {
        arrive(here.path(), nth);
        done(here.path(), &["run", "p.toml"]);
    }
    here
}

/// Changes the text of a manifest, which the hash at its end then vouches for.
fn forge_text(here: &Path, change: impl FnOnce(&str) -> String) {
    let path = here.join("lake/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, with_own_hash(&text, change)).unwrap();
}

#[test]
fn a_lake_of_each_release_is_read_and_continued() {
    if let Ok(name) = std::env::var("GRIDTALLY_WRITE_LAKE") {
        let here = fresh(NIGHTS);
        let archive = repository("tests/lakes").join(format!("{name}.tar.gz"));
        assert!(
            !archive.exists(),
            "{} is there: a release has one lake",
            archive.display()
        );
        let mut tar = Command::new("tar");
        tar.args(["--owner=0", "--group=0", "-czf"])
            .arg(&archive)
            .arg("-C")
            .arg(here.path());
        assert!(tar.args(["p.toml", "dumps", "lake"]).status().unwrap().success());
    }
    for archive in archives() {
        let size = fs::metadata(&archive).unwrap().len();
        assert!(size < 200_000, "{}: {size} bytes", archive.display());
        let here = unpacked(&archive);
        let here = here.path();
        assert_eq!(jobs(here, &[]), NIGHTS * JOBS);
        assert_eq!(jobs(here, &["--as-of", "1"]), JOBS);
        let verified = done(here, &["verify", "lake"]);
        assert!(verified.contains("sound"), "{verified}");

        arrive(here, NIGHTS);
        done(here, &["run", "p.toml"]);
        let whole = fresh(NIGHTS + 1);
        let what = format!("{} continued", archive.display());
        assert_same(
            &comparable(&whole.path().join("lake")),
            &comparable(&here.join("lake")),
            &what,
        );
        done(here, &["verify", "lake"]);
        for (moment, nights) in [("1", 1), ("2", 2), ("latest", 3)] {
            assert_eq!(
                jobs(here, &["--as-of", moment]),
                nights * JOBS,
                "{what}, as of {moment}"
            );
            done(here, &["verify", "lake", "--as-of", moment]);
        }
    }
}

#[test]
fn records_of_an_older_schema_are_made_again_from_the_inputs() {
    for archive in archives() {
        let here = unpacked(&archive);
        let here = here.path();
        forge_manifest(&here.join("lake"), |manifest| {
            manifest.facts.insert(Fact::Schemas, "1.1.1.1.1");
        });
        // The inputs are what they are made from.
        let dump = here.join("dumps/0.txt");
        let kept = fs::read(&dump).unwrap();
        fs::remove_file(&dump).unwrap();
        let before = lake_hash(&here.join("lake"));
        arrive(here, NIGHTS);
        let said = refused(here, &["run", "p.toml"], 78);
        assert!(
            said.contains("dumps/0.txt") && said.contains("another version of gridtally"),
            "{said}"
        );
        assert_same(
            &before,
            &lake_hash(&here.join("lake")),
            "a lake that cannot be migrated",
        );

        fs::write(&dump, kept).unwrap();
        let said = done(here, &["run", "p.toml"]);
        assert!(said.contains(&format!("{} accepted", (NIGHTS + 1) * JOBS)), "{said}");
        let whole = fresh(NIGHTS + 1);
        assert_same(
            &comparable(&whole.path().join("lake")),
            &comparable(&here.join("lake")),
            "a migrated lake",
        );
        assert_eq!(
            jobs(here, &["--as-of", "1"]),
            JOBS,
            "the snapshot of the older schema is kept"
        );
    }
}

#[test]
fn a_lake_of_another_form_is_refused_with_what_to_do() {
    for archive in archives() {
        let manifest = |here: &Path| Manifest::parse(&fs::read(here.join("lake/manifest.json")).unwrap());
        let here = unpacked(&archive);
        let here = here.path();
        assert!(manifest(here).is_ok());
        for (version, expected) in [
            (1, "rebuild the lake in another folder"),
            (999, "written by a newer gridtally"),
        ] {
            forge_text(here, |text| {
                let (head, rest) = text.split_once("\"format_version\": ").unwrap();
                let (_, rest) = rest.split_once(',').unwrap();
                format!("{head}\"format_version\": {version},{rest}")
            });
            let before = lake_hash(&here.join("lake"));
            arrive(here, NIGHTS);
            for args in [&["run", "p.toml"][..], &["report", "egi", "lake"], &["verify", "lake"]] {
                let said = refused(here, args, 65);
                assert!(
                    said.contains(expected) && said.contains("format_version"),
                    "{args:?}: {said}"
                );
            }
            assert_same(&before, &lake_hash(&here.join("lake")), "a lake that is refused");
        }
    }
}
