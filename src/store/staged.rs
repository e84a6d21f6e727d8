//! Files on their way to publication.

use super::manifest::FileEntry;
use super::writer::ObjectWriter;
use crate::error::Result;
use std::io::{self, Write};

/// Writes a file that is to be published. Dropped before it is finished, it leaves nothing behind.
pub struct StagedWriter {
    pub(super) writer: ObjectWriter,
    pub(super) staging: String,
    pub(super) path: String,
    pub(super) dataset: String,
    pub(super) schema_version: u32,
}

/// A file that is written but not published: hand it to [`Publication::add`](super::Publication::add).
#[derive(Debug)]
#[must_use = "a staged file that is not added is thrown away"]
pub struct Staged {
    pub(super) staging: String,
    pub(super) entry: FileEntry,
}

impl StagedWriter {
    /// Closes the file; `rows` is its number of rows (0 unless it is a table).
    pub fn finish(self, rows: u64) -> Result<Staged> {
        let written = self.writer.finish()?;
        let entry = FileEntry {
            path: self.path,
            bytes: written.bytes,
            blake3: written.blake3,
            rows,
            dataset: self.dataset,
            schema_version: self.schema_version,
        };
        Ok(Staged {
            staging: self.staging,
            entry,
        })
    }
}

impl Write for StagedWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.writer.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Staged {
    /// Its future entry in the manifest.
    pub fn entry(&self) -> &FileEntry {
        &self.entry
    }
}
