//! Codes of every width, in groups that are full and in a last one that is not.

use std::sync::Arc;

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use gridtally::store::read_table;

use super::columns::written;
use super::memory;

/// A column of so many texts, which come again in no order.
fn texts(entry_n: usize, row_n: usize) -> RecordBatch {
    let entry = |row: usize| match row {
        // First each once, so that codes are as wide as they become on the first page that has them all.
        row if row < entry_n => row,
        row => row * 7_919 % entry_n,
    };
    let texts = StringArray::from_iter_values((0..row_n).map(|row| format!("t{}", entry(row))));
    let field = Field::new("text", DataType::Utf8, false);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(texts)]).unwrap()
}

#[test]
fn codes_of_every_width_come_back() {
    let store = memory();
    for width in 0..=17_u32 {
        let entry_n = (1 << width) - usize::from(width > 1);
        for spare in [0, 1, 3, 7] {
            let batch = texts(entry_n, 3 * entry_n.next_multiple_of(8) + spare);
            let bytes = written(&batch.schema(), std::slice::from_ref(&batch));
            store.put("t.parquet", bytes.into()).unwrap();
            let read = read_table(store.reader("t.parquet").unwrap(), None, 1 << 20).unwrap();
            let read: Vec<RecordBatch> = read.map(Result::unwrap).collect();
            let read = arrow_select::concat::concat_batches(&batch.schema(), &read).unwrap();
            assert!(
                read.columns() == batch.columns(),
                "{width} bits, {spare} behind the last group"
            );
        }
    }
}
