//! A stream of bytes as splitters read it, and the way back from bytes to lines.

use std::io::Read;
use std::ops::Deref;

use super::Position;
use super::buffer::{Buffer, BufferBlock};
use crate::error::Result;
use crate::numbers::Part;

/// The bytes read and not yet given out. They know where in the file they begin.
pub(super) struct InputStream {
    input: Box<dyn Read + Send>,
    buffer: Buffer,
    at: Position,
    is_ended: bool,
}

impl InputStream {
    /// The bytes of `input`, which begins at `at`.
    pub(super) fn new(input: Box<dyn Read + Send>, at: Position) -> Self {
        Self {
            input,
            buffer: Buffer::default(),
            at,
            is_ended: false,
        }
    }

    /// Reads until it holds `want` bytes or the input ends.
    pub(super) fn fill(&mut self, want: usize) -> Result<()> {
        if !self.is_ended {
            self.is_ended = !self.buffer.fill(&mut self.input, want)?;
        }
        Ok(())
    }

    /// Whether it holds all that is left of the input.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The position of its first byte.
    pub(super) fn at(&self) -> Position {
        self.at
    }

    /// Takes the first `n` bytes off.
    pub(super) fn take(&mut self, n: usize) -> (BufferBlock, Position) {
        let taken = self.buffer.take(n);
        let at = self.at;
        self.at = at.after(&taken);
        (taken, at)
    }
}

impl Deref for InputStream {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer
    }
}

/// Counts lines on the way through a piece.
pub(super) struct StreamPlace<'a> {
    bytes: &'a [u8],
    at: Position,
    offset: usize,
}

impl<'a> StreamPlace<'a> {
    /// At the start of `bytes`, which begin at `at`.
    pub(super) fn new(bytes: &'a [u8], at: Position) -> Self {
        Self { bytes, at, offset: 0 }
    }

    /// The position in the file of the byte at `offset`; offsets must ascend from call to call.
    pub(super) fn go_to(&mut self, offset: usize) -> Position {
        let passed = self.bytes.part(self.offset..offset);
        self.at = self.at.after(passed);
        self.offset = offset.max(self.offset);
        self.at
    }
}
