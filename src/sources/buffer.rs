//! What a splitter reads into: blocks go to the workers whole and come back to be filled again, so that the memory
//! they take is touched for the first time only once.

use std::io::Read;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use crate::error::Result;

/// Blocks that wait to be filled again: as many as are under way between a splitter and its workers.
const SPARE_BLOCKS: usize = 8;
/// A block that had to grow beyond this for one long record is not kept.
const SPARE_BYTES: usize = 8 << 20;

type Spares = Arc<Mutex<Vec<Vec<u8>>>>;

/// Bytes read and not yet given out.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    spares: Spares,
}

impl Buffer {
    /// Reads until it holds `want` bytes; false when the input ended before.
    pub(super) fn fill(&mut self, input: &mut dyn Read, want: usize) -> Result<bool> {
        let missing = want.saturating_sub(self.bytes.len());
        self.bytes.reserve(missing);
        let read = input
            .take(u64::try_from(missing).unwrap_or(u64::MAX))
            .read_to_end(&mut self.bytes)?;
        Ok(read == missing)
    }

    /// Takes the first `n` bytes off as a block.
    pub(super) fn take(&mut self, n: usize) -> Block {
        let mut rest = self
            .spares
            .lock()
            .ok()
            .and_then(|mut spares| spares.pop())
            .unwrap_or_default();
        rest.extend_from_slice(self.bytes.get(n..).unwrap_or_default());
        let mut bytes = std::mem::replace(&mut self.bytes, rest);
        bytes.truncate(n);
        Block {
            bytes,
            spares: Arc::clone(&self.spares),
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Bytes on their way to a worker; what they stand in goes back to the splitter afterwards.
pub(super) struct Block {
    bytes: Vec<u8>,
    spares: Spares,
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        if bytes.capacity() > SPARE_BYTES {
            return;
        }
        bytes.clear();
        if let Ok(mut spares) = self.spares.lock()
            && spares.len() < SPARE_BLOCKS
        {
            spares.push(bytes);
        }
    }
}
