//! `gridtally verify`

use std::time::Duration;

use super::{ReportFormat, output};
use crate::error::{Error, Kind, Result};
use crate::pipeline::verify;

/// Verify published results: conservation, checksums, schema, no strays.
///
/// Nothing is changed. Damage is told and gives exit code 65. Beside a run, the state before it or after it is verified; a
/// state between the two is looked at again, and gives exit code 75 when it does not settle.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Verify a lake on the local disk:
    gridtally verify out

  Verify one in an object store, for a program:
    gridtally verify s3://accounting/zoo --report json")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    out: String,

    /// Format of the report on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    report: ReportFormat,

    /// Longest time to wait for a run that is publishing.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let report = verify::verify_beside(&args.out, Duration::from_secs(args.wait), output::people)?;
    match args.report {
        ReportFormat::Text => output::text(&report.text())?,
        ReportFormat::Json => output::json_line(&report)?,
    }
    if report.is_sound() {
        return Ok(());
    }
    Err(Error::new(
        Kind::Data,
        format!("{} does not verify: {} findings", report.output, report.findings.len()),
    ))
}
