//! `gridtally report node-energy`

use std::path::{Path, PathBuf};

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::reading::reading;
use crate::cli::selection::SiteArgs;
use crate::diagnostics::Problems;
use crate::error::Result;
use crate::reference::energy::NodeMeterTable;
use crate::report::lake::{Lake, Selection};
use crate::report::node_energy::{gather, published, table};
use crate::report::render::TableFormat;
use crate::store::StatePart;

/// What became of the energy of nodes, month by month: what their meters counted, by what their cores did.
///
/// The joules of a meter are spread evenly over the time between its readings, and those of each day over what jobs were given, what
/// still could have run (overhead), what was of no use to the canonical unit (stranded), and what was down or reserved, by core time.
/// The parts add up to the meter exactly. Of what jobs were given, `jobs_cpu_j` is the part of their CPU time and `idle_j` the rest. `borne_by_jobs_j` is the part that jobs bear under the billing of the pipeline; the rest is
/// the provider's. The pipeline of the lake needs `[overhead]`, and `meters` in `[energy]` unless
/// `--meters` names a table.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
  What the meters of the pipeline counted, for a spreadsheet:
    gridtally report node-energy out --format csv > node-energy.csv
  A table of meters that no run has read:
    gridtally report node-energy out --meters meters.csv")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    sites: SiteArgs,

    /// Table of what meters counted, `node,valid_from,valid_to,joules`, in place of that of the pipeline.
    #[arg(long, value_name = "CSV")]
    meters: Option<PathBuf>,

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
    let meters = args.meters.as_deref().map(meters).transpose()?;
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let selection = Selection {
        sites: args.sites.names(),
        ..Selection::default()
    };
    let unit = args.canonical_unit.as_deref();
    let rows = match meters {
        Some(meters) => gather(&lake, &selection, &meters, unit)?,
        None => published(&lake, &selection, unit)?,
    };
    print(&table(&rows)?, args.format)
}

fn meters(path: &Path) -> Result<NodeMeterTable> {
    let mut problems = Problems::default();
    let meters = NodeMeterTable::load(path, &path.to_string_lossy(), &mut problems);
    problems.finish()?;
    Ok(meters)
}
