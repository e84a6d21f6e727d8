//! Files of a local folder, written and renamed by the thread that has them: to hand each to a thread of the runtime, as the object
//! store crate does, costs as much as to write a small one, and a large one has left the caches of the processor meanwhile.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::machinery::part_file;
use crate::numbers::Extent;
use crate::runtime::interruption::{Aborting, Writing, abort_with};

/// What was written of a file is made durable as often as there are so many bytes of it: the commit, which makes all of it durable,
/// has the less to wait for.
const SYNCED_BYTES: u64 = 8 << 20;

/// So many bytes at the end of a file are worth a thread that makes them durable before the commit does.
const SYNCED_AT_END_BYTES: u64 = 1 << 20;

/// How often a folder is made again that is gone before there is a file in it.
const MAKINGS: usize = 100;

/// A local folder.
#[derive(Debug)]
pub(super) struct Disk {
    root: PathBuf,
    /// Has threads that wait for the disk.
    runtime: Handle,
    unsettled: Unsettled,
}

/// A thread that makes a file durable.
type Syncing = JoinHandle<io::Result<()>>;

/// Files that are finished, and made durable meanwhile. The system reports an error of the disk once: who drops these does not know of
/// it.
type Unsettled = Arc<Mutex<BTreeMap<PathBuf, Vec<Syncing>>>>;

impl Disk {
    /// The folder `root`.
    pub(super) fn new(root: &Path, runtime: &Handle) -> Self {
        Self {
            root: root.to_path_buf(),
            runtime: runtime.clone(),
            unsettled: Arc::default(),
        }
    }

    /// Waits until a file that is finished is durable as far as that was begun.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn settle(&self, path: &Path) -> io::Result<()> {
        let syncing = unsettled(&self.unsettled).remove(path);
        for synced in syncing.into_iter().flatten() {
            self.runtime.block_on(synced)??;
        }
        Ok(())
    }

    /// Writes a file that nobody looks for before it is written. One that a killed process left there is taken away first, and not
    /// written into: it may have another name as well. What cannot be written whole is taken away, too.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn put(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.root.join(path);
        let mut file = created(&path)?;
        let written = file.write_all(bytes);
        if written.is_err() {
            // What cannot be removed now is removed by the next run.
            let _ = std::fs::remove_file(&path);
        }
        written
    }

    /// Begins a file that is written in parts. It has its name once it is finished.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn begin(&self, path: &str, writing: &Writing) -> io::Result<DiskFile> {
        let target = self.root.join(path);
        let place = self.root.join(part_file(path));
        let file = created(&place)?;
        // Of a file that was thrown away.
        unsettled(&self.unsettled).remove(&target);
        let unfinished = place.clone();
        let aborting = abort_with(writing, move || {
            // What cannot be removed now is removed by the next run.
            let _ = std::fs::remove_file(&unfinished);
        });
        Ok(DiskFile {
            file,
            place,
            target,
            unsynced: 0,
            syncing: None,
            runtime: self.runtime.clone(),
            unsettled: Arc::clone(&self.unsettled),
            is_finished: false,
            _aborting: aborting,
        })
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

/// A file that is written in parts. Dropped before it is finished, it is taken away.
pub(super) struct DiskFile {
    file: File,
    /// Where it is before it is finished.
    place: PathBuf,
    target: PathBuf,
    /// Bytes since it was made durable.
    unsynced: u64,
    /// Makes it durable meanwhile.
    syncing: Option<Syncing>,
    runtime: Handle,
    /// Takes over what is not durable when it is finished.
    unsettled: Unsettled,
    is_finished: bool,
    _aborting: Aborting,
}

impl DiskFile {
    /// Writes the next part.
    ///
    /// # Errors
    /// Those of the disk, also of parts before it.
    pub(super) fn append(&mut self, part: &[u8]) -> io::Result<()> {
        self.file.write_all(part)?;
        self.unsynced = self.unsynced.further(part.len() as u64);
        if self.unsynced >= SYNCED_BYTES {
            if let Some(syncing) = self.syncing.take() {
                self.runtime.block_on(syncing)??;
            }
            self.syncing = Some(self.sync()?);
        }
        Ok(())
    }

    /// Begins to make durable what was written so far.
    fn sync(&mut self) -> io::Result<Syncing> {
        self.unsynced = 0;
        let file = self.file.try_clone()?;
        Ok(self.runtime.spawn_blocking(move || file.sync_data()))
    }

    /// Ends it: it has its name then. Whether it is durable is known once it is settled.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let mut syncing = Vec::from_iter(self.syncing.take());
        if self.unsynced >= SYNCED_AT_END_BYTES {
            syncing.push(self.sync()?);
        }
        if !syncing.is_empty() {
            unsettled(&self.unsettled).insert(self.target.clone(), syncing);
        }
        std::fs::rename(&self.place, &self.target)?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for DiskFile {
    fn drop(&mut self) {
        if !self.is_finished {
            // What cannot be removed now is removed by the next run.
            let _ = std::fs::remove_file(&self.place);
        }
    }
}

fn unsettled(files: &Unsettled) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<Syncing>>> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new file. One that a killed process left there is taken away first.
fn created(path: &Path) -> io::Result<File> {
    made(path, || match File::create_new(path) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
            std::fs::remove_file(path)?;
            File::create_new(path)
        }
        created => created,
    })
}

/// Makes a file in a folder, which is made if need be: as often as another writer takes it away because it is empty.
fn made<T>(path: &Path, make: impl Fn() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..MAKINGS {
        match make() {
            Err(e) if e.kind() == ErrorKind::NotFound => match path.parent().map_or(Ok(()), std::fs::create_dir_all) {
                // One above it was taken away meanwhile, or itself when it was there already.
                Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {}
                folder => folder?,
            },
            done => return done,
        }
    }
    make()
}
