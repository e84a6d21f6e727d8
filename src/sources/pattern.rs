//! Local paths that match a pattern: `*`, `?` and `[..]` within a name, `**` for folders to all depths.
//!
//! The library's own walk cannot see names that are no UTF-8 (some make it panic), and follows links round in circles.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

use super::input::legible;
use crate::error::{Error, Result};

/// A name that begins with a dot is only matched by one.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// The paths below `from` that match, sorted, and those that cannot be looked into. What is not there matches nothing.
///
/// # Errors
/// [`crate::error::Kind::Config`] for a text that is not a pattern.
pub(super) fn matching(from: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let wrong = |why| Error::config(format!("\"{pattern}\" is not a pattern")).because(why);
    Pattern::new(pattern).map_err(wrong)?;
    let names = pattern.split('/').filter(|name| !name.is_empty());
    let parts = names.map(|name| {
        Ok(match name {
            "**" => GlobPart::Folders,
            name if name.contains(['*', '?', '[']) => GlobPart::Pattern(Pattern::new(name).map_err(wrong)?),
            name => GlobPart::Name(name.to_owned()),
        })
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let mut search = GlobSearch::default();
    search.go(from.to_owned(), &parts);
    Ok(search.found.into_iter().collect())
}

/// One name of a pattern.
enum GlobPart {
    Name(String),
    Pattern(Pattern),
    /// `**`: none, one or more folders.
    Folders,
}

#[derive(Default)]
struct GlobSearch {
    found: BTreeSet<PathBuf>,
    /// Folders `**` was in, by their real path and how many names were still to match.
    seen: BTreeSet<(PathBuf, usize)>,
}

impl GlobSearch {
    fn go(&mut self, at: PathBuf, parts: &[GlobPart]) {
        let Some((part, rest)) = parts.split_first() else {
            self.found.insert(at);
            return;
        };
        match part {
            GlobPart::Name(name) => self.go(at.join(name), rest),
            GlobPart::Pattern(pattern) => {
                for name in self.names(&at) {
                    let path = at.join(&name);
                    if pattern.matches_with(&legible(&name), OPTIONS) && (rest.is_empty() || self.is_folder(&path)) {
                        self.go(path, rest);
                    }
                }
            }
            GlobPart::Folders => {
                let real = fs::canonicalize(&at).unwrap_or_else(|_| at.clone());
                if !self.seen.insert((real, parts.len())) {
                    return;
                }
                for name in self.names(&at) {
                    let path = at.join(&name);
                    if !legible(&name).starts_with('.') && self.is_folder(&path) {
                        self.go(path, parts);
                    }
                }
                self.go(at, rest);
            }
        }
    }

    /// The names in a folder, sorted; none in anything else. A folder that cannot be read is itself returned: what is in
    /// it may match.
    fn names(&mut self, folder: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
        match entries {
            Ok(names) => {
                let mut names: Vec<OsString> = names;
                names.sort();
                return names;
            }
            Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(_) => drop(self.found.insert(folder.to_owned())),
        }
        Vec::new()
    }

    fn is_folder(&mut self, path: &Path) -> bool {
        match fs::metadata(path) {
            Ok(meta) => return meta.is_dir(),
            Err(why) if why.kind() == ErrorKind::NotFound => {}
            Err(_) => drop(self.found.insert(path.to_owned())),
        }
        false
    }
}
