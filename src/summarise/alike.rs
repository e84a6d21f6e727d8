//! Which rows of a batch have all dimensions alike, told by the codes of their texts: texts are looked at once for each
//! combination instead of once for each row.

use ahash::RandomState;
use arrow::array::{Array, UInt32Array};
use hashbrown::HashTable;

use crate::schema::batch::Words;

/// Columns that are not the same in all rows, each with what one step of its codes counts.
pub(super) struct Alike<'a> {
    varied: Vec<(&'a UInt32Array, u128)>,
}

impl<'a> Alike<'a> {
    /// Of these columns; `None` when one is not coded, or a number of 128 bits cannot tell all combinations apart.
    pub(super) fn new(columns: impl IntoIterator<Item = Words<'a>>) -> Option<Self> {
        let mut step = 1_u128;
        let mut varied = Vec::new();
        for column in columns {
            match column {
                Words::Plain(texts) if texts.null_count() == texts.len() => {}
                Words::Plain(_) => return None,
                Words::Coded(codes, entries) if entries.len() == 1 && codes.null_count() == 0 => {}
                Words::Coded(codes, entries) => {
                    varied.push((codes, step));
                    step = step.checked_mul(entries.len() as u128 + 1)?;
                }
            }
        }
        Some(Self { varied })
    }

    /// The number of the combination a row has.
    #[inline]
    pub(super) fn of(&self, row: usize) -> u128 {
        let of = |(codes, step): &(&UInt32Array, u128)| {
            // A null is a text of its own.
            if codes.is_valid(row) {
                (u128::from(codes.value(row)) + 1) * step
            } else {
                0
            }
        };
        self.varied.iter().map(of).sum()
    }
}

/// The group of each combination of a batch in each period.
#[derive(Default)]
pub(super) struct Known {
    table: HashTable<((u128, i64), usize)>,
    hasher: RandomState,
}

impl Known {
    /// Forgets: codes of another batch stand for other texts.
    pub(super) fn clear(&mut self) {
        self.table.clear();
    }

    /// The group of a combination in the period that begins at `from_ms`; `find` is asked the first time.
    #[inline]
    pub(super) fn group(&mut self, combination: u128, from_ms: i64, find: impl FnOnce() -> usize) -> usize {
        let key = (combination, from_ms);
        let hash = self.hasher.hash_one(key);
        if let Some((_, group)) = self.table.find(hash, |(known, _)| *known == key) {
            return *group;
        }
        let group = find();
        let hasher = &self.hasher;
        self.table
            .insert_unique(hash, (key, group), |(known, _)| hasher.hash_one(known));
        group
    }
}
