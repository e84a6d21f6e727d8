//! The note of the last run of a lake: what those who watch over it need to know of runs that changed nothing, or failed. It is
//! no part of what is published: no manifest names it.

use bytes::Bytes;

use super::location::Store;
use super::lock::Lock;
use super::machinery::LAST_RUN;
use crate::error::{Kind, Result};

impl Store {
    /// The note as it was written.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be read.
    pub fn run_note(&self) -> Result<Option<Bytes>> {
        self.get(LAST_RUN)
    }

    /// Replaces the note by what `make` makes of the former one, under the lock of the lake. False where another writer holds
    /// the lake: that one writes its own.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be read or written.
    pub fn replace_run_note(&self, make: impl FnOnce(Option<Bytes>) -> Result<Bytes>) -> Result<bool> {
        let lock = match Lock::take(self) {
            Err(why) if why.kind() == Kind::Busy => return Ok(false),
            taken => taken?,
        };
        let note = make(self.run_note()?)?;
        lock.hold()?;
        self.put(LAST_RUN, note)?;
        Ok(true)
    }
}
