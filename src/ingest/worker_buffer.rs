//! The buffer of a reading thread for the rows of pieces of files.

use super::read_file::Reading;
use super::reading::{ReadPool, dead};
use crate::dedupe::{Intake, IntakeRows};
use crate::error::Result;
use crate::sources::Work;
use crate::sources::dialect::Dialect;

/// The rows one thread has read from pieces, until they fill a batch.
pub(crate) struct WorkerBuffer<'a> {
    pool: &'a ReadPool<'a>,
    /// The file the pieces belong to, and their rows, behind those of files before it.
    open: Option<(usize, Intake)>,
    /// While no file is open, the rows of files that were closed; `None` before the first one.
    rows: Option<IntakeRows>,
    /// The last file with rows.
    last: Option<&'a Reading>,
}

impl<'a> WorkerBuffer<'a> {
    /// An empty buffer.
    pub(crate) fn new(pool: &'a ReadPool<'a>) -> Self {
        Self {
            pool,
            open: None,
            rows: None,
            last: None,
        }
    }

    /// Reads the rows of a piece of file `at`.
    ///
    /// # Errors
    /// As [`WorkerBuffer::clear`].
    pub(crate) fn take(&mut self, at: usize, dialect: Dialect, work: Work) -> Result<()> {
        let reading = self.pool.files.get(at).ok_or_else(dead)?;
        if self.open.as_ref().is_some_and(|(open, _)| *open != at) {
            self.close()?;
        }
        if self.last.is_some_and(|last| !last.is_alike(reading)) {
            self.clear()?;
        }
        self.last = Some(reading);
        let rows = &mut self.rows;
        let (_, intake) = self.open.get_or_insert_with(|| {
            // Fallback: before the first file there are no rows.
            let rows = rows.take().unwrap_or_default();
            (at, reading.intake(at, dialect, self.pool.window, rows))
        });
        reading.send_to(work, intake);
        if intake.is_full() {
            self.close()?;
        }
        if self.rows.as_ref().is_some_and(IntakeRows::is_full) {
            self.store()?;
        }
        Ok(())
    }

    /// Hands over what was taken in.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when candidates or refusals cannot be stored.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.close()?;
        self.store()
    }

    /// Hands over what the open file came to, but for its candidates.
    fn close(&mut self) -> Result<()> {
        let Some((at, intake)) = self.open.take() else {
            return Ok(());
        };
        let reading = self.pool.files.get(at).ok_or_else(dead)?;
        let (batch, rows) = reading.harvest(intake)?;
        self.rows = Some(rows);
        let result = self.pool.results.get(at).ok_or_else(dead)?;
        result.lock().map_err(|_| dead())?.take(batch)
    }

    /// Hands over the candidates of closed files.
    fn store(&mut self) -> Result<()> {
        match (self.last, &mut self.rows) {
            (Some(last), Some(rows)) if !rows.is_empty() => last.store(rows, self.pool.spill),
            _ => Ok(()),
        }
    }
}
