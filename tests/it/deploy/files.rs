//! The folder as a whole: what is in it, and where the manual has it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::command_lines::FILES;
use crate::support::sample::repository;

fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// The files of `pipelines/deploy`, as paths in it.
fn files() -> BTreeSet<String> {
    let root = repository("pipelines/deploy");
    let mut found = Vec::new();
    walk(&root, &mut found);
    let inside = found.iter().map(|path| path.strip_prefix(&root).unwrap());
    inside.map(|path| path.to_str().unwrap().to_owned()).collect()
}

#[test]
fn the_command_lines_of_every_file_are_checked() {
    assert_eq!(files(), FILES.iter().map(|(file, ..)| (*file).to_owned()).collect());
}

#[test]
fn the_manual_names_every_file() {
    let guide = std::fs::read_to_string(repository("docs/guides/deployment.md")).unwrap();
    let unnamed: Vec<String> = files()
        .into_iter()
        .filter(|file| !guide.contains(&format!("`{file}`")))
        .collect();
    assert!(
        unnamed.is_empty(),
        "docs/guides/deployment.md does not name {unnamed:?}"
    );
}
