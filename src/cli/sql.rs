//! `gridtally sql`

use super::as_of::AsOfArgs;
use super::output;
use super::reading::reading;
use crate::error::{Error, Result};
use crate::schema::sql::DatasetFiles;
use crate::schema::{self, Dataset, sql};
use crate::store::Fact;
use crate::store::machinery::PUBLICATION_BOOKS;
use crate::store::{Manifest, StatePart, Store, lake};

/// Print the DuckDB views of a lake, for a lake at any path or URL.
///
/// The script opens this lake wherever it is called from: one view for each dataset, with comments on views and columns,
/// views of one account of hours (`usage_batch`, `usage_payload`, ...), charges of one unit (`charges_in`), and macros such as
/// `core_hours`. The script in the lake, gridtally.sql, is the same except for the path, which has to be set first.
///
/// Without --as-of the views name folders: they show what is published when they are read, and while a run publishes some files
/// before it and some after it. With --as-of they name files that are never changed: one state, for as long as the snapshot is
/// kept.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Open a lake in DuckDB:
    gridtally sql out > lake.sql
    duckdb -init lake.sql

  Open it as it was at the end of 3 May:
    gridtally sql out --as-of 2026-05-03 > may.sql

  A sum of charges is taken in one unit:
    duckdb -init lake.sql -c \"SELECT vo, sum(charge) FROM charges_in('core_hour') WHERE view = 'batch' GROUP BY ALL\"")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let (store, manifest) = Manifest::open(args.as_of.place(&args.lake)?)?;
    // Fallback: a lake of an earlier version records no name of its pipeline.
    let pipeline = manifest.facts.get(Fact::Pipeline).unwrap_or_default();
    let mut folders = Vec::new();
    for folder in ["runs"].into_iter().chain(PUBLICATION_BOOKS) {
        if !store.list(folder)?.is_empty() {
            folders.push(folder);
        }
    }
    let pages = pages_of(&store, &folders)?;
    let files = |dataset: &Dataset| {
        let is_there = folders.contains(&dataset.name.as_str()) || manifest.dataset(&dataset.name).next().is_some();
        if !is_there {
            return None;
        }
        if store.is_past() {
            return Some(DatasetFiles::List(past_files(&store, &manifest, &pages, dataset)));
        }
        Some(DatasetFiles::Pattern(match dataset.name.as_str() {
            "inputs" => lake::inputs_path(&manifest).to_owned(),
            _ => dataset.path.clone(),
        }))
    };
    let script = sql::script(pipeline, schema::lake_datasets()?, files);
    output::text(&sql::script_at(&root(&store)?, &script))
}

/// The paths below these folders.
fn pages_of(store: &Store, folders: &[&str]) -> Result<Vec<String>> {
    let mut pages = Vec::new();
    for folder in folders {
        pages.extend(store.list(folder)?.into_iter().map(|entry| entry.path));
    }
    Ok(pages)
}

/// Where the files of a dataset are that a lake had: names whose content does not change.
fn past_files(store: &Store, manifest: &Manifest, pages: &[String], dataset: &Dataset) -> Vec<String> {
    let folder = format!("{}/", dataset.name);
    let pages = pages
        .iter()
        .map(String::as_str)
        .filter(|path| path.starts_with(&folder));
    let files = manifest.dataset(&dataset.name).map(|file| file.path.as_str());
    let stored = files.chain(pages).filter_map(|path| store.stored(path));
    stored.map(str::to_owned).collect()
}

/// The place of a lake for DuckDB: an absolute path, or its URL.
fn root(store: &Store) -> Result<String> {
    let Some(folder) = store.local_root() else {
        return Ok(store.url().trim_end_matches('/').to_owned());
    };
    let whole = std::fs::canonicalize(folder).map_err(|e| Error::from(e).at("path", folder.display()))?;
    whole.to_str().map(str::to_owned).ok_or_else(|| {
        Error::config("the path of the lake is not UTF-8, and DuckDB takes no other").at("path", whole.display())
    })
}
