//! What a splitter reads into: blocks go to the workers whole, and whoever is done with one keeps it to be filled again,
//! also from the next file, so that the memory they take is touched for the first time only once.

use std::cell::RefCell;
use std::io::Read;
use std::ops::Deref;

use crate::error::{Error, Result};
use crate::numbers::{Extent, Part};

/// Blocks that wait to be filled again, for each thread: it fills one and works on another.
const SPARE_BLOCKS: usize = 4;
/// A block that had to grow beyond this for one long record is not kept.
const SPARE_BYTES: usize = 8 << 20;

/// Blocks grow by this much, so that what is left over from the block before makes none grow.
const ROOM_BYTES: usize = 32 << 10;
/// A block begins with this much at most: a small file does not pay for the room of a large one.
const FIRST_BYTES: usize = 256 << 10;
/// What is read is laid at a multiple of this, which is where the processor copies fastest to.
const ALIGNED_BYTES: usize = 64;

thread_local! {
    static SPARES: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A block that waits to be filled again, or a new one.
fn spare() -> Vec<u8> {
    // Fallback: where the spare blocks are in use, a new one is made.
    let take = |spares: &RefCell<Vec<Vec<u8>>>| spares.try_borrow_mut().ok()?.pop();
    // Fallback: a thread that ends has no spare blocks, a new one is made.
    SPARES.try_with(take).ok().flatten().unwrap_or_default()
}

/// Keeps a block to be filled again.
fn keep(block: Vec<u8>) {
    if block.is_empty() || block.capacity() > SPARE_BYTES {
        return;
    }
    // A thread that ends has no use for it.
    let _ = SPARES.try_with(|spares| {
        if let Ok(mut spares) = spares.try_borrow_mut()
            && spares.len() < SPARE_BLOCKS
        {
            spares.push(block);
        }
    });
}

/// Bytes read and not yet given out.
#[derive(Default)]
pub(super) struct Buffer {
    /// All of it may be read into: what is zeroed once need not be zeroed again.
    bytes: Vec<u8>,
    /// Where the first filled byte is.
    from: usize,
    /// Behind the last filled byte.
    end: usize,
}

impl Buffer {
    /// Reads until it holds `want` bytes; false when the input ended before.
    pub(super) fn fill(&mut self, input: &mut dyn Read, want: usize) -> Result<bool> {
        if self.bytes.is_empty() {
            self.bytes = spare();
        }
        let want_end = self.from.further(want);
        while self.end < want_end {
            if self.end == self.bytes.len() {
                let most = self.end + self.end.max(FIRST_BYTES);
                self.bytes.resize(want_end.min(most).next_multiple_of(ROOM_BYTES), 0);
            }
            let until = want_end.min(self.bytes.len());
            let room = self.bytes.get_mut(self.end..until);
            let room = room.ok_or_else(|| Error::internal("a buffer is shorter than what it is to hold"))?;
            match input.read(room) {
                Ok(0) => return Ok(false),
                Ok(n) => self.end += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(true)
    }

    /// Takes the first `n` bytes off as a block.
    pub(super) fn take(&mut self, n: usize) -> BufferBlock {
        let mut rest = spare();
        let cut = self.from.further(n).min(self.end);
        let left = self.bytes.part(cut..self.end);
        let room = left.len() + ALIGNED_BYTES;
        if rest.len() < room {
            rest.resize(room.next_multiple_of(ROOM_BYTES), 0);
        }
        // The next bytes follow the remaining ones.
        let from = rest.as_ptr().wrapping_add(left.len()).align_offset(ALIGNED_BYTES) % ALIGNED_BYTES;
        let end = from + left.len();
        if let Some(room) = rest.get_mut(from..end) {
            room.copy_from_slice(left);
        }
        let block = BufferBlock {
            bytes: std::mem::replace(&mut self.bytes, rest),
            from: self.from,
            end: cut,
        };
        (self.from, self.end) = (from, end);
        block
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.part(self.from..self.end)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        keep(std::mem::take(&mut self.bytes));
    }
}

/// Bytes on their way to a worker, which reuses their buffer afterwards.
pub(super) struct BufferBlock {
    bytes: Vec<u8>,
    from: usize,
    end: usize,
}

impl Deref for BufferBlock {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.part(self.from..self.end)
    }
}

impl Drop for BufferBlock {
    fn drop(&mut self) {
        keep(std::mem::take(&mut self.bytes));
    }
}
