//! Which rows of a waiting batch go to which places of the gathered one.

use crate::error::{Error, Result};
use crate::numbers::index;

/// `len` rows from row `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatherRun {
    /// The first row.
    pub first: usize,
    /// How many.
    pub len: usize,
}

/// Rows of a waiting batch and their places in the gathered one.
#[derive(Clone, Debug, Default)]
pub struct Route(pub(super) Vec<(u32, u32)>);

impl Route {
    /// The rows of `runs`, one after another from place `first` on.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] beyond four billion rows.
    pub fn of_runs(runs: &[GatherRun], first: usize) -> Result<Self> {
        let number = |n: usize| u32::try_from(n).map_err(|e| Error::internal("too many rows at once").because(e));
        let mut pairs = Vec::with_capacity(runs.iter().map(|run| run.len).sum());
        let mut first = first;
        for run in runs {
            let rows = number(run.first)?..number(run.first + run.len)?;
            let places = number(first)?..number(first + run.len)?;
            pairs.extend(rows.zip(places));
            first += run.len;
        }
        Ok(Self(pairs))
    }

    /// Each row with its place.
    #[inline]
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let wide = |n: u32| index(n);
        self.0.iter().map(move |(row, place)| (wide(*row), wide(*place)))
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
