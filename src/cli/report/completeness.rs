//! `gridtally report completeness`

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, SelectionArgs};
use crate::error::{Error, Kind, Result};
use crate::report::completeness::{find, history, local_day, table};
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::runtime::clock;
use crate::store::StatePart;
use crate::time::Day;
use crate::time::month::day_of;

/// Find days that are missing: gaps, probes that fell silent, months that end early, levels that shift.
///
/// Every CE (cluster, where jobs name no CE) is judged by its own history: a day without a job is reported where at least
/// three a day are usual, silence where it lasts twice as long as ever before while others still report, a shift where
/// core time per day changes by a factor of three between two fortnights. Days are those of the lake's zone.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Each morning, to hear of dumps that did not come:
    gridtally report completeness out --until today --strict

  Before a month is published:
    gridtally report completeness out --from 2026-03 --to 2026-03 --strict")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Day until which jobs are expected, included: YYYY-MM-DD, or `today` for yesterday, the last whole day. Silence up to
    /// then is reported however short it is, where it is longer than pauses usually are; of a CE with fewer than three jobs a
    /// day where it is more than twice as long as ever.
    #[arg(long, value_name = "DAY", value_parser = until)]
    until: Option<Until>,

    /// Fail (exit code 65) when there is a finding.
    #[arg(long)]
    strict: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

/// Until when jobs are expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// Until yesterday.
    Today,
    /// Until this day.
    Day(Day),
}

fn until(text: &str) -> Result<Until, String> {
    if text == "today" {
        return Ok(Until::Today);
    }
    let date = text
        .parse()
        .map_err(|_| format!("{text:?} is neither a day such as 2026-10-31 nor `today`"))?;
    Ok(Until::Day(day_of(date)))
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let selection = args.selection.of(&lake, Finest::Day)?;
    if !selection.vos.is_empty() {
        return Err(Error::new(Kind::Usage, "completeness is judged by CE, whatever the VO"));
    }
    let until = match args.until {
        // Fallback: the first day of all has no day before it.
        Some(Until::Today) => Some(local_day(&lake.zone()?, clock::now_ms()).saturating_sub(1)),
        Some(Until::Day(day)) => Some(day),
        None => None,
    };
    let found = find(&history(&lake, &selection)?, &selection, until);
    print(&table(&found), args.format)?;
    if args.strict && !found.is_empty() {
        return Err(Error::new(Kind::Data, format!("{} findings", found.len())));
    }
    Ok(())
}
