//! `gridtally report completeness`

use super::print;
use crate::cli::selection::SelectionArgs;
use crate::error::{Error, Kind, Result};
use crate::report::completeness::{find, history, table};
use crate::report::lake::Lake;
use crate::report::render::TableFormat;

/// Find days that are missing: gaps, probes that fell silent, months that end early, levels that shift.
///
/// Every CE (cluster, where jobs name no CE) is judged by its own history: a day without a job is told where at least
/// three a day are usual, silence where it lasts twice as long as ever before while others still report, a shift where
/// core time per day changes by a factor of three between two fortnights.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
  Before a month is published:
    gridtally report completeness out --from 2026-03 --to 2026-03 --strict")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Fail (exit code 65) when anything is found.
    #[arg(long)]
    strict: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let lake = Lake::open(&args.lake)?;
    let selection = args.selection.of(&lake)?;
    if !selection.vos.is_empty() {
        return Err(Error::new(Kind::Usage, "completeness is judged by CE, whatever the VO"));
    }
    let found = find(&history(&lake, &selection)?, &selection);
    print(&table(&found), args.format)?;
    if args.strict && !found.is_empty() {
        return Err(Error::new(Kind::Data, format!("{} findings", found.len())));
    }
    Ok(())
}
