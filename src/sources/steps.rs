//! Splitters as iterators, and how they fill their buffers.

use std::io::Read;

use super::Work;
use crate::error::Result;

/// Cuts an input into pieces, one a call; `None` when nothing is left.
pub(super) trait Step: Send {
    /// The next piece.
    fn step(&mut self) -> Result<Option<Work>>;
}

/// The pieces of a [`Step`], up to its end or its first error.
pub(super) struct Steps<S>(Option<S>);

impl<S: Step> Steps<S> {
    pub(super) fn new(step: S) -> Self {
        Self(Some(step))
    }
}

impl<S: Step> Iterator for Steps<S> {
    type Item = Result<Work>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.0.as_mut()?.step().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.0 = None;
        }
        next
    }
}

/// Reads until `buffer` holds `want` bytes; false when the input ended before.
pub(super) fn fill(input: &mut dyn Read, buffer: &mut Vec<u8>, want: usize) -> Result<bool> {
    let missing = want.saturating_sub(buffer.len());
    buffer.reserve(missing);
    let read = input
        .take(u64::try_from(missing).unwrap_or(u64::MAX))
        .read_to_end(buffer)?;
    Ok(read == missing)
}
