//! `gridtally report overhead`

use crate::cli::output;
use crate::error::Result;
use crate::report::overhead;

/// What the nodes could still have run: the ledger of their capacity, how many canonical units were free for how long,
/// nodes and days with the most overhead, the shapes that stood free, and what cannot be.
///
/// The pipeline of the lake needs `[overhead]`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Tables for a terminal:
    gridtally report overhead out

  A page with drawings, one file that needs no network:
    gridtally report overhead out --format html > overhead.html")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    /// Only this site.
    #[arg(long, value_name = "SITE")]
    site: Option<String>,

    /// Form of the report on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// How the report is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Tables for a terminal.
    Text,
    /// A page with drawings.
    Html,
    /// A line of JSON for every row of every table.
    Json,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let overhead = overhead::read(&args.lake, args.site.as_deref())?;
    match args.format {
        Format::Text => output::text(&overhead.text()),
        Format::Html => output::text(&overhead.html()?),
        Format::Json => output::text(&overhead.json()?),
    }
}
