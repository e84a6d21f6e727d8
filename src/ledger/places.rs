//! Where the rows of one file went. A lake knows very many files with one or two such places each, so these take little.

use super::reason::Reason;
use crate::time::Month;

/// Where some rows of a file went.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowPlace {
    /// Their site, if it is known.
    pub site: Option<String>,
    /// The month of their records, if it is known.
    pub month: Option<Month>,
    /// What became of them.
    pub reason: Reason,
}

impl RowPlace {
    /// Rows of which neither site nor month is known.
    #[must_use]
    pub const fn nowhere(reason: Reason) -> Self {
        Self {
            site: None,
            month: None,
            reason,
        }
    }
}

/// Rows by where they went, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(Vec<(RowPlace, u64)>);

impl Places {
    /// The places, in order.
    pub fn keys(&self) -> impl Iterator<Item = &RowPlace> + Clone {
        self.0.iter().map(|(place, _)| place)
    }

    /// The places with their rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&RowPlace, &u64)> + Clone {
        self.0.iter().map(|(place, rows)| (place, rows))
    }

    /// The rows of a place; zero where there are none.
    #[must_use]
    pub fn rows(&self, place: &RowPlace) -> u64 {
        match self.find(place).map(|at| self.0.get(at)) {
            Ok(Some((_, rows))) => *rows,
            Ok(None) | Err(_) => 0,
        }
    }

    /// The rows of all places.
    #[must_use]
    pub fn row_n(&self) -> u64 {
        self.0.iter().map(|(_, rows)| rows).sum()
    }

    /// Adds rows to those of a place.
    pub fn add(&mut self, place: RowPlace, rows: u64) {
        match self.find(&place) {
            Ok(at) => {
                if let Some((_, known)) = self.0.get_mut(at) {
                    *known += rows;
                }
            }
            Err(at) => {
                self.0.reserve_exact(1);
                self.0.insert(at, (place, rows));
            }
        }
    }

    /// Takes rows away from a place; false if there are not as many.
    pub fn take(&mut self, place: &RowPlace, rows: u64) -> bool {
        let Ok(at) = self.find(place) else {
            return false;
        };
        let Some(left) = self.0.get(at).and_then(|(_, have)| have.checked_sub(rows)) else {
            return false;
        };
        if left == 0 {
            self.0.remove(at);
        } else if let Some((_, have)) = self.0.get_mut(at) {
            *have = left;
        }
        true
    }

    /// Keeps some of them.
    pub fn retain(&mut self, is_kept: impl Fn(&RowPlace) -> bool) {
        self.0.retain(|(place, _)| is_kept(place));
    }

    /// Where a place is in the list, or would have to be inserted.
    fn find(&self, place: &RowPlace) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.cmp(place))
    }
}

impl IntoIterator for Places {
    type Item = (RowPlace, u64);
    type IntoIter = std::vec::IntoIter<(RowPlace, u64)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Places {
    type Item = (&'a RowPlace, &'a u64);
    type IntoIter = std::iter::Map<std::slice::Iter<'a, (RowPlace, u64)>, fn(&'a (RowPlace, u64)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(place, rows)| (place, rows))
    }
}
