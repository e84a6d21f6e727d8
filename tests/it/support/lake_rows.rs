//! What a lake holds.

use arrow::array::RecordBatch;
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
