//! Batches of the records of a site, read by a thread of their own while those before them are put on nodes.

use std::collections::BTreeSet;
use std::thread::Builder;

use arrow_array::RecordBatch;
use crossbeam_channel::bounded;

use super::record_files::RecordFile;
use crate::error::{Error, Result};
use crate::lake::refused_records::{ID_COLUMN, RefusedRecords};
use crate::store::{Store, read_table};

/// Rows read at once.
const ROWS: usize = 1 << 14;
/// Batches that wait to be used.
const AHEAD: usize = 2;

/// Some records of a file.
pub(super) struct FileRecords {
    /// The place of the file in the list of files.
    pub(super) place: usize,
    pub(super) rows: RecordBatch,
    /// Rows that the sums of their month cannot take, in order.
    pub(super) refused: Vec<usize>,
}

/// Files of records, by their place in the list of files, and the columns that are read of them.
pub(super) struct RecordBatches<'a> {
    pub(super) store: &'a Store,
    pub(super) files: Vec<(usize, &'a RecordFile)>,
    pub(super) columns: &'a [&'a str],
}

impl RecordBatches<'_> {
    /// Hands all records to `take`, in the order of the files.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a file cannot be read, and what `take` returns.
    pub(super) fn each(&self, mut take: impl FnMut(FileRecords) -> Result<()>) -> Result<()> {
        std::thread::scope(|scope| {
            let (send, receive) = bounded(AHEAD);
            let reader = Builder::new().spawn_scoped(scope, move || {
                // Who takes them stops at an error, and knows why.
                let failed = self.read(&mut |records| send.send(Ok(records)).map_err(|_| stopped()));
                if let Err(why) = failed {
                    let _ = send.send(Err(why));
                }
            });
            let Ok(reader) = reader else {
                // Where the machine gives no thread, they are read when they are taken.
                return self.read(&mut take);
            };
            let taken = receive.iter().try_for_each(|records| take(records?));
            drop(receive);
            reader.join().map_err(|_| Error::internal("a reading thread died"))?;
            taken
        })
    }

    fn read(&self, give: &mut dyn FnMut(FileRecords) -> Result<()>) -> Result<()> {
        for (place, file) in &self.files {
            let refused = match &file.refused {
                Some(rejects) => RefusedRecords::read(self.store, rejects)?,
                None => RefusedRecords::default(),
            };
            let mut columns: BTreeSet<&str> = self.columns.iter().copied().collect();
            columns.extend((!refused.are_within_sums()).then_some(ID_COLUMN));
            let columns: Vec<&str> = columns.into_iter().collect();
            for rows in read_table(self.store.reader(&file.place)?, Some(&columns), ROWS)? {
                let rows = rows?;
                give(FileRecords {
                    place: *place,
                    refused: refused.rows_beyond_sums(&rows)?,
                    rows,
                })?;
            }
        }
        Ok(())
    }
}

fn stopped() -> Error {
    Error::internal("who takes records has stopped")
}
