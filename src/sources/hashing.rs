//! Hashing a file's bytes while they are read for another purpose: the second pass over them is saved.

use crate::numbers::Part;

use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes read at once while draining: few, because nearly always nothing is left.
const DRAIN_BYTES: usize = 8 << 10;

struct Shared {
    input: Box<dyn Read + Send>,
    hasher: blake3::Hasher,
}

/// A reader that hashes what passes through it. Clones share one input.
#[derive(Clone)]
pub struct HashingReader(Arc<Mutex<Shared>>);

impl HashingReader {
    /// Around `input`.
    #[must_use]
    pub fn new(input: Box<dyn Read + Send>) -> Self {
        Self(Arc::new(Mutex::new(Shared {
            input,
            hasher: blake3::Hasher::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is left (a reader may stop early, and what follows is part of the file all the same) and gives the
    /// hash of all of it, in hexadecimal.
    ///
    /// # Errors
    /// Those of the input.
    pub fn finish(mut self) -> std::io::Result<String> {
        let mut buffer = [0; DRAIN_BYTES];
        loop {
            match self.read(&mut buffer) {
                Ok(0) => return Ok(self.lock().hasher.finalize().to_hex().to_string()),
                Ok(_) => {}
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl Read for HashingReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut shared = self.lock();
        let Shared { input, hasher } = &mut *shared;
        let n = input.read(buffer)?;
        hasher.update(buffer.part(..n));
        Ok(n)
    }
}
