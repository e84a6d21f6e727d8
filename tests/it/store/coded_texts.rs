//! Texts that are read as codes.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use gridtally::schema::batch::{decoded, is_coded};
use gridtally::store::table::ROW_GROUP_ROWS;
use gridtally::store::{TableRows, read_rows};

use super::columns::written;
use super::memory;

#[test]
fn texts_come_back_as_the_codes_they_are_stored_as() {
    let n = ROW_GROUP_ROWS + 10;
    let word: StringArray = (0..n)
        .map(|i| [Some("batch"), None, Some("pilot")][i * i % 3])
        .collect();
    let name: StringArray = (0..n).map(|i| Some(format!("job-{i}"))).collect();
    let none = arrow_array::new_null_array(&DataType::Utf8, n);
    // Of the second row group nothing is a code.
    let late: StringArray = (0..n).map(|i| (i < ROW_GROUP_ROWS).then_some("ce")).collect();
    let columns: [(&str, ArrayRef); 4] = [
        ("word", Arc::new(word)),
        ("name", Arc::new(name)),
        ("none", none),
        ("late", Arc::new(late)),
    ];
    let fields = columns.iter().map(|(name, _)| Field::new(*name, DataType::Utf8, true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, array)| Arc::clone(array)).collect();
    let batch = RecordBatch::try_new(schema, arrays).unwrap();
    let bytes = written(&batch.schema(), std::slice::from_ref(&batch));
    let store = memory();
    store.put("t.parquet", bytes.into()).unwrap();
    let wanted = TableRows {
        batch_rows: ROW_GROUP_ROWS / 8,
        are_texts_coded: true,
        ..TableRows::default()
    };
    let mut from = 0;
    for found in read_rows(store.reader("t.parquet").unwrap(), &wanted).unwrap() {
        let found = found.unwrap();
        let are_coded = found.columns().iter().map(|array| is_coded(array.data_type()));
        assert_eq!(are_coded.collect::<Vec<_>>(), [true, false, false, false]);
        let same = batch.slice(from, found.num_rows());
        assert!(decoded(&found).unwrap().columns() == same.columns());
        from += found.num_rows();
    }
    assert_eq!(from, n);
}
