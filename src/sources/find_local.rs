//! Finding input files on the local disk.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::arrival::is_hex;
use super::input::{InputFile, Location, is_skipped, relative};
use super::pattern::matching;
use crate::error::{Error, Kind, Result};

/// What `pattern`, absolute, means below `base`.
pub(super) fn find(pattern: &str, base: &Path) -> Result<Vec<InputFile>> {
    let mut walk = Walk {
        base,
        seen: BTreeSet::new(),
        found: Vec::new(),
    };
    let literal = match pattern.strip_prefix("file://") {
        Some(_) => url::Url::parse(pattern)
            .ok()
            .and_then(|url| url.to_file_path().ok())
            .ok_or_else(|| Error::new(Kind::NoInput, format!("{pattern} names no local file")))?,
        None => PathBuf::from(pattern),
    };
    match fs::metadata(&literal) {
        Ok(meta) if meta.is_dir() => walk.folder(&literal)?,
        Ok(meta) => walk.file(literal, meta.len()),
        Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            walk.glob(pattern)?;
        }
        Err(why) => return Err(unreadable(&literal, why)),
    }
    Ok(walk.found)
}

struct Walk<'a> {
    base: &'a Path,
    /// Folders already read, by their real path: links must not lead round in circles.
    seen: BTreeSet<PathBuf>,
    found: Vec<InputFile>,
}

impl Walk<'_> {
    fn file(&mut self, file: PathBuf, bytes: u64) {
        self.found.push(InputFile {
            path: relative(&file, self.base),
            location: Location::Local(file),
            bytes,
        });
    }

    fn glob(&mut self, pattern: &str) -> Result<()> {
        // The pipeline's own folder is no pattern, whatever characters its name has.
        let prefix = self.base.to_str().unwrap_or_default();
        let (from, rest) = match pattern.strip_prefix(prefix) {
            Some(rest) if rest.starts_with('/') => (self.base, rest),
            _ => (Path::new("/"), pattern),
        };
        for path in matching(from, rest)? {
            self.entry(path)?;
        }
        Ok(())
    }

    /// A name that was found, not given.
    fn entry(&mut self, path: PathBuf) -> Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_skipped(&name) {
            return Ok(());
        }
        match fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => self.folder(&path),
            Ok(meta) if meta.is_file() => {
                self.file(path, meta.len());
                Ok(())
            }
            Ok(_) => Ok(()),
            // A message that was taken away, or a link to nothing.
            Err(why) if why.kind() == ErrorKind::NotFound => Ok(()),
            Err(why) => Err(unreadable(&path, why)),
        }
    }

    fn folder(&mut self, folder: &Path) -> Result<()> {
        let real = fs::canonicalize(folder).map_err(|why| unreadable(folder, why))?;
        if !self.seen.insert(real) {
            return Ok(());
        }
        let mut names: Vec<OsString> = fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect())
            .map_err(|why| unreadable(folder, why))?;
        names.sort();
        let is_message = folder
            .file_name()
            .is_some_and(|name| is_hex(&name.to_string_lossy(), 14));
        if is_message && names.iter().any(|name| name == "body") {
            names.retain(|name| name == "body");
        }
        // A spool keeps what is not yet, or no longer, a message in two folders beside the numbered ones.
        if names.iter().any(|name| is_hex(&name.to_string_lossy(), 8)) {
            names.retain(|name| name != "temporary" && name != "obsolete");
        }
        for name in names {
            self.entry(folder.join(name))?;
        }
        Ok(())
    }
}

pub(super) fn unreadable(path: &Path, why: std::io::Error) -> Error {
    Error::io(format!("{} cannot be read", path.display())).because(why)
}
