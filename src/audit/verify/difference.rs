//! Rows that were computed again, held against those of a file.

use arrow_array::{Array, RecordBatch};

use crate::audit::value_text::value_text;
use crate::error::Result;
use crate::schema::batch::{column, decoded};

/// The key of a dataset's rows, and the values that are compared.
pub(super) struct Compared<'a> {
    /// Columns that name a row.
    pub(super) keys: &'a [&'a str],
    /// Whether a value of a column and row was computed again.
    pub(super) is_computed: &'a dyn Fn(&str, usize) -> bool,
}

impl<'a> Compared<'a> {
    /// All values.
    pub(super) fn all(keys: &'a [&'a str]) -> Self {
        Self {
            keys,
            is_computed: &|_, _| true,
        }
    }

    /// The first value in which rows differ, in words: the row by its key, the column and both values.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a column is missing.
    pub(super) fn difference(&self, computed: &RecordBatch, held: &RecordBatch) -> Result<Option<String>> {
        let (computed, held) = (decoded(computed)?, decoded(held)?);
        let rows = computed.num_rows().min(held.num_rows());
        let mut first: Option<(usize, String)> = None;
        for field in computed.schema_ref().fields() {
            let name = field.name();
            let (ours, theirs) = (column(&computed, name)?, column(&held, name)?);
            if ours.data_type() != theirs.data_type() {
                return Ok(Some(format!("{name} is of type {}", theirs.data_type())));
            }
            let (ours, theirs) = (ours.slice(0, rows), theirs.slice(0, rows));
            if ours.as_ref() == theirs.as_ref() {
                continue;
            }
            let until = first.as_ref().map_or(rows, |(row, _)| *row);
            let differs = |row: &usize| {
                (self.is_computed)(name, *row) && ours.slice(*row, 1).as_ref() != theirs.slice(*row, 1).as_ref()
            };
            if let Some(row) = (0..until).find(differs) {
                first = Some((row, name.clone()));
            }
        }
        if let Some((row, name)) = first {
            let key = self.key(&computed, row)?;
            if self.keys.contains(&name.as_str()) {
                let other = self.key(&held, row)?;
                return Ok(Some(format!("holds a row of {other} where {key} was computed")));
            }
            let (ours, theirs) = (value(&computed, &name, row)?, value(&held, &name, row)?);
            return Ok(Some(format!("{key}: {name} is {theirs}, computed {ours}")));
        }
        Ok(if computed.num_rows() > rows {
            Some(format!("lacks a row of {}", self.key(&computed, rows)?))
        } else if held.num_rows() > rows {
            Some(format!(
                "holds a row of {} without a counterpart",
                self.key(&held, rows)?
            ))
        } else {
            None
        })
    }

    fn key(&self, batch: &RecordBatch, row: usize) -> Result<String> {
        let mut parts = Vec::new();
        for name in self.keys {
            if column(batch, name)?.is_valid(row) {
                parts.push(format!("{name} {}", value(batch, name, row)?));
            }
        }
        Ok(parts.join(", "))
    }
}

fn value(batch: &RecordBatch, name: &str, row: usize) -> Result<String> {
    let array = column(batch, name)?;
    if array.is_null(row) {
        return Ok("null".to_owned());
    }
    value_text(array, row)
}
