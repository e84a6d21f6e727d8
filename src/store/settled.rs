//! One state of a lake: what a reader of several files has to see before and after.

use bytes::Bytes;

use super::location::{Store, StoreEntry};
use super::machinery::{JOURNAL, PUBLICATION_BOOKS};
use super::manifest::MANIFEST;
use super::sending::is_book_moving;
use crate::error::{Error, Kind, Result};

/// What a reader looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatePart {
    /// What runs publish.
    Published,
    /// That, and the book of what was sent with the locks of months.
    Book,
}

/// What a lake is while nothing is being committed. Readers who see the same before and after have read one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LakeState {
    manifest: Option<Bytes>,
    book: Vec<StoreEntry>,
}

impl Store {
    /// The state of a lake; `None` while a commit is under way, or after one that was cut off.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be looked at.
    pub fn state(&self, part: StatePart) -> Result<Option<LakeState>> {
        // The journal first: a commit that was over before it was looked for has replaced the manifest.
        if self.has_journal()? || (part == StatePart::Book && is_book_moving(self)?) {
            return Ok(None);
        }
        let mut book = Vec::new();
        if part == StatePart::Book {
            for folder in PUBLICATION_BOOKS {
                book.append(&mut self.list(folder)?);
            }
        }
        Ok(Some(LakeState {
            manifest: self.get(MANIFEST)?,
            book,
        }))
    }

    /// The error of whoever needs one state of a lake, and finds a commit that was cut off.
    #[must_use]
    pub fn cut_off(&self) -> Error {
        let message = "a run or publication was cut off while it wrote, and what is there is half of it: run the pipeline \
                       again, or what publishes, which finishes it";
        Error::new(Kind::Busy, message).at("lake", self.url())
    }

    /// Whether a commit is under way, or was cut off.
    pub(super) fn has_journal(&self) -> Result<bool> {
        self.exists(JOURNAL)
    }
}
