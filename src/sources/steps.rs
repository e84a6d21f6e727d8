//! Splitters as iterators.

use super::compression::Damage;
use super::{Pieces, Work};
use crate::error::{Error, Kind, Result};

/// Cuts an input into pieces, one a call; `None` when nothing is left.
pub(super) trait ReadStep: Send {
    /// The next piece.
    fn step(&mut self) -> Result<Option<Work>>;
}

/// The pieces of a [`ReadStep`], up to its end or its first error.
pub(super) struct ReadSteps<S>(Option<S>);

impl<S: ReadStep> ReadSteps<S> {
    pub(super) fn new(step: S) -> Self {
        Self(Some(step))
    }
}

impl<S: ReadStep> Iterator for ReadSteps<S> {
    type Item = Result<Work>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.0.as_mut()?.step().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.0 = None;
        }
        next
    }
}

/// The pieces of a stream, and after them its lost part, with the reader's message about it.
pub(crate) fn until_damage(pieces: Pieces, damage: Damage) -> Pieces {
    let mut pieces = Some(pieces);
    let next = move || match pieces.as_mut()?.next() {
        Some(Ok(work)) => Some(Ok(work)),
        ended => {
            pieces = None;
            let stated = ended.and_then(Result::err);
            match (damage.take(), stated) {
                (Some(lost), Some(stated)) if stated.kind() == Kind::Data => {
                    Some(Err(Error::new(Kind::Data, format!("{lost}; {stated}"))))
                }
                (lost, stated) => stated.or(lost).map(Err),
            }
        }
    };
    Box::new(std::iter::from_fn(next))
}
