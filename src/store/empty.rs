//! Datasets without rows: their columns in a file of no rows, so that whoever opens the folder finds the schema.
//!
//! Such a file is in the dataset's own folder, where no partition is, and so it holds the columns of the path as well.
//! It goes when the first rows come. The manifest counts it to no dataset.

use std::sync::Arc;

use arrow_schema::Schema;

use super::machinery::PUBLICATION_BOOKS;
use super::publish::Publication;
use super::table::{SCHEMA_VERSION_KEY, TableWriter};
use super::table_form::TableOptions;
use crate::error::Result;
use crate::schema::Dataset;

/// The run such a file belongs to by the manifest.
const EMPTY: &str = "empty";

/// Adds such a file for each dataset that will hold nothing, and takes it away from the others, and from those that are no part of
/// the lake any more.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be staged.
pub fn publish(publication: &Publication, datasets: &[Dataset]) -> Result<()> {
    let former = publication.published().into_iter();
    for file in former.flat_map(|manifest| manifest.dataset(EMPTY)) {
        if !datasets.iter().any(|dataset| path(dataset) == file.path) {
            publication.remove(&file.path);
        }
    }
    let mut missing = Vec::new();
    for dataset in datasets {
        // These datasets are written outside the manifest, and their readers take every file in the folder for one of them.
        if dataset.name == "runs" || PUBLICATION_BOOKS.contains(&dataset.name.as_str()) {
            continue;
        }
        let path = path(dataset);
        if publication.will_hold(&dataset.name) {
            publication.remove(&path);
            continue;
        }
        let was = publication.published().and_then(|manifest| manifest.file(&path));
        if was.is_some_and(|file| file.schema_version == dataset.version) {
            continue;
        }
        missing.push(dataset);
    }
    publication
        .store()
        .for_each(&missing, |dataset| write(publication, dataset, &path(dataset)))
}

/// The path of the file.
fn path(dataset: &Dataset) -> String {
    let folder = dataset.path.split('/').next().unwrap_or(&dataset.name);
    format!("{folder}/{EMPTY}.parquet")
}

fn write(publication: &Publication, dataset: &Dataset, path: &str) -> Result<()> {
    let staged = publication.stage(path, EMPTY, dataset.version)?;
    let options = TableOptions::default();
    let mut writer = TableWriter::create(staged, Arc::new(schema(dataset)), &options)?;
    writer.note(SCHEMA_VERSION_KEY, &dataset.version.to_string());
    let (rows, staged) = writer.finish()?;
    publication.add(staged.finish(rows)?)
}

/// Its columns, and behind them those the path of a file with rows holds.
fn schema(dataset: &Dataset) -> Schema {
    let columns = dataset.arrow();
    let path = dataset.partition.iter().map(crate::schema::dataset::field);
    let fields: Vec<_> = columns
        .fields()
        .iter()
        .map(|field| field.as_ref().clone())
        .chain(path)
        .collect();
    Schema::new_with_metadata(fields, columns.metadata().clone())
}
