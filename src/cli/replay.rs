//! `gridtally replay`

use super::failure::or_failure;
use super::formats::ReportFormat;
use super::output;
use super::reading::reading;
use super::rejects::reason;
use crate::audit::rejects::RejectFilter;
use crate::audit::replay;
use crate::audit::replay::Replay;
use crate::error::Result;
use crate::ledger::Reason;
use crate::store::{Outgoing, StatePart};

/// Write refused rows out as files to mend, which a later run reads again.
///
/// Each file holds the refused rows of one input file as they are in that file, with what is needed around them (the header
/// of the dump, the first line of the message) and above each row why it was refused. Mend the rows, delete those that
/// cannot be mended, and put the file among the paths of its source: the next run reads it, counts each mended row in
/// the place of its original, and shows in the ledger which rows were mended. A row is never counted twice: the first
/// file that mends a row keeps it. Keep mended files where they are; mend more rows in another file.
///
/// Raw text is taken from the input files, which must be what they were; where [privacy] withholds it from the lake,
/// the files written here hold it again.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Everything that can be mended, in the folder of the pipeline file:
    gridtally replay out --export repairs

  The bad times of one source, from elsewhere:
    gridtally replay out --export repairs --inputs /etc/gridtally --source alp-slurm --reason bad_time")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    out: String,

    /// Folder to write to. A file that is there already and differs is an error, not overwritten.
    #[arg(long, value_name = "DIR")]
    export: String,

    /// Folder that input paths are relative to: that of the pipeline file.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    inputs: std::path::PathBuf,

    /// Only this source.
    #[arg(long, value_name = "NAME")]
    source: Option<String>,

    /// Only this reason code; may be given several times.
    #[arg(long, value_name = "CODE", value_parser = reason)]
    reason: Vec<Reason>,

    /// Format of the report on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    report: ReportFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let asked = Replay {
        output: &args.out,
        export: &args.export,
        inputs: &args.inputs,
        filter: RejectFilter {
            source: args.source.clone(),
            reasons: args.reason.clone(),
        },
    };
    let staged = reading(&[&args.out], StatePart::Published, || replay::stage(&asked));
    let delivered = staged.and_then(|(report, outgoing)| {
        outgoing.map_or(Ok(()), Outgoing::deliver)?;
        Ok(report)
    });
    let report = or_failure(args.report, &args.out, delivered)?;
    match args.report {
        ReportFormat::Text => output::text(&report.text()),
        ReportFormat::Json => output::json_line(&report),
    }
}
