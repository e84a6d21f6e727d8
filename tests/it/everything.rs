//! The whole of the real data in one pipeline: every file is read or named with a reason, every row has one outcome,
//! and the outcomes are those that were found right by hand and by the data's own truths.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::collect::shared;
use crate::support::python::python;

/// The pipeline; `@DATA@` is the folder of the data.
const PIPELINE: &str = include_str!("everything/pipeline.toml");
/// Rows and outcomes by source and dialect, by reason, and the jobs of the clusters.
const GOLDEN: &str = include_str!("everything/golden.txt");
pub(crate) const NOT_INPUT: &str = include_str!("everything/not_input.txt");
const TABLES: &str = include_str!("everything/tables.py");

fn gridtally(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .current_dir(folder)
        .args(args)
        .output()
        .unwrap()
}

fn sound(folder: &Path, args: &[&str]) -> String {
    let output = gridtally(folder, args);
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {}\n{reported}", output.status);
    assert!(!reported.contains("panicked"), "{reported}");
    String::from_utf8(output.stdout).unwrap()
}

/// Whether `path` is `pattern`, in which `*` is any text.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == path;
    };
    let Some(path) = path.strip_prefix(first) else {
        return false;
    };
    (0..=path.len()).any(|at| path.get(at..).is_some_and(|path| matches(rest, path)))
}

pub(crate) fn files_below(root: &Path, folder: &Path, into: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(root, &path, into);
        } else {
            into.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}

/// Rows of the traces as their manifest states them: `| swf/KTH.swf.gz | source | 27 992 | ..`.
fn stated_rows(manifest: &str) -> Vec<(String, u64)> {
    manifest
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let file = cells.get(1)?.split(' ').next()?;
            Some((format!("traces/{file}"), cells.get(3)?.replace(' ', "").parse().ok()?))
        })
        .collect()
}

#[test]
fn everything_there_is_ingests_in_one_pipeline_and_the_books_close() {
    let Some(data) = shared(
        "everything_there_is_ingests_in_one_pipeline_and_the_books_close",
        "data",
    ) else {
        return;
    };
    let data = fs::canonicalize(data).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(scratch.path()).unwrap();
    let text = PIPELINE.replace("@DATA@", data.to_str().unwrap());
    fs::write(folder.join("everything.toml"), text).unwrap();

    sound(&folder, &["run", "everything.toml"]);
    let again = sound(&folder, &["run", "everything.toml"]);
    assert!(again.contains("no byte changed"), "{again}");
    let verified = sound(&folder, &["verify", "out"]);
    assert!(verified.contains("sound"), "{verified}");

    let lake = folder.join("out");
    let args = [&lake, &folder, &data].map(|path| path.to_str().unwrap());
    let reported = python(TABLES, &args);
    let (files, summary): (Vec<&str>, Vec<&str>) = reported.lines().partition(|line| line.starts_with("file "));

    // Each file closes, and is reported once for each source that reads it.
    let mut read = BTreeSet::new();
    let mut rows = Vec::new();
    for line in files {
        let mut words = line.rsplitn(7, ' ');
        let sums: Vec<u64> = words.by_ref().take(6).map(|n| n.parse().unwrap()).collect();
        let (outcomes, row_n) = sums.split_at(5);
        assert_eq!(outcomes.iter().sum::<u64>(), row_n.iter().sum::<u64>(), "{line}");
        let path = words.next().unwrap().strip_prefix("file ").unwrap().to_owned();
        rows.push((path.clone(), row_n.iter().sum::<u64>()));
        read.insert(path);
    }
    for (path, row_n) in stated_rows(&fs::read_to_string(data.join("traces/MANIFEST.md")).unwrap()) {
        let found = rows.iter().find(|(of, _)| *of == path);
        // The extract with columns of its own is not an input; of wagap's two files the first is named.
        assert!(
            found.is_some_and(|(_, n)| *n == row_n)
                || Path::new(&path).extension().is_some_and(|extension| extension == "csv"),
            "{path}: {row_n} rows are stated, read were {found:?}"
        );
    }

    // Every file of the data is read, or excluded for a stated reason.
    let mut there = BTreeSet::new();
    files_below(&data, &data, &mut there);
    let rules: Vec<(&str, &str)> = NOT_INPUT
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(" : ").unwrap())
        .collect();
    let mut wrong = String::new();
    for path in &there {
        let is_named = rules.iter().any(|(pattern, _)| matches(pattern, path));
        if is_named == read.contains(path) {
            let _ = writeln!(wrong, "{path}: {}", if is_named { "read and named" } else { "neither" });
        }
    }
    for (pattern, why) in rules {
        if why.is_empty() || !there.iter().any(|path| matches(pattern, path)) {
            let _ = writeln!(wrong, "{pattern}: names no file");
        }
    }
    assert_eq!(wrong, "");

    let golden: Vec<&str> = GOLDEN.lines().collect();
    assert_eq!(summary, golden, "every line by itself: {summary:#?}");
    // What APEL's server stored of its golden messages: jobs, summaries, normalised summaries, sync records.
    let stored: usize = ["VJobRecords", "VSummaries", "VNormalisedSummaries", "VSyncRecords"]
        .iter()
        .map(|view| {
            let path = data.join(format!("apel/golden/{view}.csv"));
            csv::Reader::from_path(path).unwrap().records().count()
        })
        .sum();
    let source = summary
        .iter()
        .find(|line| line.starts_with("source apel-golden "))
        .unwrap();
    let words: Vec<usize> = source.split(' ').filter_map(|word| word.parse().ok()).collect();
    // Files, rows, accepted, duplicate (also in the sample of a spool), superseded (published again), rejected, ..
    assert_eq!(words.get(2..4).unwrap().iter().sum::<usize>(), stored, "{source}");
    assert_eq!(words.get(5), Some(&0), "{source}");
}
