//! Every path of the library, resolved to the module it leads to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::tokens::{Paths, paths};
use crate::support::sample::repository;

/// How many `use` lead from one to the next at most.
const LONGEST_CHAIN: usize = 8;

/// One file of the library.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// Path under `src`.
    pub(super) path: String,
    /// Its module, from the root.
    pub(super) module: Vec<String>,
    pub(super) text: String,
    paths: Paths,
}

impl File {
    fn new(path: &str, text: &str) -> Self {
        let stem = path.strip_suffix(".rs").unwrap();
        let stem = stem.strip_suffix("/mod").unwrap_or(stem);
        let module = if stem == "lib" {
            Vec::new()
        } else {
            stem.split('/').map(str::to_owned).collect()
        };
        Self {
            path: path.to_owned(),
            module,
            text: text.to_owned(),
            paths: paths(text),
        }
    }

    /// The room it is in.
    pub(super) fn room(&self) -> &str {
        self.module.first().map_or("lib", String::as_str)
    }
}

/// A path of a file, from the root of the library.
#[derive(Clone, Debug)]
pub(super) struct Import {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

/// The library.
#[derive(Clone, Debug)]
pub(super) struct Crate {
    files: BTreeMap<Vec<String>, File>,
}

impl Crate {
    /// Reads all files but `main.rs`, which is another crate.
    pub(super) fn read() -> Self {
        fn walk(root: &Path, folder: PathBuf, files: &mut Vec<File>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(root, path, files);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap();
                    if name != "main.rs" {
                        files.push(File::new(name, &std::fs::read_to_string(&path).unwrap()));
                    }
                }
            }
        }
        let root = repository("src");
        let mut files = Vec::new();
        walk(&root, root.clone(), &mut files);
        assert!(files.len() > 400, "only {} files were found", files.len());
        Self {
            files: files.into_iter().map(|file| (file.module.clone(), file)).collect(),
        }
    }

    /// The library with one more file.
    pub(super) fn with(&self, path: &str, text: &str) -> Self {
        let mut house = self.clone();
        let file = File::new(path, text);
        house.files.insert(file.module.clone(), file);
        house
    }

    /// All files.
    pub(super) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.values()
    }

    /// What a file imports or names of the library: paths of at least one segment.
    pub(super) fn imports(&self, file: &File) -> Vec<Import> {
        let used = file.paths.used.iter().map(|used| (&used.path, used.line, true));
        let named = file.paths.named.iter().map(|(path, line)| (path, *line, false));
        used.chain(named)
            .filter_map(|(path, line, is_use)| {
                let path = self.resolve(file, path, is_use, 0)?;
                (!path.is_empty()).then_some(Import { path, line })
            })
            .collect()
    }

    /// A written path from the root; `None` where it leads out of the library or to something of the file itself.
    fn resolve(&self, file: &File, written: &[String], is_use: bool, depth: usize) -> Option<Vec<String>> {
        let (first, rest) = written.split_first()?;
        let above = |n: usize| {
            file.module
                .get(..file.module.len().checked_sub(n)?)
                .map(<[String]>::to_vec)
        };
        let mut path = match first.as_str() {
            "crate" => Vec::new(),
            "self" => file.module.clone(),
            "super" => {
                let more = rest.iter().take_while(|word| *word == "super").count();
                let mut path = above(more + 1)?;
                path.extend_from_slice(rest.get(more..)?);
                return Some(path);
            }
            word => {
                let child = [file.module.as_slice(), std::slice::from_ref(first)].concat();
                if self.files.contains_key(&child) {
                    child
                } else {
                    let mut used = file.paths.used.iter();
                    let used = used.find(|used| used.name.as_deref() == Some(word))?;
                    let is_itself = is_use && used.path.first() == Some(first);
                    if is_itself || depth > LONGEST_CHAIN {
                        return None;
                    }
                    self.resolve(file, &used.path, true, depth + 1)?
                }
            }
        };
        path.extend_from_slice(rest);
        Some(path)
    }

    /// The file in which what a path leads to is defined: re-exports are followed. `None` for a bare module.
    pub(super) fn definition(&self, path: &[String]) -> Option<&File> {
        let mut path = path.to_vec();
        for _ in 0..LONGEST_CHAIN {
            let n = (0..=path.len()).rev().find(|n| self.files.contains_key(&path[..*n]))?;
            let file = self.files.get(&path[..n])?;
            let item = path.get(n)?;
            let mut used = file.paths.used.iter();
            let again = used.find(|used| used.name.as_ref() == Some(item));
            let Some(mut next) = again.and_then(|used| self.resolve(file, &used.path, true, 0)) else {
                return Some(file);
            };
            next.extend_from_slice(&path[n + 1..]);
            path = next;
        }
        None
    }
}
