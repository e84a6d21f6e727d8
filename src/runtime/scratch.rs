//! One unnamed temporary file: holds what does not fit in memory until it is needed.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;

use crate::error::{Error, Result};
use crate::numbers::count_u64;

/// Writing to disk costs the kernel more per byte than the fastest packing does.
const PACK_LEVEL: i32 = -5;

/// A file that only grows, and is gone with the value that holds it. It is not made before something is put into it.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    file: Option<File>,
    end: u64,
}

/// Where something is in a [`Scratch`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpillRange {
    at: u64,
    len: usize,
}

impl SpillRange {
    /// `len` bytes of it from `first` on; nothing beyond its end.
    pub(crate) fn part(self, first: usize, len: usize) -> Option<Self> {
        let end = first.checked_add(len)?;
        let at = self.at.checked_add(u64::try_from(first).ok()?)?;
        (end <= self.len).then_some(Self { at, len })
    }
}

impl PackedRange {
    /// How many bytes the batch takes unpacked.
    pub(crate) fn unpacked_len(self) -> usize {
        self.unpacked_len
    }
}

impl Scratch {
    /// How many bytes it has.
    pub(crate) fn byte_n(&self) -> u64 {
        self.end
    }

    /// Puts `bytes` behind all that is there.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the file cannot be made or written.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<SpillRange> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                none.insert(tempfile::tempfile().map_err(|e| Error::io("cannot make a temporary file").because(e))?)
            }
        };
        file.write_all_at(bytes, self.end)?;
        let at = self.end;
        self.end += count_u64(bytes.len());
        Ok(SpillRange { at, len: bytes.len() })
    }

    /// What was put there.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read back, [`crate::error::Kind::Internal`] when it is another
    /// file's.
    pub(crate) fn load(&self, stretch: SpillRange) -> Result<Vec<u8>> {
        let file = self.file.as_ref();
        let file = file.ok_or_else(|| Error::internal("nothing was put into the temporary file"))?;
        let mut bytes = vec![0; stretch.len];
        file.read_exact_at(&mut bytes, stretch.at)?;
        Ok(bytes)
    }
}

/// A batch, packed for a [`Scratch`].
#[derive(Debug)]
pub(crate) struct PackedBatch {
    packed: Vec<u8>,
    unpacked_len: usize,
}

/// Where a packed batch is in a [`Scratch`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedRange {
    packed: SpillRange,
    unpacked_len: usize,
}

impl PackedBatch {
    /// Packs a batch.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when Arrow cannot write it.
    pub(crate) fn pack(batch: &RecordBatch) -> Result<Self> {
        let bytes = to_bytes(batch)?;
        Ok(Self {
            packed: zstd::bulk::compress(&bytes, PACK_LEVEL)?,
            unpacked_len: bytes.len(),
        })
    }

    /// As it was packed before: bytes of [`Self::bytes`], and their length unpacked.
    pub(crate) fn of_bytes(packed: Vec<u8>, unpacked_len: usize) -> Self {
        Self { packed, unpacked_len }
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.packed
    }

    /// How many bytes it takes unpacked.
    pub(crate) fn unpacked_len(&self) -> usize {
        self.unpacked_len
    }

    /// The batch again.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the bytes were damaged, [`crate::error::Kind::Internal`] when they hold no batch.
    pub(crate) fn unpack(&self) -> Result<RecordBatch> {
        from_bytes(&zstd::bulk::decompress(&self.packed, self.unpacked_len)?)
    }

    /// Puts it into a temporary file.
    ///
    /// # Errors
    /// As [`Scratch::push`].
    pub(crate) fn store(&self, scratch: &mut Scratch) -> Result<PackedRange> {
        Ok(PackedRange {
            packed: scratch.push(&self.packed)?,
            unpacked_len: self.unpacked_len,
        })
    }

    /// Reads it back.
    ///
    /// # Errors
    /// As [`Scratch::load`].
    pub(crate) fn load(range: PackedRange, scratch: &Scratch) -> Result<Self> {
        Ok(Self {
            packed: scratch.load(range.packed)?,
            unpacked_len: range.unpacked_len,
        })
    }
}

/// A batch as bytes that hold its schema, too.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when Arrow cannot write it.
pub(crate) fn to_bytes(batch: &RecordBatch) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(batch.get_array_memory_size() + 4096);
    let mut writer = StreamWriter::try_new(&mut bytes, batch.schema_ref())?;
    writer.write(batch)?;
    writer.finish()?;
    drop(writer);
    Ok(bytes)
}

/// The batch [`to_bytes`] was given.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the bytes hold none.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<RecordBatch> {
    let batch = StreamReader::try_new(bytes, None)?.next();
    Ok(batch.ok_or_else(|| Error::internal("the temporary file lost a batch"))??)
}
