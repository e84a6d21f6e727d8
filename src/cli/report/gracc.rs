//! `gridtally report gracc`

use crate::cli::output;
use crate::cli::selection::SelectionArgs;
use crate::error::Result;
use crate::report::gracc::documents;
use crate::report::lake::Lake;

/// Write GRACC's daily summary documents, one to a line.
///
/// By UTC day of the end, VO, project, subject, processors, GPUs, resource type, exit code, grid, probe and site. Resource
/// types (Batch, Payload, Storage) tell of the same hours: never add them up.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
    gridtally report gracc out --from 2026-03 --to 2026-03 > summary-2026.03.ndjson")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    selection: SelectionArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let lake = Lake::open(&args.lake)?;
    documents(&lake, &args.selection.selection()?, output::text).map(drop)
}
