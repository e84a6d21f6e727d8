//! A stream looked at through a window that grows on demand, for readers that frame records byte by byte.

use std::io::Read;

use crate::error::Result;
use crate::numbers::{Extent, Part, count_u64};

/// How much is read at a time.
const STEP_BYTES: u64 = 256 << 10;

/// The unread part of a stream, as far as it was fetched.
pub(super) struct SlidingWindow<'a> {
    input: Box<dyn Read + Send + 'a>,
    buffer: Vec<u8>,
    /// Bytes of the buffer that are done with.
    done: usize,
    /// Offset in the stream of the first byte that is not done with.
    offset: u64,
    is_ended: bool,
}

impl<'a> SlidingWindow<'a> {
    /// Looks at `input`, whose first byte has this offset.
    pub(super) fn new(input: Box<dyn Read + Send + 'a>, offset: u64) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            done: 0,
            offset,
            is_ended: false,
        }
    }

    /// What was fetched and is not done with.
    pub(super) fn rest(&self) -> &[u8] {
        self.buffer.part(self.done..)
    }

    /// Offset of the first byte of [`Self::rest`].
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Fetches more; false when there is no more.
    pub(super) fn more(&mut self) -> Result<bool> {
        if self.is_ended {
            return Ok(false);
        }
        self.buffer.drain(..self.done);
        self.done = 0;
        let read = self.input.by_ref().take(STEP_BYTES).read_to_end(&mut self.buffer)?;
        self.is_ended = read == 0;
        Ok(read > 0)
    }

    /// The byte `at` places ahead, fetched if need be; `None` behind the end of the stream.
    pub(super) fn byte(&mut self, at: usize) -> Result<Option<u8>> {
        while self.rest().len() <= at {
            if !self.more()? {
                return Ok(None);
            }
        }
        Ok(self.rest().get(at).copied())
    }

    /// Is done with the next `n` bytes.
    pub(super) fn consume(&mut self, n: usize) {
        let n = n.min(self.buffer.len() - self.done);
        self.done += n;
        self.offset += count_u64(n);
    }

    /// The next `n` bytes, which this is done with then.
    pub(super) fn take(&mut self, n: usize) -> Vec<u8> {
        let taken = self.rest().get(..n).unwrap_or(self.rest()).to_vec();
        self.consume(taken.len());
        taken
    }

    /// Is done with all bytes before the first occurrence of `marker` at or behind `from`; false when there is none,
    /// and everything is done with then.
    pub(super) fn skip_to(&mut self, marker: &[u8], from: usize) -> Result<bool> {
        let mut from = from;
        loop {
            let rest = self.rest();
            if let Some(at) = memchr::memmem::find(rest.part(from..), marker) {
                self.consume(from + at);
                return Ok(true);
            }
            // The marker may begin in the last bytes.
            let keep = marker.len().less(1);
            let gone = rest.len().less(keep).max(from.min(rest.len()));
            self.consume(gone);
            from = from.less(gone);
            if !self.more()? {
                self.consume(self.rest().len());
                return Ok(false);
            }
        }
    }
}
