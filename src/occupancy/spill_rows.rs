//! Rows that wait in memory, and then on disk.

use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::runtime::scratch::{Scratch, SpillRange};

/// Rows of a piece, at most.
const PIECE_N: usize = 4096;

/// Rows of numbers, the first of them on disk.
#[derive(Debug, Default)]
pub(super) struct SpillRows<const N: usize> {
    stored: Vec<SpillRange>,
    /// Pieces of the full size, so that rows that came are not moved when more of them do.
    full: Vec<Vec<[u32; N]>>,
    open: Vec<[u32; N]>,
}

impl<const N: usize> SpillRows<N> {
    /// Bytes of a row.
    pub(super) const ROW_BYTE: usize = N * 4;

    #[inline]
    pub(super) fn push(&mut self, row: [u32; N]) {
        if self.open.len() >= PIECE_N {
            let next = Vec::with_capacity(PIECE_N);
            self.full.push(std::mem::replace(&mut self.open, next));
        }
        self.open.push(row);
    }

    /// Puts all rows on disk.
    pub(super) fn store(&mut self, scratch: &mut Scratch) -> Result<()> {
        let last = std::mem::take(&mut self.open);
        let pieces = std::mem::take(&mut self.full).into_iter().chain([last]);
        let mut bytes = Vec::new();
        for piece in pieces {
            for row in piece {
                for word in row {
                    bytes.extend(word.to_le_bytes());
                }
            }
        }
        if !bytes.is_empty() {
            self.stored.push(scratch.push(&bytes)?);
        }
        Ok(())
    }

    /// Hands all rows to `each`, in the order they came.
    pub(super) fn read(&self, scratch: &Mutex<Scratch>, mut each: impl FnMut([u32; N])) -> Result<()> {
        for stretch in &self.stored {
            let bytes = scratch
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .load(*stretch)
                .map_err(|why| Error::io("the temporary file of the jobs on nodes lost some").because(why))?;
            for row in bytes.chunks_exact(Self::ROW_BYTE) {
                let mut numbers = [0; N];
                for (number, word) in numbers.iter_mut().zip(row.as_chunks::<4>().0) {
                    *number = u32::from_le_bytes(*word);
                }
                each(numbers);
            }
        }
        let pieces = self.full.iter().chain([&self.open]);
        pieces.flatten().copied().for_each(each);
        Ok(())
    }
}
