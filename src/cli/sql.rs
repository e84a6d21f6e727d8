//! `gridtally sql`

use super::output;
use super::reading::reading;
use crate::error::{Error, Result};
use crate::schema::{self, Dataset, sql};
use crate::store::Fact;
use crate::store::machinery::PUBLICATION_BOOKS;
use crate::store::{Manifest, StatePart, Store, lake};

/// Print the DuckDB views of a lake, for a lake at any path or URL.
///
/// The script opens this lake wherever it is called from: one view for each dataset, with comments on views and columns,
/// views of one account of hours (`usage_batch`, `usage_payload`, ...), charges of one unit (`charges_in`), and macros such as
/// `core_hours`. The script in the lake, gridtally.sql, is the same except for the path, which has to be set first.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Open a lake in DuckDB:
    gridtally sql out > lake.sql
    duckdb -init lake.sql

  A sum of charges is taken in one unit:
    duckdb -init lake.sql -c \"SELECT vo, sum(charge) FROM charges_in('core_hour') WHERE view = 'batch' GROUP BY ALL\"")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[&args.lake], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let (store, manifest) = Manifest::open(&args.lake)?;
    // Fallback: a lake of an earlier version records no name of its pipeline.
    let pipeline = manifest.facts.get(Fact::Pipeline).unwrap_or_default();
    let mut folders = Vec::new();
    for folder in ["runs"].into_iter().chain(PUBLICATION_BOOKS) {
        if !store.list(folder)?.is_empty() {
            folders.push(folder);
        }
    }
    let files = |dataset: &Dataset| {
        let is_there = folders.contains(&dataset.name.as_str()) || manifest.dataset(&dataset.name).next().is_some();
        is_there.then(|| match dataset.name.as_str() {
            "inputs" => lake::inputs_path(&manifest).to_owned(),
            _ => dataset.path.clone(),
        })
    };
    let script = sql::script(pipeline, schema::datasets()?, files);
    output::text(&sql::script_at(&root(&store)?, &script))
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
