//! `gridtally report node-energy`

use std::path::PathBuf;

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::reading::reading;
use crate::cli::selection::SiteArgs;
use crate::diagnostics::Problems;
use crate::error::Result;
use crate::reference::energy::NodeMeterTable;
use crate::report::lake::{Lake, Selection};
use crate::report::node_energy::{gather, table};
use crate::report::render::TableFormat;
use crate::store::StatePart;

/// What became of the energy of nodes, month by month: what their meters counted, by what their cores did.
///
/// The joules of a meter are spread evenly over the time between its readings, and those of each day over what jobs were given, what
/// still could have run (overhead), what was of no use to the canonical unit (stranded), and what was down or reserved, by core time.
/// The parts add up to the meter exactly. `borne_by_jobs_j` is the part that jobs bear under the billing of the pipeline; the rest is
/// the provider's. The pipeline of the lake needs `[overhead]`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
  The meters of a month, for a spreadsheet:
    gridtally report node-energy out --meters meters.csv --format csv > node-energy.csv")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    sites: SiteArgs,

    /// Table of what meters counted: `node,valid_from,valid_to,joules`.
    #[arg(long, value_name = "CSV")]
    meters: PathBuf,

    /// Canonical unit by which overhead and stranded are distinguished; may be left out where the lake has one.
    #[arg(long, value_name = "NAME")]
    canonical_unit: Option<String>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let mut problems = Problems::default();
    let meters = NodeMeterTable::load(&args.meters, &args.meters.to_string_lossy(), &mut problems);
    problems.finish()?;
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let selection = Selection {
        sites: args.sites.names(),
        ..Selection::default()
    };
    print(
        &table(&gather(&lake, &selection, &meters, args.canonical_unit.as_deref())?)?,
        args.format,
    )
}
