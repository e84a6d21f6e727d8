//! Whether the files of a lake are in the order that they state.

use std::path::Path;

use arrow_row::{RowConverter, SortField};
use arrow_schema::SortOptions;
use gridtally::schema;
use gridtally::store::Manifest;

use super::forge::rows;

/// The files whose rows are not in the order that their dataset declares: ascending, nulls first.
pub(crate) fn out_of_order(lake: &Path) -> Vec<String> {
    let (_, manifest) = Manifest::open(lake.to_str().unwrap()).unwrap();
    let mut found = Vec::new();
    for file in manifest.files() {
        // Some files are no tables of a dataset.
        let Ok(dataset) = schema::dataset(&file.dataset) else {
            continue;
        };
        if file.rows == 0 || dataset.sort.is_empty() {
            continue;
        }
        let batch = rows(&lake.join(&file.path));
        let columns = dataset
            .sort
            .iter()
            .map(|name| batch.column_by_name(name).unwrap().clone());
        let columns: Vec<_> = columns.collect();
        let ascending = SortOptions::default();
        let fields = columns
            .iter()
            .map(|column| SortField::new_with_options(column.data_type().clone(), ascending));
        let converter = RowConverter::new(fields.collect()).unwrap();
        let keys = converter.convert_columns(&columns).unwrap();
        if !keys.iter().is_sorted() {
            found.push(file.path.clone());
        }
    }
    found
}
