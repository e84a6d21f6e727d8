//! Writing one object with bounded memory (but to a web server, which takes it whole), counting and hashing on the way.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt};
use tokio::task::JoinHandle;

use super::local::{WrittenFile, sync_data};
use super::location::Store;
use super::machinery::STAGING;
use crate::error::{Error, Result};
use crate::numbers::{Extent, Part, count_u64};
use crate::runtime::interruption::{Aborting, Writing, abort_with, writing};

/// Size of the parts of an upload. At most two of them are in memory: the one that fills and the one that leaves.
/// (Object stores take 10 000 parts, so an object has at most 78 GiB.)
const PART_BYTES: usize = 8 << 20;

/// Size of the parts on a disk, where they cost no round trip: many files may be written at the same time. What was written is made
/// durable as often as if parts were larger.
const DISK_PART_BYTES: usize = 2 << 20;
const _: () = assert!(PART_BYTES.is_multiple_of(DISK_PART_BYTES));

/// Bytes hashed at once: so many that the widest instructions are busy, and a multiple of what the hash is made of.
const HASHED_BYTES: usize = 128 << 10;

/// A part of so many bytes gets room for all of it: what grows by doubling is copied, and its memory touched, twice.
const GROWING_BYTES: usize = 512 << 10;

/// An upload in parts, which is aborted when the process is ended by a signal: what was uploaded of it would stay in the
/// bucket, invisible and billed.
struct PartsUpload {
    /// Taken out when the process is ending.
    parts: Arc<Mutex<Option<Box<dyn MultipartUpload>>>>,
    _aborting: Aborting,
}

impl PartsUpload {
    fn begun(writing: &Writing, store: &Store, upload: Box<dyn MultipartUpload>) -> Self {
        let parts = Arc::new(Mutex::new(Some(upload)));
        let (store, shared) = (store.clone(), Arc::clone(&parts));
        let aborting = abort_with(writing, move || {
            let upload = shared.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(mut upload) = upload {
                // What cannot be aborted now is removed by a rule of the bucket.
                drop(store.wait(upload.abort()));
            }
        });
        Self {
            parts,
            _aborting: aborting,
        }
    }

    fn parts(&self) -> MutexGuard<'_, Option<Box<dyn MultipartUpload>>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a write into an upload fails with that was aborted.
fn aborted() -> object_store::Error {
    object_store::Error::Generic {
        store: "upload",
        source: "the upload was aborted because the process is ending".into(),
    }
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
    upload: Option<PartsUpload>,
    leaving: Option<JoinHandle<object_store::Result<()>>>,
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
            upload: None,
            leaving: None,
            hasher: blake3::Hasher::new(),
            hashed: 0,
            bytes: 0,
        }
    }

    /// Ends the object and puts it in its place. On a local disk it is durable then, unless it is a staged object:
    /// those are made durable together, when they are committed.
    pub fn finish(mut self) -> Result<WrittenObject> {
        let _writing = writing();
        self.complete().map_err(|e| Error::from(e).at("path", &self.target))?;
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
            .map_err(|e| Error::from(e).at("path", &self.target))?;
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

    fn complete(&mut self) -> object_store::Result<()> {
        self.hash(true);
        let last = Bytes::from(std::mem::take(&mut self.part));
        if self.upload.is_none() {
            return self.store.put_at(self.landing(), last);
        }
        if !last.is_empty() {
            self.send(last, true)?;
        }
        self.arrive()?;
        if let Some(upload) = self.upload.take() {
            let parts = upload.parts().take();
            let mut parts = parts.ok_or_else(aborted)?;
            if let Err(why) = self.store.wait(parts.complete()) {
                *upload.parts() = Some(parts);
                self.upload = Some(upload);
                return Err(why);
            }
        }
        Ok(())
    }

    /// Size of its parts.
    fn part_bytes(&self) -> usize {
        match self.store.local_root() {
            Some(_) => DISK_PART_BYTES,
            None => PART_BYTES,
        }
    }

    fn landing(&self) -> &Path {
        self.detour.as_ref().unwrap_or(&self.target)
    }

    /// Waits for the part under way.
    fn arrive(&mut self) -> object_store::Result<()> {
        match self.leaving.take() {
            Some(leaving) => self.store.wait(leaving)?,
            None => Ok(()),
        }
    }

    fn send(&mut self, part: Bytes, is_last: bool) -> object_store::Result<()> {
        self.arrive()?;
        let upload = if let Some(upload) = &self.upload {
            upload
        } else {
            let writing = writing();
            let upload = self.store.wait(self.store.objects().put_multipart(self.landing()))?;
            self.upload.insert(PartsUpload::begun(&writing, &self.store, upload))
        };
        // Made inside the runtime, because a local upload decides then on which thread it writes.
        let _inside = self.store.runtime().enter();
        let sending = upload.parts().as_mut().ok_or_else(aborted)?.put_part(part.into());
        let is_synced = !is_last && self.bytes.is_multiple_of(PART_BYTES as u64);
        let place = self.store.upload_on_disk(self.landing().as_ref()).filter(|_| is_synced);
        self.leaving = Some(self.store.runtime().spawn(async move {
            sending.await?;
            let Some(place) = place else { return Ok(()) };
            // While the next part fills: the commit, which makes all of it durable, has the less to wait for.
            let synced = tokio::task::spawn_blocking(move || sync_data(&place)).await?;
            synced.map_err(|e| object_store::Error::Generic {
                store: "disk",
                source: Box::new(e),
            })
        }));
        Ok(())
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
            self.hash(true);
            self.hashed = 0;
            let part = std::mem::replace(&mut self.part, Vec::with_capacity(part_bytes));
            self.send(part.into(), false).map_err(io::Error::other)?;
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
        // Waiting is impossible on a thread of a runtime; none of ours ever drops a writer.
        if (self.upload.is_none() && self.detour.is_none()) || tokio::runtime::Handle::try_current().is_ok() {
            return;
        }
        drop(self.arrive());
        if let Some(upload) = self.upload.take() {
            let parts = upload.parts().take();
            if let Some(mut parts) = parts {
                drop(self.store.wait(parts.abort()));
            }
        }
        if self.detour.is_some() {
            self.store.remove_empty_folder(STAGING);
        }
    }
}
