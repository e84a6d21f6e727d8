//! `gridtally diff`

use tracing::info;

use super::report::print::print;
use crate::audit::snapshot_diff;
use crate::error::{Error, Kind, Result};
use crate::lake::moment::LakeMoment;
use crate::report::render::TableFormat;

/// Compare a lake with itself: which cells of `usage` and `charges` changed between two snapshots, and what changed them.
///
/// A cell is a site, VO and month, of one view, and of charges one policy and unit; a row is one measure of it, before and after:
/// each column that is added up. Where corrections changed and the sums did not, as when usage moves between accounts of a VO, the
/// row is that of `job_n`.
/// `runs` are those that changed the cell; `inputs` the files that came in between and have rows of the site filed in its month or
/// the one before; `corrections` those whose entries in it changed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  What the last run changed, where the one before it is snapshot 41:
    gridtally diff out 41 latest

  What changed since the bill was written:
    gridtally diff out billed-2026-04 latest --format csv > changed.csv

A moment is a day (2026-05-03, at its end), a time, a run, the number of a snapshot, a tag, or latest.")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    /// The earlier state.
    #[arg(value_name = "BEFORE")]
    before: LakeMoment,

    /// The later state.
    #[arg(value_name = "AFTER")]
    after: LakeMoment,

    /// Fail (exit code 65) when there is a finding: a difference.
    #[arg(long)]
    strict: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let (before, after) = (args.before.find(&args.lake)?, args.after.find(&args.lake)?);
    let found = snapshot_diff::diff(&args.lake, &before, &after)?;
    print(&found.table, args.format)?;
    if found.missing_n > 0 {
        info!(
            "{} runs in between have no snapshot: what they changed is listed for the next run that has one",
            found.missing_n
        );
    }
    let reported = format!(
        "{} cells differ, by {} snapshots and {} new input files",
        found.cell_n, found.run_n, found.input_n
    );
    if args.strict && found.cell_n > 0 {
        return Err(Error::new(Kind::Data, reported));
    }
    info!("{reported}");
    Ok(())
}
