//! The lock of a lake, as a value: whoever writes into a lake needs one.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::folders::DurableFolders;
use super::journal::Journal;
use super::location::Store;
use super::lock::Lock;
use super::machinery::COMMIT;
use super::publish::{BEFORE, clear_former_staging, clear_staging, cut_off};
use super::sending;
use crate::error::{Kind, Result};
use crate::runtime::interruption::{Tidying, committing, tidy_with};

/// How soon a lock that is held is tried again.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// The right to write into a lake, until it is dropped. What a killed run had begun to commit is finished with it.
pub struct LakeLock {
    /// Before the lock: what is staged may be another writer's once that is given back.
    _tidying: Tidying,
    store: Store,
    lock: Lock,
}

impl LakeLock {
    /// Takes the lock, waiting for another writer as long as `patience`. Then completes a commit that was interrupted, and
    /// clears away what an interrupted run had staged.
    ///
    /// # Errors
    /// `Busy` when another writer holds the lake, `Data` when the journal is damaged.
    pub fn take(store: &Store, patience: Duration) -> Result<Self> {
        let lock = wait_for(store, patience)?;
        if let Some(journal) = Journal::load(store)? {
            let commit = committing(&COMMIT);
            let applied = journal.apply(store, &lock, &DurableFolders::default());
            applied.map_err(|why| match why.kind() {
                // What is lost or damaged is not finished by the next run either.
                Kind::Data => why,
                _ => cut_off(store, why, BEFORE),
            })?;
            commit.finished();
        }
        Self::of(store, lock)
    }

    /// As [`Self::take`], for who publishes nothing: a commit that was interrupted is left to the next writer.
    ///
    /// # Errors
    /// `Busy` when another writer holds the lake, or one was interrupted in its commit.
    pub fn take_settled(store: &Store, patience: Duration) -> Result<Self> {
        let lock = wait_for(store, patience)?;
        if store.has_journal()? {
            return Err(store.cut_off());
        }
        Self::of(store, lock)
    }

    /// Under a lock that was taken: clears away what an interrupted run had staged.
    fn of(store: &Store, lock: Lock) -> Result<Self> {
        clear_former_staging(store, &lock)?;
        let (staged, prefix, release) = (store.clone(), lock.staging_prefix(), lock.releaser());
        let tidying = tidy_with(move || {
            // What cannot be taken away now is taken away by the next writer.
            drop(clear_staging(&staged, &prefix));
            drop(sending::take_back(&staged));
            release();
        });
        Ok(Self {
            _tidying: tidying,
            store: store.clone(),
            lock,
        })
    }

    /// Whether it keeps other writers out: not where the store has no conditional writes.
    #[must_use]
    pub fn is_exclusive(&self) -> bool {
        !matches!(self.lock, Lock::None)
    }

    /// The lake.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Writes a whole object into the lake, if it is still held.
    ///
    /// # Errors
    /// `Busy` when another writer has taken the lake over, `Io` when it cannot be written.
    pub(crate) fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.lock.hold()?;
        self.store.put(path, bytes)
    }

    pub(super) fn lock(&self) -> &Lock {
        &self.lock
    }
}

/// Takes the lock, waiting for another writer as long as `patience`.
fn wait_for(store: &Store, patience: Duration) -> Result<Lock> {
    let since = Instant::now();
    loop {
        match Lock::take(store) {
            Err(why) if why.kind() == Kind::Busy && since.elapsed() < patience => std::thread::sleep(BETWEEN_TRIES),
            taken => return taken,
        }
    }
}
