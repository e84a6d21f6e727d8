//! The files a source consists of: found, opened, hashed.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use object_store::ObjectStore;

use super::file_stamp::{FileStamp, OpenedFile};
use super::location::{SearchPaths, is_url};
use super::{find_local, find_remote, remote};
use crate::error::{Error, Kind, Result};
use crate::numbers::{Extent, Part};

pub use super::arrival::arrival_ms;
pub use super::compression::{Compression, decompress};

/// The reason for refusing a pipe, a socket or a device.
pub(super) const NO_FILE: &str =
    "is not a regular file: a pipe, socket or device may not end, and cannot be read twice";

/// Where the bytes of an input are.
#[derive(Clone, Debug)]
pub enum Location {
    /// In a file.
    Local(PathBuf),
    /// In an object store.
    Remote {
        /// The store.
        store: Arc<dyn ObjectStore>,
        /// The object's path in it.
        path: object_store::path::Path,
    },
}

/// One input file.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// The path people and the ledger see: relative to the folder of the pipeline file when it is local, the URL
    /// otherwise; always with `/`.
    pub path: String,
    /// Where its bytes are.
    pub location: Location,
    /// Its size as stored, bytes.
    pub bytes: u64,
    /// What was stated of it when it was found; `None` where that does not show whether its content changed.
    pub stamp: Option<FileStamp>,
}

/// The hash of a file's bytes.
pub(crate) struct HashedContent {
    /// BLAKE3, hexadecimal.
    pub(crate) blake3: String,
    /// As in [`OpenedFile`].
    pub(crate) stamp: Option<FileStamp>,
}

/// The files of a source, sorted by path, each once. `base` is the folder of the pipeline file.
///
/// A path is taken literally if something has that name, else as a glob (`*`, `?`, `[..]`, `**`). Folders are read
/// to all depths. In folders and globs, hidden files, names that end in `.lck` or `.tmp` and what is not a file (such as a pipe)
/// are left out, and of a spooled message (a folder named with 14 hexadecimal digits) only its `body` is taken. What cannot
/// be read, such as a folder without permission, is taken as a file that cannot be opened.
///
/// # Errors
/// [`Kind::NoInput`] naming every pattern that gives no file, or a path that is not a file.
pub fn discover(search: SearchPaths<'_>, base: &Path) -> Result<Vec<InputFile>> {
    let mut files: Vec<InputFile> = Vec::new();
    let mut missing = Vec::new();
    for (nth, pattern) in search.paths.iter().enumerate() {
        let place = search.written.of_path(nth);
        let found = find(pattern, base).map_err(|why| {
            if place.is_empty() {
                why
            } else {
                why.at("named in", place.trim_end_matches(": "))
            }
        })?;
        if found.is_empty() {
            missing.push(format!(
                "{place}source {}: {} matches no file",
                search.source,
                shown(pattern, base)
            ));
        }
        files.extend(found);
    }
    if !missing.is_empty() {
        return Err(Error::new(Kind::NoInput, missing.join("\n")));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    Ok(files)
}

/// The files of one path, in the order they are met; see [`discover`]. A local path must be absolute.
pub(crate) fn find(pattern: &str, base: &Path) -> Result<Vec<InputFile>> {
    if is_url(pattern) && !pattern.starts_with("file://") {
        find_remote::find(pattern)
    } else {
        find_local::find(pattern, base)
    }
}

/// The files of a local folder, as [`discover`] finds them, and an error for each part of it that could not be looked into.
pub(crate) fn below(folder: &Path, base: &Path) -> (Vec<InputFile>, Vec<Error>) {
    find_local::below(folder, base)
}

impl InputFile {
    /// A local file, to be shown as `path`. What this process was given open (`/dev/stdin`, `/dev/fd/63`) may be a pipe.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when there is no such file.
    pub fn local(file: &Path, path: String) -> Result<Self> {
        let gone = |why: std::io::Error| Error::new(Kind::NoInput, format!("{path} cannot be read")).because(why);
        let meta = std::fs::metadata(file).map_err(gone)?;
        if meta.is_dir() {
            return Err(Error::new(Kind::NoInput, format!("{path} is a folder")));
        }
        let is_open = ["/dev/stdin", "/dev/fd", "/proc/self/fd"]
            .iter()
            .any(|open| file.starts_with(open));
        if !meta.is_file() && !is_open {
            return Err(Error::new(Kind::NoInput, format!("{path} {NO_FILE}")));
        }
        Ok(Self {
            path,
            location: Location::Local(file.to_owned()),
            bytes: meta.len(),
            stamp: FileStamp::of_file(&meta),
        })
    }

    /// Its raw bytes, compressed if they are.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when it is gone, [`Kind::Io`] when it cannot be opened.
    pub fn open(&self) -> Result<Box<dyn Read + Send>> {
        self.open_stamped().map(|opened| opened.bytes)
    }

    /// As [`Self::open`], with the stamp of what was opened, whatever has its name by then.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn open_stamped(&self) -> Result<OpenedFile> {
        match &self.location {
            Location::Local(file) => {
                let opened = File::open(file).map_err(|why| {
                    let kind = match why.kind() {
                        std::io::ErrorKind::NotFound => Kind::NoInput,
                        _ => Kind::Io,
                    };
                    Error::new(kind, format!("{} cannot be opened", self.path)).because(why)
                })?;
                // Fallback: without a stamp the file is hashed again when it is met again.
                let stamp = opened.metadata().ok().as_ref().and_then(FileStamp::of_file);
                Ok(OpenedFile {
                    bytes: Box::new(opened),
                    stamp: stamp.filter(FileStamp::is_settled),
                })
            }
            Location::Remote { store, path } => {
                let opened = remote::open(store, path, self.bytes).map_err(|why| why.at("input", &self.path))?;
                let is_tagged = self.stamp.is_some();
                Ok(OpenedFile {
                    stamp: opened.stamp.filter(|_| is_tagged),
                    ..opened
                })
            }
        }
    }

    /// Whether it was written over since it was found. Objects of stores have versions instead.
    #[must_use]
    pub fn is_overwritten(&self) -> bool {
        let (Location::Local(file), Some(found)) = (&self.location, &self.stamp) else {
            return false;
        };
        // Fallback: a file that is gone by now was not written over.
        let now = std::fs::metadata(file).ok().as_ref().and_then(FileStamp::of_file);
        now.is_some_and(|now| found.is_overwritten(&now))
    }

    /// Whether opening it failed because of the file itself: it has no read permission, it is a link to nothing or to itself, or it is
    /// gone. What the machine lacks, and what object stores answer, is another matter.
    #[must_use]
    pub fn is_shut(why: &Error) -> bool {
        use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
        /// Too many links; the standard library has no stable name for it.
        const ELOOP: i32 = 40;
        let io = std::error::Error::source(why).and_then(|source| source.downcast_ref::<std::io::Error>());
        io.is_some_and(|io| {
            matches!(io.kind(), IsADirectory | NotADirectory | NotFound | PermissionDenied)
                || io.raw_os_error() == Some(ELOOP)
        })
    }

    /// A hash of its first bytes: files that differ here are not the same.
    ///
    /// # Errors
    /// As [`Self::content_hash`].
    pub fn glimpse(&self) -> Result<u64> {
        const GLIMPSE_BYTES: u16 = 4 << 10;
        let mut first = Vec::with_capacity(GLIMPSE_BYTES.into());
        let read = self.open()?.take(GLIMPSE_BYTES.into()).read_to_end(&mut first);
        read.map_err(|why| Error::io(format!("{} cannot be read", self.path)).because(why))?;
        Ok(xxhash_rust::xxh3::xxh3_64(&first))
    }

    /// BLAKE3 of its raw bytes, in hexadecimal: two files with the same hash are the same file.
    ///
    /// # Errors
    /// As [`Self::open`], and [`Kind::Io`] when reading fails.
    pub fn content_hash(&self) -> Result<String> {
        self.hash_content().map(|hashed| hashed.blake3)
    }

    /// As [`Self::content_hash`], with the stamp of the bytes that were hashed.
    ///
    /// # Errors
    /// As [`Self::content_hash`].
    pub(crate) fn hash_content(&self) -> Result<HashedContent> {
        /// Read at once of a large file; of a small one all of it, and its end.
        const BUFFER_BYTES: usize = 1 << 20;
        let OpenedFile {
            bytes: mut input,
            stamp,
        } = self.open_stamped()?;
        let mut hasher = blake3::Hasher::new();
        let whole = usize::try_from(self.bytes).map_or(BUFFER_BYTES, |bytes| bytes.further(1));
        let mut buffer = vec![0; whole.min(BUFFER_BYTES)];
        loop {
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => {
                    hasher.update(buffer.part(..n));
                }
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
                Err(why) => return Err(Error::io(format!("{} cannot be read", self.path)).because(why)),
            }
        }
        Ok(HashedContent {
            blake3: hasher.finalize().to_hex().to_string(),
            stamp,
        })
    }
}

/// A local path as the ledger shows it: relative to `base`, with `/`. A URL stays.
pub(super) fn shown(path: &str, base: &Path) -> String {
    if is_url(path) {
        path.to_owned()
    } else {
        relative(Path::new(path), base)
    }
}

/// `path` relative to `base`, both absolute, judged by their text alone.
pub(crate) fn relative(path: &Path, base: &Path) -> String {
    let (path, base) = (clean(path), clean(base));
    let same = path
        .components()
        .zip(base.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = base.components().skip(same).map(|_| "..".to_owned());
    let down = path.components().skip(same).map(|part| legible(part.as_os_str()));
    let text = up.chain(down).collect::<Vec<_>>().join("/");
    if text.is_empty() { ".".to_owned() } else { text }
}

/// A name as text. Bytes that are not text are escaped one by one: names that differ must not become the same file.
pub(crate) fn legible(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Takes `.` and `..` out of a path.
pub(crate) fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    out.push(part);
                }
            }
            _ => out.push(part),
        }
    }
    out
}

/// Whether folders and globs leave out what has this name.
pub(crate) fn is_skipped(name: &str) -> bool {
    let unfinished = |ending: &OsStr| ending == "lck" || ending == "tmp";
    name.starts_with('.') || Path::new(name).extension().is_some_and(unfinished)
}
