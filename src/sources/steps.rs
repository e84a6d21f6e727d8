//! Splitters as iterators.

use super::compression::Damage;
use super::{Pieces, Work};
use crate::error::Result;

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

/// The pieces of a stream, and behind them what of it is lost.
pub(crate) fn until_damage(pieces: Pieces, damage: Damage) -> Pieces {
    let mut pieces = Some(pieces);
    let next = move || {
        let next = pieces.as_mut()?.next();
        if next.is_none() {
            pieces = None;
        }
        next.or_else(|| damage.take().map(Err))
    };
    Box::new(std::iter::from_fn(next))
}
