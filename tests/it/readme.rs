//! Every command, query and answer in the README and in `docs` is run, and every table in them that the program knows is
//! compared. `UPDATE_README=1 cargo test readme` writes what they came to.

mod blocks;
mod links;
mod regions;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use blocks::{QUERY, answered};
use regions::generated;

use crate::support::python::python;
use crate::support::sample::{repository, run};

/// Most bytes of the README.
const README_BYTES: usize = 10 * 1024;

/// The README and the pages of `docs` without their summary, as paths below the repository. The README is first: it makes
/// the lake that the other pages query.
fn pages() -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(repository(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                folders.push(path);
            } else if entry.path().extension() == Some("md".as_ref()) && entry.file_name() != "SUMMARY.md" {
                found.push(path);
            }
        }
    }
    found.sort();
    found.insert(0, "README.md".to_owned());
    found
}

#[test]
fn every_page_is_true() {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["pipelines", "sample-data"] {
        copy(&repository(folder), &dir.path().join(folder));
    }
    let mut regions_found = BTreeSet::new();
    let mut wrong = Vec::new();
    for page in pages() {
        let file = repository(&page);
        let text = std::fs::read_to_string(&file).unwrap();
        let (made, names) = generated(&answered(&page, &text, dir.path()));
        regions_found.extend(names);
        if std::env::var_os("UPDATE_README").is_some() {
            if made != text {
                std::fs::write(&file, &made).unwrap();
            }
            continue;
        }
        let differs = text.lines().zip(made.lines()).position(|(have, want)| have != want);
        if let Some(line) = differs {
            let (have, want) = (text.lines().nth(line).unwrap(), made.lines().nth(line).unwrap());
            wrong.push(format!("{page} line {}\n  has   {have}\n  to be {want}", line + 1));
        } else if text.lines().count() != made.lines().count() {
            wrong.push(format!("{page} has lines too few or too many"));
        }
    }
    assert!(
        wrong.is_empty(),
        "UPDATE_README=1 writes the answers\n{}",
        wrong.join("\n")
    );
    let known: BTreeSet<&str> = regions::names().into_iter().collect();
    assert_eq!(regions_found, known, "a table of the reference is on no page");
}

#[test]
fn the_readme_is_short() {
    let bytes = std::fs::read(repository("README.md")).unwrap().len();
    assert!(
        bytes <= README_BYTES,
        "README.md has {bytes} bytes, more than {README_BYTES}"
    );
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// The charges of the guide to policies, with the sample data.
#[test]
fn the_charges_of_the_guide_are_charged() {
    let text = std::fs::read_to_string(repository("docs/guides/policies.md")).unwrap();
    let blocks = text.split("```toml\n").skip(1);
    let charges: Vec<&str> = blocks
        .filter_map(|block| block.split("```").next())
        .filter(|block| block.contains("[[charge]]") && !block.contains("[pipeline]"))
        .collect();
    assert_eq!(charges.len(), 1, "{charges:?}");
    let dir = tempfile::tempdir().unwrap();
    for folder in ["pipelines", "sample-data"] {
        copy(&repository(folder), &dir.path().join(folder));
    }
    let sample = std::fs::read_to_string(repository("pipelines/sample.toml")).unwrap();
    let pipeline = dir.path().join("pipelines/readme.toml");
    std::fs::write(&pipeline, format!("{sample}\n{}", charges[0])).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        run(command.args(args).current_dir(dir.path()))
    };
    run(&["run", "pipelines/readme.toml"]);
    assert!(run(&["verify", "out"]).contains(": sound"));
    // The sample has the bills of its overhead and two policies of its own.
    let sql = "SELECT string_agg(DISTINCT id, ' ' ORDER BY id) AS ids FROM 'out/policies/policies.parquet' \
               WHERE id NOT LIKE 'node-share/%'";
    let answer = python(QUERY, &[&dir.path().to_string_lossy(), sql]);
    assert!(
        answer.trim_end().ends_with("drac-rgu fasrc-tres slurm-tres wlcg-work"),
        "{answer}"
    );
}
