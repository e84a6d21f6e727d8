//! The buffer of a reading thread for the rows of pieces of files.

use super::reading::{ReadPool, dead};
use crate::dedupe::Intake;
use crate::dedupe::columns::Columns;
use crate::error::Result;
use crate::sources::Work;
use crate::sources::dialect::Dialect;

/// The rows one thread has read from pieces, until they fill a batch.
pub(crate) struct WorkerBuffer<'a> {
    pool: &'a ReadPool<'a>,
    columns: Columns,
    /// The file the pieces belong to, and their rows.
    open: Option<(usize, Intake)>,
}

impl<'a> WorkerBuffer<'a> {
    /// An empty buffer.
    pub(crate) fn new(pool: &'a ReadPool<'a>) -> Self {
        Self {
            pool,
            columns: Columns::new(),
            open: None,
        }
    }

    /// Reads the rows of a piece of file `at`.
    ///
    /// # Errors
    /// As [`WorkerBuffer::clear`].
    pub(crate) fn take(&mut self, at: usize, dialect: Dialect, work: Work) -> Result<()> {
        if self.open.as_ref().is_some_and(|(open, _)| *open != at) {
            self.clear()?;
        }
        let pool = self.pool;
        let reading = pool.files.get(at).ok_or_else(dead)?;
        let columns = &mut self.columns;
        let (_, intake) = self.open.get_or_insert_with(|| {
            let intake = reading.intake(at, dialect, pool.window, std::mem::take(columns));
            (at, intake)
        });
        reading.send_to(work, intake);
        if intake.is_full() {
            self.clear()?;
        }
        Ok(())
    }

    /// Hands over what was taken in.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when candidates or refusals cannot be stored.
    pub(crate) fn clear(&mut self) -> Result<()> {
        let Some((at, intake)) = self.open.take() else {
            return Ok(());
        };
        let reading = self.pool.files.get(at).ok_or_else(dead)?;
        let batch;
        (batch, self.columns) = reading.store(intake, self.pool.spill)?;
        let result = self.pool.results.get(at).ok_or_else(dead)?;
        result.lock().map_err(|_| dead())?.take(batch)
    }
}
