//! Finding input files on the local disk.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::arrival::is_hex;
use super::file_stamp::FileStamp;
use super::input::{InputFile, Location, NO_FILE, is_skipped, relative};
use super::pattern::matching;
use crate::error::{Error, Kind, Result};

/// What `pattern`, absolute, means below `base`. What cannot be looked into is among it: it can be named, and not opened.
pub(super) fn find(pattern: &str, base: &Path) -> Result<Vec<InputFile>> {
    let mut walk = FolderWalk::new(base);
    let literal = match pattern.strip_prefix("file://") {
        Some(_) => {
            let wrong = || Error::new(Kind::NoInput, format!("{pattern} names no local file"));
            let url = url::Url::parse(pattern).map_err(|why| wrong().because(why))?;
            url.to_file_path().map_err(|()| wrong())?
        }
        None => PathBuf::from(pattern),
    };
    match fs::metadata(&literal) {
        Ok(meta) if meta.is_dir() => walk.folder(&literal),
        Ok(meta) if meta.is_file() => walk.file(literal, &meta),
        Ok(_) => {
            let message = format!("{} {NO_FILE}", literal.display());
            return Err(Error::new(Kind::NoInput, message));
        }
        Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            walk.glob(pattern)?;
        }
        Err(why) => walk.troubles.push((literal, why)),
    }
    // What cannot be looked into cannot be opened either: whoever reads it counts it.
    for (path, _) in std::mem::take(&mut walk.troubles) {
        walk.push(path, 0, None);
    }
    Ok(walk.found)
}

/// The files of a folder, and what of it could not be looked into.
pub(super) fn below(folder: &Path, base: &Path) -> (Vec<InputFile>, Vec<Error>) {
    let mut walk = FolderWalk::new(base);
    walk.folder(folder);
    let troubles = walk.troubles.into_iter().map(|(path, why)| unreadable(&path, why));
    (walk.found, troubles.collect())
}

struct FolderWalk<'a> {
    base: &'a Path,
    /// Folders already read, by their real path: links must not lead round in circles.
    seen: BTreeSet<PathBuf>,
    found: Vec<InputFile>,
    /// What could not be looked into, and why.
    troubles: Vec<(PathBuf, std::io::Error)>,
}

impl<'a> FolderWalk<'a> {
    fn new(base: &'a Path) -> Self {
        Self {
            base,
            seen: BTreeSet::new(),
            found: Vec::new(),
            troubles: Vec::new(),
        }
    }

    fn file(&mut self, file: PathBuf, meta: &Metadata) {
        self.push(file, meta.len(), FileStamp::of_file(meta));
    }

    fn push(&mut self, file: PathBuf, bytes: u64, stamp: Option<FileStamp>) {
        self.found.push(InputFile {
            path: relative(&file, self.base),
            location: Location::Local(file),
            bytes,
            stamp,
        });
    }

    fn glob(&mut self, pattern: &str) -> Result<()> {
        // The pipeline's own folder is not a pattern, whatever characters its name has.
        let below = self.base.to_str().and_then(|prefix| pattern.strip_prefix(prefix));
        let (from, rest) = match below {
            Some(rest) if rest.starts_with('/') => (self.base, rest),
            _ => (Path::new("/"), pattern),
        };
        for path in matching(from, rest)? {
            self.entry(path);
        }
        Ok(())
    }

    /// A name that was found, not given.
    fn entry(&mut self, path: PathBuf) {
        // Fallback: never taken, what is found in a folder has a name.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_skipped(&name) {
            return;
        }
        match fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => self.folder(&path),
            Ok(meta) if meta.is_file() => self.file(path, &meta),
            // A pipe or a socket cannot be read twice.
            Ok(_) => {}
            // A message that was taken away. A link to nothing stays.
            Err(_) if fs::symlink_metadata(&path).is_err_and(|why| why.kind() == ErrorKind::NotFound) => {}
            Err(why) => self.troubles.push((path, why)),
        }
    }

    fn folder(&mut self, folder: &Path) {
        let names = match fs::canonicalize(folder).map(|real| self.seen.insert(real)) {
            Ok(true) => names(folder),
            Ok(false) => return,
            Err(why) => Err(why),
        };
        match names {
            Ok(names) => names.into_iter().for_each(|name| self.entry(folder.join(name))),
            Err(why) => self.troubles.push((folder.to_owned(), why)),
        }
    }
}

/// What of a folder is looked at, sorted.
fn names(folder: &Path) -> std::io::Result<Vec<OsString>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
    let mut names = entries.collect::<std::io::Result<Vec<OsString>>>()?;
    names.sort();
    let is_message = folder
        .file_name()
        .is_some_and(|name| is_hex(&name.to_string_lossy(), 14));
    if is_message && names.iter().any(|name| name == "body") {
        names.retain(|name| name == "body");
    }
    // A spool keeps what is not yet, or no longer, a message in two folders next to the numbered ones.
    if names.iter().any(|name| is_hex(&name.to_string_lossy(), 8)) {
        names.retain(|name| name != "temporary" && name != "obsolete");
    }
    Ok(names)
}

fn unreadable(path: &Path, why: std::io::Error) -> Error {
    Error::io(format!("{} cannot be read", path.display())).because(why)
}
