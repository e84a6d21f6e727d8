//! Where a reading thread puts what pieces of files say.

use super::reading::{Room, dead};
use crate::error::Result;
use crate::records::Intake;
use crate::records::columns::Columns;
use crate::sources::Work;
use crate::sources::dialect::Dialect;

/// Where one thread puts what pieces say, until it is worth a batch.
pub(crate) struct Desk<'a> {
    room: &'a Room<'a>,
    columns: Columns,
    /// The file pieces were taken of, and what they said.
    open: Option<(usize, Intake)>,
}

impl<'a> Desk<'a> {
    /// An empty desk.
    pub(crate) fn new(room: &'a Room<'a>) -> Self {
        Self {
            room,
            columns: Columns::new(),
            open: None,
        }
    }

    /// Lets a piece of file `at` say what it holds.
    ///
    /// # Errors
    /// As [`Desk::clear`].
    pub(crate) fn take(&mut self, at: usize, dialect: Dialect, work: Work) -> Result<()> {
        if self.open.as_ref().is_some_and(|(open, _)| *open != at) {
            self.clear()?;
        }
        let room = self.room;
        let reading = room.files.get(at).ok_or_else(dead)?;
        let columns = &mut self.columns;
        let (_, intake) = self.open.get_or_insert_with(|| {
            let intake = reading.intake(at, dialect, room.window, std::mem::take(columns));
            (at, intake)
        });
        reading.tell(work, intake);
        if intake.is_full() {
            self.clear()?;
        }
        Ok(())
    }

    /// Hands over what was taken in.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when candidates or refusals cannot be put by; [`crate::error::Kind::Data`] when there
    /// are too many summaries.
    pub(crate) fn clear(&mut self) -> Result<()> {
        let Some((at, intake)) = self.open.take() else {
            return Ok(());
        };
        let reading = self.room.files.get(at).ok_or_else(dead)?;
        let harvest;
        (harvest, self.columns) = reading.put_by(intake, self.room.spill)?;
        let result = self.room.results.get(at).ok_or_else(dead)?;
        result.lock().map_err(|_| dead())?.take(harvest, &reading.file.path)
    }
}
