//! An object that is uploaded in parts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt, Result};
use tokio::task::JoinHandle;

use super::location::Store;
use crate::runtime::interruption::{Aborting, Writing, abort_with};

/// An upload in parts. It is aborted when it is dropped before its end, and when the process is ended by a signal: what was uploaded
/// of it would stay in the bucket, invisible and billed.
pub(super) struct PartsUpload {
    store: Store,
    /// Taken out when the process is ending.
    parts: Arc<Mutex<Option<Box<dyn MultipartUpload>>>>,
    /// The part under way.
    leaving: Option<JoinHandle<Result<()>>>,
    _aborting: Aborting,
}

impl PartsUpload {
    /// Begins the upload of an object.
    ///
    /// # Errors
    /// Those of the object store.
    pub(super) fn begin(store: &Store, place: &Path, writing: &Writing) -> Result<Self> {
        let upload = store.wait(store.objects().put_multipart(place))?;
        let parts = Arc::new(Mutex::new(Some(upload)));
        let (owner, shared) = (store.clone(), Arc::clone(&parts));
        let aborting = abort_with(writing, move || {
            if let Some(mut upload) = locked(&shared).take() {
                // What cannot be aborted now is removed by a rule of the bucket.
                drop(owner.wait(upload.abort()));
            }
        });
        Ok(Self {
            store: store.clone(),
            parts,
            leaving: None,
            _aborting: aborting,
        })
    }

    /// Sends the next part, once the one before it has arrived.
    ///
    /// # Errors
    /// Those of the object store, also of the part before it.
    pub(super) fn send(&mut self, part: Bytes) -> Result<()> {
        self.arrive()?;
        // Made inside the runtime, because a local upload decides then on which thread it writes.
        let _inside = self.store.runtime().enter();
        let sending = locked(&self.parts).as_mut().ok_or_else(aborted)?.put_part(part.into());
        self.leaving = Some(self.store.runtime().spawn(sending));
        Ok(())
    }

    /// Waits for the part under way.
    fn arrive(&mut self) -> Result<()> {
        match self.leaving.take() {
            Some(leaving) => self.store.wait(leaving)?,
            None => Ok(()),
        }
    }

    /// Ends the upload: the object is there then.
    ///
    /// # Errors
    /// Those of the object store.
    pub(super) fn finish(mut self) -> Result<()> {
        self.arrive()?;
        let mut parts = locked(&self.parts).take().ok_or_else(aborted)?;
        let done = self.store.wait(parts.complete());
        if done.is_err() {
            // It is aborted then.
            *locked(&self.parts) = Some(parts);
        }
        done.map(drop)
    }
}

impl Drop for PartsUpload {
    fn drop(&mut self) {
        // Waiting is impossible on a thread of a runtime; none of ours ever drops an upload.
        if tokio::runtime::Handle::try_current().is_ok() {
            return;
        }
        drop(self.arrive());
        let parts = locked(&self.parts).take();
        if let Some(mut parts) = parts {
            // What cannot be aborted now is removed by a rule of the bucket.
            drop(self.store.wait(parts.abort()));
        }
    }
}

fn locked(parts: &Mutex<Option<Box<dyn MultipartUpload>>>) -> MutexGuard<'_, Option<Box<dyn MultipartUpload>>> {
    parts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a write into an upload fails with that was aborted.
fn aborted() -> object_store::Error {
    object_store::Error::Generic {
        store: "upload",
        source: "the upload was aborted because the process is ending".into(),
    }
}
