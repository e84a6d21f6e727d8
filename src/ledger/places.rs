//! Where the rows of one file went. A lake knows very many files with one or two such places each, so these take little.

use std::collections::BTreeMap;

use super::reason::Reason;
use crate::time::Month;

/// Site, month and reason of some rows of a file.
pub type PlaceKey = (Option<String>, Option<Month>, Reason);

/// Places of rows of a file that was just read.
pub type PlaceRows = BTreeMap<PlaceKey, u64>;

/// (site, month, reason) -> rows, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(Vec<(PlaceKey, u64)>);

impl Places {
    /// The places, in order.
    pub fn keys(&self) -> impl Iterator<Item = &PlaceKey> + Clone {
        self.0.iter().map(|(key, _)| key)
    }

    /// The places with their rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&PlaceKey, &u64)> + Clone {
        self.0.iter().map(|(key, rows)| (key, rows))
    }

    /// Adds rows to those of a place.
    pub fn add(&mut self, key: PlaceKey, rows: u64) {
        match self.0.binary_search_by(|(known, _)| known.cmp(&key)) {
            Ok(at) => {
                if let Some((_, known)) = self.0.get_mut(at) {
                    *known += rows;
                }
            }
            Err(at) => {
                self.0.reserve_exact(1);
                self.0.insert(at, (key, rows));
            }
        }
    }

    /// Takes rows away from a place; false if there are not as many.
    pub fn take(&mut self, key: &PlaceKey, rows: u64) -> bool {
        let Ok(at) = self.0.binary_search_by(|(known, _)| known.cmp(key)) else {
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
    pub fn retain(&mut self, is_kept: impl Fn(&PlaceKey) -> bool) {
        self.0.retain(|(key, _)| is_kept(key));
    }
}

impl<'a> IntoIterator for &'a Places {
    type Item = (&'a PlaceKey, &'a u64);
    type IntoIter = std::iter::Map<std::slice::Iter<'a, (PlaceKey, u64)>, fn(&'a (PlaceKey, u64)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(key, rows)| (key, rows))
    }
}
