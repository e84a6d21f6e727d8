//! What a lake holds.

use arrow_array::RecordBatch;
use gridtally::record::{Summary, SummaryNumbers, SummaryWords};
use gridtally::store::{Manifest, Store, read_table};

/// The rows of a dataset of the lake at `out`.
pub(crate) fn lake_rows(out: &str, dataset: &str) -> Vec<RecordBatch> {
    let store = Store::open_existing(out).unwrap();
    let manifest = Manifest::load(&store).unwrap().unwrap();
    let files = manifest.dataset(dataset);
    files
        .flat_map(|file| read_table(store.reader(&file.path).unwrap(), None, 8192).unwrap())
        .map(Result::unwrap)
        .collect()
}

/// A number of a summary, by its column.
pub(crate) fn summary_number(row: &Summary, column: &str) -> Option<i64> {
    let of = SummaryNumbers::column(column).unwrap_or_else(|| panic!("no number of summaries is called {column}"));
    *of(&row.numbers)
}

/// A word of a summary, by its column.
pub(crate) fn summary_word<'a>(row: &'a Summary, column: &str) -> Option<&'a str> {
    let of = SummaryWords::column(column).unwrap_or_else(|| panic!("no word of summaries is called {column}"));
    of(&row.words).as_deref()
}
