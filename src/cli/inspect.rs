//! `gridtally inspect`

use super::progress::Terminal;
use super::{ReportFormat, output};
use crate::error::{Error, Kind, Result};
use crate::inspect;
use crate::pipeline::Progress;

/// Tell what a file is: dialect, version, rows, period, problems.
///
/// Reads all of each file as a run would, counts every row, and proposes a `[[source]]` for the pipeline file. What
/// packs a file (gzip, zstd, bzip2, xz) and what it speaks are recognised from its content. Times without an offset
/// are counted as if they were UTC. A file that cannot be read to its end gives exit code 65.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  gridtally inspect sacct-2026-03.txt.xz

  Of many files, those that nothing is known about:
    gridtally inspect --format json spool/* | jq -r '.[] | select(.dialect == null) | .path'")]
pub(super) struct Args {
    /// The files.
    #[arg(required = true)]
    file: Vec<String>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ReportFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let progress = Terminal::new();
    let mut reports = Vec::new();
    let mut failed: Option<Error> = None;
    let mut damaged = Vec::new();
    for (nth, file) in args.file.iter().enumerate() {
        progress.begin(file, 0, "rows");
        let report = inspect::local(file).and_then(|input| inspect::inspect(&input, &progress));
        progress.end();
        if let Ok(report) = &report
            && report.failure.is_some()
        {
            damaged.push(report.path.clone());
        }
        match report {
            Ok(report) if args.format == ReportFormat::Text => {
                let gap = if nth > 0 { "\n" } else { "" };
                output::text(&format!("{gap}{}", report.text()))?;
            }
            Ok(report) => reports.push(report),
            // The other files are still worth a look; the last error is told at the end.
            Err(why) => {
                if let Some(earlier) = failed.replace(why) {
                    output::people(&format!("gridtally: {earlier}"));
                }
            }
        }
    }
    if args.format == ReportFormat::Json {
        output::json(&reports)?;
    }
    if failed.is_none() && !damaged.is_empty() {
        let message = format!("not readable to the end: {}", damaged.join(", "));
        return Err(Error::new(Kind::Data, message));
    }
    failed.map_or(Ok(()), Err)
}
