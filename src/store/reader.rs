//! Reading ranges of one object.

use super::location::{Store, parse};
use crate::error::{Error, Kind, Result};
use bytes::{Buf, Bytes};
use object_store::path::Path;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// How much a sequential read fetches at once: little from a disk, more where every request costs a round trip.
const LOCAL_STRIDE_BYTES: usize = 64 << 10;
const REMOTE_STRIDE_BYTES: usize = 1 << 20;

/// One object, open for reading at any place, from several threads.
#[derive(Clone)]
pub struct ObjectReader {
    source: Arc<Source>,
    bytes: u64,
}

enum Source {
    /// Kept open, so that all of it is read from one version even when it is replaced meanwhile.
    File(Mutex<File>),
    Remote {
        store: Store,
        location: Path,
    },
}

impl Store {
    /// Opens an object to read it in ranges.
    ///
    /// # Errors
    /// `NoInput` when there is none.
    pub fn reader(&self, path: &str) -> Result<ObjectReader> {
        let missing = || Error::new(Kind::NoInput, "there is no such object").at("path", path);
        let location = parse(path)?;
        if let Some(root) = self.local_root() {
            let file = File::open(root.join(location.as_ref())).map_err(|e| match e.kind() {
                io::ErrorKind::NotFound => missing(),
                _ => Error::from(e).at("path", path),
            })?;
            let bytes = file.metadata()?.len();
            return Ok(ObjectReader {
                source: Arc::new(Source::File(Mutex::new(file))),
                bytes,
            });
        }
        let bytes = self.size(path)?.ok_or_else(missing)?;
        let source = Source::Remote {
            store: self.clone(),
            location,
        };
        Ok(ObjectReader {
            source: Arc::new(source),
            bytes,
        })
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
        }
    }

    fn range(&self, start: u64, length: usize) -> io::Result<Bytes> {
        let end = start.saturating_add(length as u64);
        if end > self.bytes {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "a range beyond the end of the object",
            ));
        }
        match &*self.source {
            Source::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let mut buffer = vec![0; length];
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(&mut buffer)?;
                Ok(buffer.into())
            }
            Source::Remote { .. } if length == 0 => Ok(Bytes::new()),
            Source::Remote { store, location } => {
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
        }
    }

    fn stride(&self) -> usize {
        match &*self.source {
            Source::File(_) => LOCAL_STRIDE_BYTES,
            Source::Remote { .. } => REMOTE_STRIDE_BYTES,
        }
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
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ahead.is_empty() {
            let left = self.reader.bytes.saturating_sub(self.position);
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.reader.stride());
            if length == 0 {
                return Ok(0);
            }
            self.ahead = self.reader.range(self.position, length)?;
            self.position = self.position.saturating_add(length as u64);
        }
        let n = buffer.len().min(self.ahead.len());
        self.ahead
            .split_to(n)
            .copy_to_slice(buffer.get_mut(..n).unwrap_or_default());
        Ok(n)
    }
}
