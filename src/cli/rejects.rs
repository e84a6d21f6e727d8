//! `gridtally rejects`

use super::output;
use super::reading::reading;
use crate::audit::rejects::{RejectFilter, summarise};
use crate::error::{Error, Kind, Result};
use crate::ledger::{Outcome, Reason};
use crate::report::render::TableFormat;
use crate::store::StatePart;

/// Sum up what was refused: how many rows, in which files, why, with examples.
///
/// Rows that were mended (see `gridtally replay`) are distinguished from those that are still refused.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  What was refused, with three examples for each file and reason:
    gridtally rejects out

  The bad times of one source, for a spreadsheet:
    gridtally rejects out --source alp-slurm --reason bad_time --format csv

  What the reason codes mean:
    gridtally rejects --reasons")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    #[arg(required_unless_present = "reasons")]
    out: Option<String>,

    /// Only this source.
    #[arg(long, value_name = "NAME")]
    source: Option<String>,

    /// Only this reason code; may be given several times.
    #[arg(long, value_name = "CODE", value_parser = reason)]
    reason: Vec<Reason>,

    /// Examples for each file and reason.
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,

    /// Format on stdout; CSV shows one example at most.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::formats::only(super::formats::PLAIN))]
    format: TableFormat,

    /// List the reason codes and what they mean, and do nothing else.
    #[arg(long)]
    reasons: bool,
}

/// A reason for refusal, by its code.
pub(super) fn reason(code: &str) -> Result<Reason, String> {
    let refusals = || {
        Reason::ALL
            .iter()
            .filter(|reason| reason.outcome() == Outcome::Rejected)
    };
    refusals().find(|reason| reason.code() == code).copied().ok_or_else(|| {
        let codes: Vec<&str> = refusals().map(|reason| reason.code()).collect();
        format!("no reason for refusal; known are {}", codes.join(", "))
    })
}

pub(super) fn run(args: &Args) -> Result<()> {
    if args.reasons {
        let lines = Reason::ALL.iter().map(|reason| {
            format!(
                "{:<12} {:<18} {}",
                reason.outcome().as_str(),
                reason.code(),
                reason.meaning()
            )
        });
        return output::text(&lines.collect::<Vec<_>>().join("\n"));
    }
    let out = args
        .out
        .as_deref()
        .ok_or_else(|| Error::new(Kind::Usage, "no lake is named"))?;
    let filter = RejectFilter {
        source: args.source.clone(),
        reasons: args.reason.clone(),
    };
    let report = reading(&[out], StatePart::Published, || summarise(out, &filter, args.examples))?;
    match args.format {
        TableFormat::Table => output::text(&report.text()),
        TableFormat::Json => output::json(&report),
        // What else there is was refused with the command line.
        _ => output::data(&report.csv()?),
    }
}
