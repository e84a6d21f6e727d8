//! `gridtally report greendigit`

use tracing::warn;

use crate::cli::as_of::AsOfArgs;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, SelectionArgs};
use crate::error::Result;
use crate::report::greendigit::export;
use crate::report::lake::Lake;
use crate::report::render::{ndjson, objects};
use crate::store::StatePart;

/// Write jobs with energy and carbon in the fields of `GreenDIGIT`'s records, one document to a line.
///
/// Each job that ended in the days requested (UTC), with the fields of `fact_site_event` and `detail_grid`. What is unknown is null,
/// never zero. The owner is the VO; `work` and `tdp_w` have no figure in a lake. Only the view `batch` is written. Corrections are
/// applied; what they add has no job: it is left out and reported on stderr.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
  The jobs of a month:
    gridtally report greendigit out --from 2026-03 --to 2026-03 > events-2026-03.ndjson")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    selection: SelectionArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let selection = args.selection.of(&lake, Finest::Day)?;
    let left_out = export(&lake, &selection, &mut |table| output::text(&ndjson(&objects(table)?)))?;
    for line in left_out {
        warn!("{line}");
    }
    Ok(())
}
