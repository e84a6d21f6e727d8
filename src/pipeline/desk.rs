//! Where a reading thread puts what pieces of files say.

use std::sync::Arc;

use super::grid::Completing;
use super::reading::{Room, dead};
use crate::error::Result;
use crate::records::columns::Columns;
use crate::records::{Harvest, Intake, waiting};
use crate::sources::Work;
use crate::sources::dialect::Dialect;

/// Where one thread puts what pieces say, until it is worth a batch.
pub(super) struct Desk<'a> {
    room: &'a Room<'a>,
    columns: Columns,
    /// The file pieces were taken of, and what they said.
    open: Option<(usize, Intake)>,
}

impl<'a> Desk<'a> {
    /// An empty desk.
    pub(super) fn new(room: &'a Room<'a>) -> Self {
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
    pub(super) fn take(&mut self, at: usize, dialect: Dialect, work: Work) -> Result<()> {
        if self.open.as_ref().is_some_and(|(open, _)| *open != at) {
            self.clear()?;
        }
        let room = self.room;
        let reading = room.files.get(at).ok_or_else(dead)?;
        let columns = &mut self.columns;
        let (_, intake) = self.open.get_or_insert_with(|| {
            // The id of a file depends on all of its bytes: until they are read, its place in the list stands for it.
            let (source, file_id) = (Arc::clone(&reading.source), at.to_string().into());
            let intake = Intake::new(source, dialect.format(), file_id, room.window, std::mem::take(columns));
            (at, intake.under(reading.privacy.clone()))
        });
        match &reading.grid {
            Some(index) => work(&mut Completing { index, inner: intake }),
            None => work(intake),
        }
        // The members of an archive may be of several formats, a batch is of one.
        if intake.is_full() || dialect == Dialect::Archive {
            self.clear()?;
        }
        Ok(())
    }

    /// Hands over what was taken in.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when candidates or refusals cannot be put by; [`crate::error::Kind::Data`] when there
    /// are too many summaries.
    pub(super) fn clear(&mut self) -> Result<()> {
        let Some((at, intake)) = self.open.take() else {
            return Ok(());
        };
        let reading = self.room.files.get(at).ok_or_else(dead)?;
        let harvest;
        (harvest, self.columns) = intake.harvest().map_err(|e| e.at("file", &reading.file.path))?;
        if let Some(index) = &reading.grid {
            index.mark(&waiting::unpacked(&harvest.batch)?, &reading.source.name)?;
        }
        let Harvest {
            batch,
            buckets,
            sites,
            mut summaries,
            rejects,
            inventory,
            tally,
            mapping,
            rows_read,
            rows_candidate,
        } = harvest;
        self.room.spill.push(batch, &buckets, &sites)?;
        let mut result = self.room.results.get(at).ok_or_else(dead)?.lock().map_err(|_| dead())?;
        result.keep(&mut summaries, &mapping, inventory, &reading.file.path)?;
        result.take(rows_read, rows_candidate, tally, rejects)
    }
}
