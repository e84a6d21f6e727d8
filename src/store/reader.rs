//! Reading ranges of one object.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf, Bytes, BytesMut};
use object_store::path::Path;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::location::{Store, parse};
use super::table_reader::TableFile;
use crate::error::{Error, Kind, Result};
use crate::numbers::{Extent, Part, index_u64};

/// How much a read from front to back fetches at once: little from a disk, more where every request costs a round trip.
const LOCAL_STRIDE_BYTES: usize = 64 << 10;
const REMOTE_STRIDE_BYTES: usize = 4 << 20;

/// Tables are read page by page, which costs a round trip each where there is no disk: remote objects are fetched in
/// blocks of this size, and the last of them are kept. All columns of a row group fit.
const BLOCK_BYTES: usize = 256 << 10;
const BLOCKS_KEPT: usize = 64;
const BLOCK: u64 = BLOCK_BYTES as u64;

/// One object, open for reading at any place, from several threads.
#[derive(Clone)]
pub struct ObjectReader {
    source: Arc<ObjectSource>,
    /// Its path in the store, for errors.
    path: Arc<str>,
    bytes: u64,
}

enum ObjectSource {
    /// Kept open, so that all of it is read from one version even when it is replaced meanwhile.
    File(Mutex<File>),
    Remote {
        store: Store,
        location: Path,
        /// The blocks fetched last, by their place in the object; the last one used is at the end.
        blocks: Mutex<VecDeque<(u64, Bytes)>>,
    },
}

impl Store {
    /// Opens an object to read it in ranges.
    ///
    /// # Errors
    /// `Data` when there is none: whoever asks has its path from a manifest, a journal or a listing.
    pub fn reader(&self, path: &str) -> Result<ObjectReader> {
        let missing = || self.missing(path);
        let stored = self.stored(path).ok_or_else(missing)?;
        let location = parse(stored)?;
        if let Some(root) = self.local_root() {
            let file = File::open(root.join(location.as_ref())).map_err(|e| match e.kind() {
                io::ErrorKind::NotFound => missing(),
                _ => Error::from(e).at("path", path),
            })?;
            let bytes = file.metadata().map_err(|e| Error::from(e).at("path", path))?.len();
            return Ok(ObjectReader {
                source: Arc::new(ObjectSource::File(Mutex::new(file))),
                path: path.into(),
                bytes,
            });
        }
        let bytes = self.size(path)?.ok_or_else(missing)?;
        let source = ObjectSource::Remote {
            store: self.clone(),
            location,
            blocks: Mutex::default(),
        };
        Ok(ObjectReader {
            source: Arc::new(source),
            path: path.into(),
            bytes,
        })
    }

    /// The error of whoever finds a file of the lake gone: that of a snapshot is the one kept for it, which is not where it was
    /// published.
    fn missing(&self, path: &str) -> Error {
        let stored = self.stored(path).filter(|stored| *stored != path);
        match (self.snapshot_number(), stored) {
            (Some(number), Some(stored)) => {
                let message = format!("a file that snapshot {number} needs is gone: the snapshot is damaged");
                Error::new(Kind::Data, message).at("path", stored).at("kept for", path)
            }
            _ => Error::new(Kind::Data, "a file the manifest names is gone: the lake is damaged").at("path", path),
        }
    }
}

impl ObjectReader {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.bytes
    }

    /// Reads it from front to back.
    pub fn sequential(&self) -> impl Read + Send + use<> {
        Cursor {
            reader: self.clone(),
            position: 0,
            ahead: Bytes::new(),
            is_sequential: true,
        }
    }

    /// BLAKE3 of its contents, hexadecimal.
    ///
    /// # Errors
    /// `Io` when they cannot be read.
    pub fn blake3(&self) -> Result<String> {
        let mut hasher = blake3::Hasher::new();
        let contents = hasher.update_reader(self.sequential());
        contents.map_err(|why| Error::from(why).at("path", &self.path))?;
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// The bytes of a range.
    ///
    /// # Errors
    /// `Io` when they cannot be read, or the object ends before.
    pub fn bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.range(start, length)
            .map_err(|why| Error::from(why).at("path", &self.path))
    }

    fn range(&self, start: u64, length: usize) -> io::Result<Bytes> {
        let end = start.further(length as u64);
        if end > self.bytes {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "a range beyond the end of the object",
            ));
        }
        match &*self.source {
            ObjectSource::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let mut buffer = vec![0; length];
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(&mut buffer)?;
                Ok(buffer.into())
            }
            ObjectSource::Remote { .. } if length == 0 => Ok(Bytes::new()),
            ObjectSource::Remote { store, location, .. } if length > BLOCK_BYTES => {
                fetch(store, location, start, length)
            }
            ObjectSource::Remote { .. } => {
                let first = self.block(start / BLOCK)?;
                let from = index_u64(start % BLOCK);
                if let Some(_whole) = first.get(from..from + length) {
                    return Ok(first.slice(from..from + length));
                }
                let mut bytes = BytesMut::from(first.part(from..));
                let second = self.block(start / BLOCK + 1)?;
                bytes.extend_from_slice(second.part(..length - bytes.len()));
                Ok(bytes.freeze())
            }
        }
    }

    /// One block of a remote object.
    fn block(&self, n: u64) -> io::Result<Bytes> {
        let ObjectSource::Remote {
            store,
            location,
            blocks,
        } = &*self.source
        else {
            return Err(io::Error::other("a file is not read in blocks"));
        };
        let kept = || blocks.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut kept = kept();
            if let Some(block) = kept.iter().position(|(at, _)| *at == n).and_then(|at| kept.remove(at)) {
                kept.push_back(block.clone());
                return Ok(block.1);
            }
        }
        let start = n.times(BLOCK);
        let length = index_u64(self.bytes.less(start).min(BLOCK));
        let block = fetch(store, location, start, length)?;
        let mut kept = kept();
        if kept.len() >= BLOCKS_KEPT {
            kept.pop_front();
        }
        kept.push_back((n, block.clone()));
        Ok(block)
    }

    /// How much to fetch when a read has come to `position`.
    fn stride(&self, position: u64, is_sequential: bool) -> usize {
        match &*self.source {
            ObjectSource::File(_) => LOCAL_STRIDE_BYTES,
            ObjectSource::Remote { .. } if is_sequential => REMOTE_STRIDE_BYTES,
            ObjectSource::Remote { .. } => index_u64(BLOCK - position % BLOCK),
        }
    }
}

fn fetch(store: &Store, location: &Path, start: u64, length: usize) -> io::Result<Bytes> {
    let end = start.further(length as u64);
    let bytes = store.get_range(location, start..end).map_err(io::Error::other)?;
    if bytes.len() == length {
        Ok(bytes)
    } else {
        Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the object shrank while it was read",
        ))
    }
}

impl TableFile for ObjectReader {
    fn path(&self) -> Option<&str> {
        Some(&self.path)
    }
}

impl Length for ObjectReader {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for ObjectReader {
    type T = Cursor;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Cursor> {
        Ok(Cursor {
            reader: self.clone(),
            position: start,
            ahead: Bytes::new(),
            is_sequential: false,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.range(start, length)
            .map_err(|e| ParquetError::External(Box::new(e)))
    }
}

/// Reads on from a place in an object.
pub struct Cursor {
    reader: ObjectReader,
    position: u64,
    ahead: Bytes,
    /// Reads everything, so that it may fetch far ahead.
    is_sequential: bool,
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ahead.is_empty() {
            let left = self.reader.bytes.less(self.position);
            let length = index_u64(left).min(self.reader.stride(self.position, self.is_sequential));
            if length == 0 {
                return Ok(0);
            }
            self.ahead = self.reader.range(self.position, length)?;
            self.position = self.position.further(length as u64);
        }
        let n = buffer.len().min(self.ahead.len());
        self.ahead
            .split_to(n)
            // Fallback: never taken, n is at most the length of the buffer.
            .copy_to_slice(buffer.get_mut(..n).unwrap_or_default());
        Ok(n)
    }
}
