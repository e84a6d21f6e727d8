//! `gridtally init`: the file it writes is good, or `check` names the lines that it leaves empty.

use std::fs;
use std::path::{Path, PathBuf};

use crate::inspect::{decided, gridtally};
use crate::support::collect::shared;
use crate::support::sample::repository;

/// Folders of the sample and of the shared data, each with what `init` is given.
fn given() -> Vec<PathBuf> {
    let sample = [
        "alp/sacct-2026-01.txt",
        "alp/sacct-2026-04.txt.zst",
        "alp/nodes.csv",
        "bay/apel",
        "bay/gracc",
    ];
    let mut given: Vec<PathBuf> = sample.map(|path| repository("sample-data").join(path)).into();
    if let Some(data) = shared("init on real dumps", "data") {
        let real = ["gracc/es-dump", "apel/dirq-sample", "gracc/gratia-monthly"];
        given.extend(real.iter().map(|path| data.join(path)));
    }
    given
}

/// Writes a pipeline for a dump; its path and what was printed.
fn init(folder: &Path, dumps: &[&Path]) -> (PathBuf, String) {
    let mut args = vec!["init"];
    args.extend(dumps.iter().map(|dump| dump.to_str().unwrap()));
    let output = gridtally(folder, &args);
    assert!(
        output.status.success(),
        "{dumps:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    (folder.join("pipeline.toml"), String::from_utf8(output.stdout).unwrap())
}

fn check(folder: &Path) -> (bool, String) {
    let output = gridtally(folder, &["check", "pipeline.toml"]);
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn a_written_pipeline_is_good_or_check_names_each_empty_line() {
    let mut good = 0;
    for dump in given() {
        let dir = tempfile::tempdir().unwrap();
        let (path, printed) = init(dir.path(), &[&dump]);
        let text = fs::read_to_string(&path).unwrap();
        let (is_good, reported) = check(dir.path());
        let open: Vec<&str> = printed.lines().filter(|line| line.contains(": fill in ")).collect();
        assert_eq!(is_good, open.is_empty(), "{}: {reported}\n{text}", dump.display());
        for line in &open {
            let place = line.split(": ").next().unwrap();
            assert!(reported.contains(&format!("{place}:")), "{place} is not in {reported}");
        }
        good += usize::from(is_good);
        fs::write(&path, decided(&text)).unwrap();
        let (is_good, reported) = check(dir.path());
        assert!(is_good, "{}: {reported}\n{}", dump.display(), decided(&text));
    }
    assert!(good > 0, "no dump states all that is needed");
}

#[test]
fn dumps_of_one_kind_share_a_source() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["sacct-2026-01.txt", "sacct-2026-03.txt", "nodes.csv"] {
        fs::copy(repository("sample-data/alp").join(file), dir.path().join(file)).unwrap();
    }
    let names = ["sacct-2026-01.txt", "nodes.csv", "sacct-2026-03.txt"].map(Path::new);
    let (path, printed) = init(dir.path(), &names);
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(text.matches("\n[[source]]\n").count(), 1, "{text}");
    assert_eq!(text.matches("\n[[inventory]]\n").count(), 1, "{text}");
    assert!(text.contains("    \"sacct-2026-03.txt\",\n]\n"), "{text}");
    assert!(printed.starts_with("pipeline.toml: 2 sources\n"), "{printed}");
}

#[test]
fn a_file_that_exists_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipeline.toml");
    fs::write(&path, "mine").unwrap();
    let dump = repository("sample-data/alp/sacct-2026-01.txt");
    let output = gridtally(dir.path(), &["init", dump.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not overwritten"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn files_of_no_dialect_make_no_pipeline() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("letter.txt"), "Dear all,\n").unwrap();
    let output = gridtally(dir.path(), &["init", "letter.txt"]);
    assert_eq!(output.status.code(), Some(65));
    assert!(!dir.path().join("pipeline.toml").exists());
}
