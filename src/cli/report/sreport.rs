//! `gridtally report sreport`

use super::print;
use crate::cli::output;
use crate::cli::selection::SelectionArgs;
use crate::error::Result;
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::report::sreport::{TimeUnit, report};

/// Print Slurm's familiar table: what accounts used of each TRES, by cluster.
///
/// The numbers are sreport's when the pipeline says `attribution = "prorated"`, which clips jobs to the period, and cuts
/// months in the zone of the cluster. The column has no lines per user: usage does not keep users apart.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
    gridtally report sreport out --from 2026-10 --to 2026-10 --time seconds")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Unit of the usage.
    #[arg(long, value_name = "UNIT", default_value = "minutes")]
    time: TimeUnit,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let lake = Lake::open(&args.lake)?;
    if lake
        .manifest
        .facts
        .get("attribution")
        .is_some_and(|how| how != "prorated")
    {
        output::people("the lake attributes jobs by their end: sreport would clip them to the period");
    }
    print(&report(&lake, &args.selection.selection()?, args.time)?, args.format)
}
