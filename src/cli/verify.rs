//! `gridtally verify`

use tracing::info;

use super::as_of::AsOfArgs;
use super::failure::or_failure;
use super::formats::ReportFormat;
use super::output;
use super::wait::WaitArgs;
use crate::audit::verify;
use crate::error::{Error, Kind, Result};
use crate::store::Store;

/// Verify published results: conservation, checksums, schema, no strays.
///
/// Every file is there, is of its schema, and has the bytes that the manifest states; the manifest and the books are those of
/// the seal; every row of input has one outcome. Computed again and compared row by row: `usage_part` and `job_charges` from
/// `records`, `summary`, `corrections` and `policy`; `charge_part` from `job_charges`; `usage` and `charges` from their parts;
/// `corrections` from `usage_part` and what was signed. Shares of nodes among the charges are compared as sums.
///
/// Snapshots are checked as well: each is what was written, and every file that it needs is there with its bytes; with --as-of
/// one of them is verified as the lake is.
///
/// No check of a lake alone can find what is wrong with `records`, `summary`, the benchmarks applied and the listings of the
/// machine themselves: a run from the same inputs into another folder does. Nor can it find that a whole lake was put back as it
/// was, or rebuilt with all its books: a head that was kept elsewhere does (--head).
///
/// Nothing is changed. As JSON the report is one line, also where there is no lake. Damage is reported and gives exit code 65.
/// While a run publishes, the state before it or after it is verified; a state between the two is looked at again, and gives exit code
/// 75 when it does not settle, or when a run was cut off while it published and nothing else is wrong: the next run finishes it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Verify a lake on the local disk:
    gridtally verify out

  Verify one in an object store, for a program:
    gridtally verify s3://accounting/zoo --report json

  Hold one against a head that a run printed, kept outside of the lake:
    gridtally verify out --head 0f3c...")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    out: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    /// Format of the report on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    report: ReportFormat,

    /// A head that a run, a publication or a lock of a month printed: a page of a book has to have it. May be repeated.
    #[arg(long = "head", value_name = "BLAKE3")]
    heads: Vec<String>,

    #[command(flatten)]
    wait: WaitArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let report = args
        .as_of
        .place(&args.out)
        .and_then(|place| verify::verify_during_runs(place, &args.heads, args.wait.or(60), |line| info!("{line}")));
    let report = or_failure(args.report, &args.out, report)?;
    match args.report {
        ReportFormat::Text => output::text(&report.text())?,
        ReportFormat::Json => output::json_line(&report)?,
    }
    if report.is_sound() {
        return Ok(());
    }
    if report.is_cut_off() {
        return Err(Store::open_existing(&args.out)?.cut_off());
    }
    let cut_off = if report.unfinished_n > 0 {
        "; its last commit was cut off (.gridtally/journal.json), which the next run finishes"
    } else {
        ""
    };
    let (lake, finding_n) = (&report.output, report.findings.len());
    let message = format!("{lake} does not verify: {finding_n} findings{cut_off}");
    Err(Error::new(Kind::Data, message))
}
