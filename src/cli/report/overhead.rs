//! `gridtally report overhead`

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::cli::selection::SiteArgs;
use crate::error::{Error, Kind, Result};
use crate::report::overhead;
use crate::report::overhead::one::OverheadTable;
use crate::report::render::{TableFormat, json, ndjson};
use crate::store::StatePart;

/// What the nodes could still have run: the ledger of their capacity, how many canonical units were free for how long,
/// nodes and days with the most overhead, the shapes that were free, and contradictory records.
///
/// The pipeline of the lake needs `[overhead]`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Tables for a terminal:
    gridtally report overhead out

  A page with drawings, one file that needs no network:
    gridtally report overhead out --format html > overhead.html

  What became of the capacity of each resource, for a spreadsheet:
    gridtally report overhead out --table ledger --format csv > ledger.csv")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    sites: SiteArgs,

    /// One table alone, of all clusters and units.
    #[arg(long, value_name = "TABLE")]
    table: Option<OverheadTable>,

    /// Format on stdout. Only one --table goes into CSV or Parquet: each has columns of its own.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let overhead = overhead::read(args.as_of.place(&args.lake)?, &args.sites.names())?;
    if let Some(table) = args.table {
        return print(&overhead.table(table), args.format);
    }
    match args.format {
        TableFormat::Table => output::text(&overhead.text()?),
        TableFormat::Markdown => output::text(&overhead.markdown()?),
        TableFormat::Html => output::text(&overhead.html()?),
        TableFormat::Json => output::text(&json(&overhead.objects()?)),
        TableFormat::Ndjson => output::text(&ndjson(&overhead.objects()?)),
        TableFormat::Csv | TableFormat::Parquet => {
            let message = "the tables have different columns: select one by --table (see --help)";
            Err(Error::new(Kind::Usage, message))
        }
    }
}
