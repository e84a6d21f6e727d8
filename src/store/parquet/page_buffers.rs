//! What columns need to make a page. A file ends and the next begins with the same room and the same compressor: in a lake of
//! thousands of small files, to make these for each costs more than to write it.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use bytes::Bytes;
use parquet::basic::Compression;
use zstd::bulk::Compressor;

use crate::error::{Error, Result};

/// Buffers of a thread that wait for its next file.
const SPARE_N: usize = 2;
/// Buffers that had to grow beyond this for one long page are not kept, bytes.
const SPARE_BYTE_N: usize = 4 << 20;

thread_local! {
    static SPARES: RefCell<Vec<PageBuffers>> = const { RefCell::new(Vec::new()) };
}

/// What columns need to make a page, one after another: its room is used again.
#[derive(Default)]
pub(in crate::store) struct PageBuffers {
    /// Values of the page at hand as codes of a dictionary.
    pub(super) codes: Vec<u32>,
    /// Values of the page at hand.
    pub(super) numbers: Vec<i64>,
    /// Lengths of the page at hand.
    pub(super) lengths: Vec<i64>,
    /// Ends of texts of the page at hand.
    pub(super) suffixes: Vec<u8>,
    /// Bytes of the page at hand.
    pub(super) page: Vec<u8>,
    packed: Vec<u8>,
    packer: Option<Packer>,
}

/// How bytes are packed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Packing {
    /// They stay as they are.
    Plain,
    /// By Zstandard at a level, of which one below zero is faster and mostly leaves more.
    Zstd(i32),
}

impl Packing {
    /// That of a compression at its level.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn of(compression: Compression) -> Result<Self> {
        match compression {
            Compression::UNCOMPRESSED => Ok(Self::Plain),
            Compression::ZSTD(level) => Ok(Self::Zstd(level.compression_level())),
            _ => Err(Error::internal(format!("no table is packed with {compression}"))),
        }
    }
}

/// A compressor, and the level at which it packs.
struct Packer {
    level: i32,
    compressor: Compressor<'static>,
}

impl PageBuffers {
    /// Bytes as a file holds them.
    pub(super) fn pack(&mut self, bytes: &[u8], packing: Packing) -> Result<Bytes> {
        let Packing::Zstd(level) = packing else {
            return Ok(Bytes::copy_from_slice(bytes));
        };
        let packer = match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(Packer {
                level,
                compressor: Compressor::new(level)?,
            }),
        };
        if packer.level != level {
            packer.compressor.set_compression_level(level)?;
            packer.level = level;
        }
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
        packer.compressor.compress_to_buffer(bytes, &mut self.packed)?;
        Ok(Bytes::copy_from_slice(&self.packed))
    }

    /// Bytes of room, without that of the compressor.
    fn byte_n(&self) -> usize {
        let words = [self.numbers.capacity(), self.lengths.capacity()];
        let bytes = [self.suffixes.capacity(), self.page.capacity(), self.packed.capacity()];
        words.into_iter().sum::<usize>() * size_of::<i64>()
            + self.codes.capacity() * size_of::<u32>()
            + bytes.into_iter().sum::<usize>()
    }
}

/// The buffers of one file: those that wait, where there are any. They wait for the next file of the thread once it is
/// written.
pub(in crate::store) struct FileBuffers(PageBuffers);

impl Default for FileBuffers {
    fn default() -> Self {
        // Fallback: where the spare buffers are in use, new ones are made.
        let take = |spares: &RefCell<Vec<PageBuffers>>| spares.try_borrow_mut().ok()?.pop();
        // Fallback: a thread that ends has no spare buffers, new ones are made.
        Self(SPARES.try_with(take).ok().flatten().unwrap_or_default())
    }
}

impl Deref for FileBuffers {
    type Target = PageBuffers;

    fn deref(&self) -> &PageBuffers {
        &self.0
    }
}

impl DerefMut for FileBuffers {
    fn deref_mut(&mut self) -> &mut PageBuffers {
        &mut self.0
    }
}

impl Drop for FileBuffers {
    fn drop(&mut self) {
        let buffers = std::mem::take(&mut self.0);
        if buffers.byte_n() > SPARE_BYTE_N {
            return;
        }
        // A thread that ends has no use for them.
        let _ = SPARES.try_with(|spares| {
            if let Ok(mut spares) = spares.try_borrow_mut()
                && spares.len() < SPARE_N
            {
                spares.push(buffers);
            }
        });
    }
}
