//! Forgeries: what somebody could write who may write the whole lake.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_select::concat::concat_batches;
use gridtally::schema;
use gridtally::store::{FileEntry, Manifest, Seal, Store, TableOptions, TableWriter, footer, read_table};

/// A text of JSON that ends with its hash, changed, with the hash of its content now.
pub(crate) fn with_own_hash(text: &str, change: impl FnOnce(&str) -> String) -> String {
    let (body, _) = text.rsplit_once("  \"blake3\": \"").expect("it ends with its hash");
    let body = change(body);
    let hash = blake3::hash(body.as_bytes()).to_hex();
    format!("{body}  \"blake3\": \"{hash}\"\n}}\n")
}

/// The rows of a published table.
pub(crate) fn rows(file: &Path) -> RecordBatch {
    let batches: Vec<_> = read_table(File::open(file).unwrap(), None, 8192)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

/// A table of these rows, with the schema of a dataset where it is of one.
pub(crate) fn table(dataset: Option<&str>, batch: &RecordBatch, footer: Vec<(String, String)>) -> Vec<u8> {
    let schema = dataset.map_or_else(|| batch.schema(), |name| schema::dataset(name).unwrap().arrow());
    let options = TableOptions {
        footer,
        ..TableOptions::default()
    };
    let mut table = TableWriter::create(Vec::new(), schema, &options).unwrap();
    table.write(batch).unwrap();
    table.finish().unwrap().1
}

/// Writes other rows into a published table, and everything that vouches for it again: the manifest, its seal and a run.
pub(crate) fn forge_rows(lake: &Path, path: &str, change: impl Fn(RecordBatch) -> RecordBatch) {
    let file = lake.join(path);
    let batch = change(rows(&file));
    let dataset = path.split('/').next();
    let bytes = table(dataset, &batch, footer(&File::open(&file).unwrap()).unwrap());
    fs::write(&file, &bytes).unwrap();
    forge_manifest(lake, |manifest| {
        let old = manifest.file(path).unwrap().clone();
        manifest.insert(FileEntry {
            bytes: u64::try_from(bytes.len()).unwrap(),
            blake3: blake3::hash(&bytes).to_hex().to_string(),
            rows: u64::try_from(batch.num_rows()).unwrap(),
            ..old
        });
    });
}

/// Changes a manifest, as if a run had made it so.
pub(crate) fn forge_manifest(lake: &Path, change: impl FnOnce(&mut Manifest)) {
    let store = Store::open_existing(lake.to_str().unwrap()).unwrap();
    let mut manifest = Manifest::load(&store).unwrap().unwrap();
    change(&mut manifest);
    fs::write(lake.join("manifest.json"), manifest.to_text().unwrap()).unwrap();
    vouch(lake, &manifest);
}

/// Seals a manifest, with a run that made it.
fn vouch(lake: &Path, manifest: &Manifest) {
    let store = Store::open_existing(lake.to_str().unwrap()).unwrap();
    let mut seal = Seal::load(&store).unwrap().unwrap();
    seal.manifest_blake3 = manifest.blake3().unwrap();
    if let Some(last) = store.pages("runs").unwrap().last() {
        let run = rows(&lake.join(last));
        let made: ArrayRef = Arc::new(StringArray::from(vec![seal.manifest_blake3.as_str()]));
        let schema = run.schema();
        let columns = schema.fields().iter().zip(run.columns()).map(|(field, column)| {
            if field.name() == "manifest_blake3" {
                made.clone()
            } else {
                Arc::clone(column)
            }
        });
        let run = RecordBatch::try_new(run.schema(), columns.collect()).unwrap();
        let path = format!("runs/forged-{}.parquet", seal.head("runs").page_n);
        let page = table(Some("runs"), &run, seal.footer(&path));
        fs::write(lake.join(&path), &page).unwrap();
        seal.turn(&path, &page.into());
    }
    fs::write(lake.join("seal.json"), seal.to_text().unwrap()).unwrap();
}

/// Copies a lake, but for its lock.
pub(crate) fn copy_lake(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.path().is_dir() && entry.file_name() != ".gridtally" {
            copy_lake(&entry.path(), &place);
        } else if entry.path().is_file() {
            fs::copy(entry.path(), place).unwrap();
        }
    }
}

/// Puts the books of publications of another lake into a lake, sealed.
pub(crate) fn carry_books(from: &Path, to: &Path) {
    let seal_of = |lake: &Path| Seal::load(&Store::open_existing(lake.to_str().unwrap()).unwrap());
    let (theirs, mut seal) = (seal_of(from).unwrap().unwrap(), seal_of(to).unwrap().unwrap());
    for book in ["publication", "publication_job"] {
        if from.join(book).exists() {
            copy_lake(&from.join(book), &to.join(book));
        }
        seal.books.insert(book.to_owned(), theirs.head(book));
    }
    fs::write(to.join("seal.json"), seal.to_text().unwrap()).unwrap();
}
