//! `gridtally report sreport`

use super::print;
use crate::cli::output;
use crate::cli::selection::SelectionArgs;
use crate::error::Result;
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::report::sreport::users::by_user;
use crate::report::sreport::{TimeUnit, report};

/// Print Slurm's familiar table: what accounts used of each TRES, by cluster.
///
/// The numbers are sreport's when the pipeline says `attribution = "prorated"`, which clips jobs to the period, and cuts
/// months in the zone of the cluster. With --users they are read from the records, clipped whatever the attribution, and
/// lines of accounts hold those below them where listings of associations tell the tree. What no job says, as APEL's say
/// nothing of GPUs, is left empty.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
    gridtally report sreport out --from 2026-10 --to 2026-10 --time seconds --users")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Unit of the usage.
    #[arg(long, value_name = "UNIT", default_value = "minutes")]
    time: TimeUnit,

    /// A line for each user of an account, as `sreport cluster AccountUtilizationByUser` prints them.
    #[arg(long)]
    users: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let lake = Lake::open(&args.lake)?;
    let selection = args.selection.selection()?;
    if args.users {
        return print(&by_user(&lake, &selection, args.time)?, args.format);
    }
    if lake
        .manifest
        .facts
        .get("attribution")
        .is_some_and(|how| how != "prorated")
    {
        output::people("the lake attributes jobs by their end: sreport would clip them to the period");
    }
    print(&report(&lake, &selection, args.time)?, args.format)
}
