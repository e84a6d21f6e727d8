//! The bytes of a column of a row group: its pages as they are, not copied, and the headers between them.

use std::io::{self, Read, Write};
use std::vec::IntoIter;

use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// The bytes in their order.
#[derive(Debug, Default)]
pub(super) struct ChunkBytes {
    pieces: Vec<Bytes>,
    /// What was written since the last piece.
    header: Vec<u8>,
    /// The page that is written next.
    page: Option<Bytes>,
}

impl ChunkBytes {
    /// This page is written next: its bytes are kept, and not those that the writer gives.
    pub(super) fn expect(&mut self, page: Bytes) {
        self.page = Some(page);
    }

    /// All pieces are complete.
    pub(super) fn end(&mut self) {
        if !self.header.is_empty() {
            self.pieces.push(Bytes::copy_from_slice(&self.header));
            self.header.clear();
        }
    }
}

impl Write for ChunkBytes {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        // A small page comes together with its header.
        match self.page.take_if(|page| page.as_ptr_range() == data.as_ptr_range()) {
            Some(page) => {
                self.end();
                self.pieces.push(page);
            }
            None => self.header.extend_from_slice(data),
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Length for ChunkBytes {
    fn len(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }
}

impl ChunkReader for ChunkBytes {
    type T = PieceReader;

    fn get_read(&self, start: u64) -> Result<PieceReader> {
        // The column is read once, from its first page.
        if start > 0 {
            return Err(ParquetError::General("a column is read from its first page".to_owned()));
        }
        Ok(PieceReader {
            piece: Bytes::new(),
            rest: self.pieces.clone().into_iter(),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Reads piece after piece.
pub(super) struct PieceReader {
    piece: Bytes,
    rest: IntoIter<Bytes>,
}

impl Read for PieceReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.rest.next() {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        (&mut self.piece).reader().read(into)
    }
}
