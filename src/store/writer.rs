//! Writing one object with bounded memory (but to a web server, which takes it whole), counting and hashing on the way.

use std::io::{self, Write};

use bytes::Bytes;
use object_store::path::Path;

use super::disk::DiskFile;
use super::local::WrittenFile;
use super::location::Store;
use super::machinery::STAGING;
use super::parts_upload::PartsUpload;
use crate::error::{Error, Result};
use crate::numbers::{Extent, Part, count_u64};
use crate::runtime::interruption::writing;

/// Size of the parts of an upload. At most two of them are in memory: the one that fills and the one that leaves.
/// (Object stores take 10 000 parts, so an object has at most 78 GiB.)
const PART_BYTES: usize = 8 << 20;

/// Size of the parts on a disk, where they cost no round trip: so small that a part is still in the caches of the processor when it is
/// written, and that many files may be written at the same time.
const DISK_PART_BYTES: usize = 512 << 10;

/// Bytes hashed at once: so many that the widest instructions are busy, and a multiple of what the hash is made of.
const HASHED_BYTES: usize = 128 << 10;

/// A part of so many bytes gets room for all of it: what grows by doubling is copied, and its memory touched, twice.
const GROWING_BYTES: usize = 512 << 10;

/// Where the parts of an object go that has more than one.
enum Begun {
    Disk(DiskFile),
    Upload(PartsUpload),
}

/// What has been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenObject {
    /// Size in bytes.
    pub bytes: u64,
    /// BLAKE3 of the contents, hexadecimal.
    pub blake3: String,
}

/// Writes one object. Nothing is seen before [`ObjectWriter::finish`]; dropped before that, it leaves nothing behind.
pub struct ObjectWriter {
    store: Store,
    target: Path,
    /// Where the bytes go first, when they are renamed into place afterwards.
    detour: Option<Path>,
    part: Vec<u8>,
    /// `None` before the first part is full.
    begun: Option<Begun>,
    hasher: blake3::Hasher,
    /// Bytes of the part that are hashed.
    hashed: usize,
    bytes: u64,
}

impl ObjectWriter {
    pub(super) fn new(store: Store, target: Path, detour: Option<Path>) -> Self {
        Self {
            store,
            target,
            detour,
            part: Vec::new(),
            begun: None,
            hasher: blake3::Hasher::new(),
            hashed: 0,
            bytes: 0,
        }
    }

    /// Ends the object and puts it in its place. On a local disk it is durable then, unless it is a staged object:
    /// those are made durable together, when they are committed.
    pub fn finish(mut self) -> Result<WrittenObject> {
        let _writing = writing();
        self.complete().map_err(|e| e.at("path", &self.target))?;
        self.settle()?;
        Ok(WrittenObject {
            bytes: self.bytes,
            blake3: self.hasher.finalize().to_hex().to_string(),
        })
    }

    /// Writes all of the object at once.
    pub(super) fn put(mut self, bytes: Bytes) -> Result<()> {
        let _writing = writing();
        self.bytes = count_u64(bytes.len());
        self.store
            .put_at(self.landing(), bytes)
            .map_err(|e| e.at("path", &self.target))?;
        self.settle()
    }

    /// Renames what took a detour into its place, durably.
    fn settle(&mut self) -> Result<()> {
        let Some(detour) = self.detour.take() else {
            return Ok(());
        };
        let store = &self.store;
        store.sync_files(std::iter::once(WrittenFile {
            path: detour.as_ref(),
            bytes: self.bytes,
        }))?;
        if !store.rename(detour.as_ref(), self.target.as_ref())? {
            return Err(Error::io("what was written is gone before it got its name").at("path", &self.target));
        }
        store.sync_folders(std::iter::once(self.target.as_ref()))?;
        store.remove_empty_folder(STAGING);
        Ok(())
    }

    /// Hashes what the part has got, all of it or as many bytes as are hashed at once.
    fn hash(&mut self, is_last: bool) {
        let new = self.part.len() - self.hashed;
        let now = if is_last { new } else { new - new % HASHED_BYTES };
        let until = self.hashed + now;
        self.hasher.update(self.part.part(self.hashed..until));
        self.hashed = until;
    }

    fn complete(&mut self) -> Result<()> {
        self.hash(true);
        let last = std::mem::take(&mut self.part);
        match self.begun.take() {
            None => self.store.put_at(self.landing(), last.into()),
            Some(Begun::Disk(mut file)) => {
                file.append(&last)?;
                Ok(file.finish()?)
            }
            Some(Begun::Upload(mut upload)) => {
                if !last.is_empty() {
                    upload.send(last.into())?;
                }
                Ok(upload.finish()?)
            }
        }
    }

    /// Size of its parts.
    fn part_bytes(&self) -> usize {
        match self.store.disk() {
            Some(_) => DISK_PART_BYTES,
            None => PART_BYTES,
        }
    }

    fn landing(&self) -> &Path {
        self.detour.as_ref().unwrap_or(&self.target)
    }

    /// Writes the part that is full.
    fn send(&mut self) -> Result<()> {
        self.hash(true);
        self.hashed = 0;
        let begun = match self.begun.take() {
            Some(begun) => begun,
            None => self.begin()?,
        };
        match self.begun.insert(begun) {
            Begun::Disk(file) => {
                file.append(&self.part)?;
                self.part.clear();
            }
            Begun::Upload(upload) => {
                let part = std::mem::replace(&mut self.part, Vec::with_capacity(PART_BYTES));
                upload.send(part.into())?;
            }
        }
        Ok(())
    }

    fn begin(&self) -> Result<Begun> {
        let writing = writing();
        Ok(match self.store.disk() {
            Some(disk) => Begun::Disk(disk.begin(self.landing().as_ref(), &writing)?),
            None => Begun::Upload(PartsUpload::begin(&self.store, self.landing(), &writing)?),
        })
    }
}

impl Write for ObjectWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let is_whole = self.store.is_web();
        let part_bytes = self.part_bytes();
        let room = part_bytes.less(self.part.len());
        let taken = if is_whole {
            data
        } else {
            data.get(..room).unwrap_or(data)
        };
        if self.part.capacity() < part_bytes && self.part.len() >= GROWING_BYTES {
            self.part.reserve_exact(part_bytes.less(self.part.len()));
        }
        self.part.extend_from_slice(taken);
        if self.part.len() - self.hashed >= HASHED_BYTES {
            self.hash(false);
        }
        self.bytes = self.bytes.further(taken.len() as u64);
        if self.part.len() >= part_bytes && !is_whole {
            self.send().map_err(io::Error::other)?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ObjectWriter {
    fn drop(&mut self) {
        // Left behind by an error or by the caller: what cannot be cleaned up now is cleaned up by the next run.
        drop(self.begun.take());
        if self.detour.is_some() {
            self.store.remove_empty_folder(STAGING);
        }
    }
}
