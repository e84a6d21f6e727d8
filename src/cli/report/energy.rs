//! `gridtally report energy`

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, SelectionArgs};
use crate::error::Result;
use crate::report::energy::{EnergyDigits, EnergyKey, gather, table};
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::store::StatePart;

/// Show energy and carbon of jobs: at the nodes, with the PUE of the site, operational and embodied, for each core hour and
/// HEPscore23 hour.
///
/// What is unknown is in no sum, and next to every sum is how much of the core time it is of. The classes are `exclusive`
/// (measured, on nodes that jobs had to themselves), `apportioned` (their part of what was measured of shared nodes), `node meter`
/// (their part of what the meters of their nodes counted), `modelled` (from the power of the type of their nodes) and unknown. Only
/// the view `batch` is reported.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  A quarter by month, site, VO and account:
    gridtally report energy out --from 2026-01 --to 2026-03

  The year of a site by VO, for a spreadsheet:
    gridtally report energy out --site OAK --from 2026-01 --to 2026-12 --group-by vo --format csv")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    /// What rows are distinguished by, between commas; month, site, vo and account if not given.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    group_by: Vec<EnergyKey>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let selection = args.selection.of(&lake, Finest::Day)?;
    let by = match args.group_by.as_slice() {
        [] => &EnergyKey::USUAL,
        chosen => chosen,
    };
    print(
        &table(&gather(&lake, &selection, by)?, by, EnergyDigits::Report)?,
        args.format,
    )
}
