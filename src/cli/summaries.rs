//! `gridtally summaries`

use super::failure::or_failure;
use super::formats::ReportFormat;
use super::output;
use super::reading::reading;
use crate::audit::summary_diff;
use crate::error::Result;
use crate::store::StatePart;

/// Compare what summaries come to by row and by publication, and name the rows that differ.
///
/// APEL's server replaces a summary when a later one has the same key, and never retracts one: a month that was
/// published again under another benchmark, VO spelling, submit host or site name counts twice there. By publication,
/// only the last file of a month counts. This reports both totals per source and month, and every stale row that makes
/// the difference. The source must state what a publication is.
///
/// Where sites sent their number of jobs (APEL's sync messages), it also reports every site, month and submit host of
/// which another number arrived, as records or in summaries.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Both totals of every month, and the stale rows:
    gridtally summaries out

  The stale rows as a table of your own:
    gridtally summaries out --report json | jq -r '.stale[] | [.month, .site, .job_n] | @tsv'")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    out: String,

    /// Format of the report on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    report: ReportFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let report = reading(&[&args.out], StatePart::Published, || summary_diff::report(&args.out));
    let report = or_failure(args.report, &args.out, report)?;
    match args.report {
        ReportFormat::Text => output::text(&report.text()),
        ReportFormat::Json => output::json_line(&report),
    }
}
