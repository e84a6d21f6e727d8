//! A stream of bytes as splitters read it, and the way back from bytes to lines.

use std::io::Read;
use std::ops::Deref;

use super::Position;
use super::buffer::{Buffer, BufferBlock};
use crate::error::Result;
use crate::numbers::{Part, count_u64};

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

    /// Takes all lines off of which it holds the ends; `None` when it holds none.
    pub(super) fn take_lines(&mut self) -> Option<BufferLines> {
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', self).map(|end| end + 1).collect();
        let bytes = self.buffer.take(*ends.last()?);
        let at = self.at;
        self.at = Position {
            line: at.line + count_u64(ends.len()),
            byte_offset: at.byte_offset + count_u64(bytes.len()),
        };
        Some(BufferLines { bytes, at, ends })
    }

    /// Takes all that is left off as one line, which has no end.
    pub(super) fn take_unended_line(&mut self) -> BufferLines {
        let (bytes, at) = self.take(self.len());
        let ends = vec![bytes.len()];
        BufferLines { bytes, at, ends }
    }
}

/// Whole lines on their way to a worker. Where they end was found to cut them off, and is not looked for once more.
pub(super) struct BufferLines {
    bytes: BufferBlock,
    at: Position,
    /// Behind each line and its line end.
    ends: Vec<usize>,
}

impl BufferLines {
    /// The lines without their line ends, and where each of them begins.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Position)> {
        let mut start = 0;
        (self.at.line..).zip(&self.ends).map(move |(line, end)| {
            let at = Position {
                line,
                byte_offset: self.at.byte_offset + count_u64(start),
            };
            let bytes = self.bytes.part(start..*end);
            start = *end;
            (bytes.strip_suffix(b"\n").unwrap_or(bytes), at)
        })
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
