//! What only a local disk can and must do: locks that die with their owner, durable renames, no empty folders.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::folders::DurableFolders;
use super::location::Store;
use super::lock_holder::LockHolder;
use super::machinery::{LOCK, STAGING};
use crate::error::{Error, Kind, Result};
use crate::runtime::pool;

/// How often a lock that is held is tried again, and how soon.
const LOOKS: usize = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Files and folders of a disk that are synced or renamed at once: a disk writes what several wait for together.
pub(super) const DISK_REQUESTS_AT_ONCE: usize = 8;

/// A file that was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenFile<'a> {
    pub(super) path: &'a str,
    /// Its size.
    pub(super) bytes: u64,
}

impl Store {
    /// Takes the lock of an output on a local disk; `None` elsewhere.
    pub(super) fn lock_on_disk(&self) -> Result<Option<File>> {
        let Some(root) = self.local_root() else {
            return Ok(None);
        };
        let path = root.join(LOCK);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| at(e, folder))?;
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|e| at(e, &path))?;
        // Whoever looks whether it is held holds it for that moment.
        for _ in 0..LOOKS {
            match file.try_lock() {
                Ok(()) => return named(file).map(Some).map_err(|e| at(e, &path)),
                Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_LOOKS),
                Err(TryLockError::Error(e)) => return Err(at(e, &path)),
            }
        }
        // Fallback: a lock that cannot be read names nobody.
        let holder = LockHolder::parse(&std::fs::read(&path).unwrap_or_default());
        Err(Error::new(Kind::Busy, "another run or publication holds the output")
            .at("lock", path.display())
            .at("held by", holder.words()))
    }

    /// Whether somebody holds the lock of an output: on a local disk for certain, elsewhere as far as a lock is there that
    /// its owner may have left behind.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be looked at.
    pub fn is_locked(&self) -> Result<bool> {
        if self.is_past() {
            return Ok(false);
        }
        let Some(root) = self.local_root() else {
            return self.exists(LOCK);
        };
        let path = root.join(LOCK);
        match File::open(&path) {
            Ok(file) => match file.try_lock_shared() {
                Ok(()) => Ok(false),
                Err(TryLockError::WouldBlock) => Ok(true),
                Err(TryLockError::Error(e)) => Err(at(e, &path)),
            },
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(at(e, &path)),
        }
    }

    /// Makes a folder that only its owner looks into.
    pub(super) fn make_private_folder(&self, folder: &str) -> Result<()> {
        let Some(root) = self.local_root() else { return Ok(()) };
        let path = root.join(folder);
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map_err(|e| at(e, &path))
    }

    /// Leaves a file to its owner.
    pub(super) fn make_private(&self, path: &str) -> Result<()> {
        let Some(root) = self.local_root() else { return Ok(()) };
        let path = root.join(path);
        #[cfg(unix)]
        {
            let owner = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
            std::fs::set_permissions(&path, owner).map_err(|e| at(e, &path))?;
        }
        Ok(())
    }

    /// Makes the contents of files durable, and looks that they are whole: a network disk may report only when a file is
    /// closed that there was no room for all of it, and nobody hears of that. Nothing to do on object stores: there a
    /// successful write is durable.
    pub(super) fn sync_files<'a>(&self, files: impl Iterator<Item = WrittenFile<'a>>) -> Result<()> {
        let Some(root) = self.local_root() else {
            return Ok(());
        };
        let files: Vec<WrittenFile<'_>> = files.collect();
        pool::until_error(&files, DISK_REQUESTS_AT_ONCE, |file| {
            let path = root.join(file.path);
            let settled = self.disk().map_or(Ok(()), |disk| disk.settle(&path));
            let found = settled.and_then(|()| File::open(&path)).and_then(|f| {
                f.sync_all()?;
                Ok(f.metadata()?.len())
            });
            let found = found.map_err(|e| at(e, &path))?;
            if found != file.bytes {
                let message = format!(
                    "a file has {found} bytes, and {} were written: the disk may be full or over its quota, or somebody changed it",
                    file.bytes
                );
                return Err(Error::io(message).at("path", path.display()));
            }
            Ok(())
        })
    }

    /// Makes names durable: syncs every folder between the root and these paths. A folder that is gone was synced by
    /// the sync of the nearest one that is left.
    pub(super) fn sync_folders<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Result<()> {
        self.sync_new_folders(paths, &DurableFolders::default())
    }

    /// As [`Self::sync_folders`], of new names: folders above those whose own names are durable are left out.
    pub(super) fn sync_new_folders<'a>(
        &self,
        paths: impl Iterator<Item = &'a str>,
        durable: &DurableFolders,
    ) -> Result<()> {
        let Some(root) = self.local_root().filter(|_| cfg!(unix)) else {
            return Ok(());
        };
        let folders: Vec<PathBuf> = durable
            .to_sync(paths)
            .into_iter()
            .map(|folder| root.join(folder))
            .collect();
        pool::until_error(&folders, DISK_REQUESTS_AT_ONCE, |folder| {
            match File::open(folder).and_then(|f| f.sync_all()) {
                Err(e) if e.kind() != ErrorKind::NotFound => Err(at(e, folder)),
                _ => Ok(()),
            }
        })
    }

    /// Removes the folders above `path` that have become empty, up to the root.
    pub(super) fn prune(&self, path: &str) {
        let Some(root) = self.local_root() else { return };
        let mut rest = path;
        while let Some((folder, _)) = rest.rsplit_once('/') {
            // A folder that is not there may still have an empty parent; one that cannot be removed is in use.
            match std::fs::remove_dir(root.join(folder)) {
                Err(e) if e.kind() != ErrorKind::NotFound => return,
                _ => rest = folder,
            }
        }
    }

    /// Removes a folder when there is nothing in it.
    pub(super) fn remove_empty_folder(&self, folder: &str) {
        if let Some(root) = self.local_root() {
            // Fails when somebody else is writing: then it is theirs to remove.
            drop(std::fs::remove_dir(root.join(folder)));
        }
    }

    /// The names right below a folder, those of folders as well; none where there is no folder.
    pub(super) fn names(&self, folder: &str) -> Result<BTreeSet<String>> {
        let Some(root) = self.local_root().filter(|_| !self.is_past()) else {
            let below = self.list(folder)?.into_iter();
            let first = |path: &str| path.get(folder.len() + 1..)?.split('/').next().map(str::to_owned);
            return Ok(below.filter_map(|entry| first(&entry.path)).collect());
        };
        let path = root.join(folder);
        let entries = match std::fs::read_dir(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            entries => entries.map_err(|e| at(e, &path))?,
        };
        let names = entries.map(|entry| {
            Ok(entry
                .map_err(|e| at(e, &path))?
                .file_name()
                .to_string_lossy()
                .into_owned())
        });
        names.collect()
    }

    /// Gives the bytes of a file a second name: as a hard link on a local disk that has them, else as a copy. Where the
    /// second name is there with as many bytes, it has them already, and both are made names of the one file.
    pub(super) fn link(&self, from: &str, to: &str, bytes: u64) -> Result<()> {
        let Some(root) = self.local_root() else {
            return self.copy_of(from, to, bytes);
        };
        let (source, target) = (root.join(from), root.join(to));
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder).map_err(|e| at(e, folder))?;
        }
        match std::fs::hard_link(&source, &target) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == ErrorKind::AlreadyExists && self.is_same_file(from, to)? => Ok(()),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                let is_whole = std::fs::metadata(&target).map_err(|e| at(e, &target))?.len() == bytes;
                let (stays, goes) = if is_whole { (target, source) } else { (source, target) };
                std::fs::remove_file(&goes).map_err(|e| at(e, &goes))?;
                std::fs::hard_link(&stays, &goes).map_err(|e| at(e, &goes))
            }
            // Not every file system has links, nor so many of one file.
            Err(_) => self.copy_of(from, to, bytes),
        }
    }

    /// Whether two paths are names of one file. Not known, and so `false`, elsewhere than on a local disk.
    pub(super) fn is_same_file(&self, a: &str, b: &str) -> Result<bool> {
        let Some(root) = self.local_root() else {
            return Ok(false);
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let of = |path: &str| {
                let path = root.join(path);
                match std::fs::metadata(&path) {
                    Ok(found) => Ok(Some((found.dev(), found.ino()))),
                    Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
                    Err(e) => Err(at(e, &path)),
                }
            };
            let (a, b) = (of(a)?, of(b)?);
            Ok(a.is_some() && a == b)
        }
        #[cfg(not(unix))]
        {
            let _unknown = (root, a, b);
            Ok(false)
        }
    }

    /// Removes an object and all below it, on a local disk part files of interrupted uploads included.
    pub(super) fn remove_all(&self, path: &str) -> Result<()> {
        let Some(root) = self.local_root() else {
            let below = self.list(path)?;
            return self.delete_all(below.iter().map(|entry| entry.path.as_str()).chain([path]));
        };
        let place = root.join(path);
        let removed = if place.is_dir() {
            std::fs::remove_dir_all(&place)
        } else {
            std::fs::remove_file(&place)
        };
        match removed {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(at(e, &place)),
            _ => Ok(()),
        }
    }

    /// Removes the staging folder with everything in it, part files of interrupted uploads included.
    pub(super) fn remove_staging_folder(&self) -> Result<()> {
        let Some(root) = self.local_root() else {
            return Ok(());
        };
        let path = root.join(STAGING);
        match std::fs::remove_dir_all(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(at(e, &path)),
            _ => Ok(()),
        }
    }
}

/// Writes who holds a lock into it. The system releases the lock when its holder is gone, whatever is written there.
fn named(mut lock: File) -> std::io::Result<File> {
    let holder = serde_json::to_vec(&LockHolder::own())?;
    lock.set_len(0)?;
    lock.write_all(&holder)?;
    Ok(lock)
}

pub(super) fn at(source: std::io::Error, path: &Path) -> Error {
    Error::from(source).at("path", path.display())
}
