//! A column of lists of names with an amount each, of which few rows have any.

use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, Int64Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, Fields};

/// The column under construction.
pub(super) struct NamedAmounts {
    lists: ListBuilder<StructBuilder>,
}

impl NamedAmounts {
    /// An empty column whose elements have these two fields: a text and a whole number.
    pub(super) fn new(fields: Fields) -> Self {
        let element = Field::new("element", DataType::Struct(fields.clone()), false);
        Self {
            lists: ListBuilder::new(StructBuilder::from_fields(fields, 0)).with_field(element),
        }
    }

    /// Row number `row` has these; the rows that were left out before it have none.
    pub(super) fn push(&mut self, row: usize, named: &[(&str, i64)]) {
        if named.is_empty() {
            return;
        }
        self.fill(row);
        let elements = self.lists.values();
        for (name, amount) in named {
            if let Some(builder) = elements.field_builder::<StringBuilder>(0) {
                builder.append_value(name);
            }
            if let Some(builder) = elements.field_builder::<Int64Builder>(1) {
                builder.append_value(*amount);
            }
            elements.append(true);
        }
        self.lists.append(true);
    }

    fn fill(&mut self, row_n: usize) {
        while self.lists.len() < row_n {
            self.lists.append(false);
        }
    }

    /// The column of so many rows, and nothing where none has any.
    pub(super) fn finish(&mut self, name: &str, row_n: usize) -> Option<(Field, ArrayRef)> {
        if self.lists.is_empty() {
            return None;
        }
        self.fill(row_n);
        let array: ArrayRef = Arc::new(self.lists.finish());
        Some((Field::new(name, array.data_type().clone(), true), array))
    }
}
