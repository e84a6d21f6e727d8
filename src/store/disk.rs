//! Whole files of a local folder, written and renamed by the thread that has them: to hand each to a thread of the runtime, as the
//! object store crate does, costs as much as to write a small one.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// How often a folder is made again that is gone before there is a file in it.
const MAKINGS: usize = 100;

/// A local folder.
#[derive(Debug)]
pub(super) struct Disk {
    root: PathBuf,
}

impl Disk {
    /// The folder `root`.
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
        }
    }

    /// Writes a file that nobody looks for before it is written. One that a killed process left there is taken away first, and not
    /// written into: it may have another name as well. What cannot be written whole is taken away, too.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn put(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.root.join(path);
        let mut file = made(&path, || match File::create_new(&path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                std::fs::remove_file(&path)?;
                File::create_new(&path)
            }
            created => created,
        })?;
        let written = file.write_all(bytes);
        if written.is_err() {
            // What cannot be removed now is removed by the next run.
            let _ = std::fs::remove_file(&path);
        }
        written
    }

    /// Renames a file over another. `false` when there is none.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<bool> {
        let (from, to) = (self.root.join(from), self.root.join(to));
        made(&to, || match std::fs::rename(&from, &to) {
            Err(e) if e.kind() == ErrorKind::NotFound && !from.exists() => Ok(false),
            renamed => renamed.map(|()| true),
        })
    }
}

/// Makes a file in a folder, which is made if need be: as often as another writer takes it away because it is empty.
fn made<T>(path: &Path, make: impl Fn() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..MAKINGS {
        match make() {
            Err(e) if e.kind() == ErrorKind::NotFound => match path.parent().map_or(Ok(()), std::fs::create_dir_all) {
                // One above it was taken away meanwhile.
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                folder => folder?,
            },
            done => return done,
        }
    }
    make()
}
