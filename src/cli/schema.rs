//! `gridtally schema`

use super::output;
use crate::error::Result;
use crate::report::render::TableFormat;
use crate::schema::{self, render};

/// Show the columns of the datasets: type, unit, meaning, origin.
///
/// Without a dataset, all of them are shown.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  All columns of the published usage:
    gridtally schema usage

  The same for a program:
    gridtally schema usage --format json")]
pub(super) struct Args {
    /// The dataset, such as `usage`.
    dataset: Option<String>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "markdown", value_parser = super::formats::only(FORMATS))]
    format: TableFormat,
}

/// What schemas are printed in.
const FORMATS: &[TableFormat] = &[TableFormat::Markdown, TableFormat::Json];

pub(super) fn run(args: &Args) -> Result<()> {
    let one;
    let datasets = match &args.dataset {
        Some(name) => {
            one = [schema::dataset(name)?.clone()];
            &one[..]
        }
        None => schema::datasets()?,
    };
    match args.format {
        TableFormat::Json => match (args.dataset.is_some(), datasets) {
            (true, [dataset]) => output::json(&render::json(dataset)),
            _ => output::json(&datasets.iter().map(render::json).collect::<Vec<_>>()),
        },
        // What else there is was refused with the command line.
        _ => output::text(&datasets.iter().map(render::markdown).collect::<Vec<_>>().join("\n")),
    }
}
