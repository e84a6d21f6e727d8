//! Candidates that another process has read and sorted: they stay in its file until they are merged.

use super::keys::KeySample;
use super::packed::GatherPart;
use crate::error::Result;
use crate::time::Day;

/// The letter before the place of a file in the list that processes share: no id of a file begins with it.
const LISTED: char = 's';

/// Blocks of candidates in the file of another process.
pub trait SharedBlocks: Send + Sync {
    /// The rows of a block that are of files to be read now, in the order of `records`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read, [`crate::error::Kind::Data`] when it is damaged.
    fn load(&self, nth: usize) -> Result<GatherPart>;
}

/// A block of one bucket.
pub struct SharedBlock {
    /// Its number among the blocks of its file.
    pub nth: usize,
    /// Site of its rows.
    pub site: String,
    /// Days since 1970 of its rows.
    pub day: Day,
    /// Some of its keys.
    pub keys: KeySample,
}

/// How candidates name a file by its place in the list that processes share.
#[must_use]
pub fn listed_word(place: usize) -> String {
    format!("{LISTED}{place}")
}

/// The place in the list that such a word names.
#[must_use]
pub fn listed_place(word: &str) -> Option<usize> {
    word.strip_prefix(LISTED)?.parse().ok()
}
