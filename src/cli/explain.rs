//! `gridtally explain`

use std::fmt::Write as _;
use std::path::PathBuf;

use super::as_of::AsOfArgs;
use super::output;
use super::reading::reading;
use crate::audit::explain;
use crate::error::Result;
use crate::report::render::TableFormat;
use crate::store::StatePart;

/// Explain one number, all the way down: a job, what else is charged, or a cell of charges or usage.
///
/// Of a job: the row it was read from and its position, how each field was read, other rows of the same job, the
/// benchmark and where it came from, and for every policy the formula with the job's numbers in it, the rounding, and
/// the files of `usage` and `charges` each part went to, and what corrections took of it there and gave. Of hours that a correction adds and of a window of a reservation, which
/// are charged and are no jobs: what is known of them, and the same of their charges. Of a cell (a file of `charges` or `usage`): the jobs with most of
/// it, and of usage also the corrections that touched it and the benchmarks in it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  A job, with its row as in the dump:
    gridtally explain out 48120 --inputs pipelines

  Who used most of a cell, and what corrections did to it:
    gridtally explain out usage/site=ALP-T2/vo=firn/allocation_year=2026

  Who is behind a cell, for a program:
    gridtally explain out charges/site=ALP-T2/vo=firn/allocation_year=2026 --format json")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    out: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    /// Job id, plain job number, grid-wide id or record id; where no job has it, the id of a correction that adds hours, or the
    /// name of a reservation; or the path of a file of `charges` or `usage`
    /// (or of its folder), with or without the lake before it.
    #[arg(value_name = "JOB-OR-CELL")]
    what: String,

    /// Folder that input paths are relative to: that of the pipeline file.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    inputs: PathBuf,

    /// How many are listed: jobs of a cell.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::formats::only(super::formats::PAGES))]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.out)?], StatePart::Published, || answer(args))
}

/// What is explained: the path of a cell begins inside the lake, also where the path of the lake is before it.
fn inside<'a>(out: &str, what: &'a str) -> &'a str {
    let rest = what.strip_prefix(out.trim_end_matches('/'));
    match rest.and_then(|rest| rest.strip_prefix('/')) {
        Some(path) if path.starts_with("charges/") || path.starts_with("usage/") => path,
        _ => what,
    }
}

fn answer(args: &Args) -> Result<()> {
    let what = inside(&args.out, &args.what);
    if what.starts_with("charges/") {
        let cells = explain::cell(args.as_of.place(&args.out)?, what, args.top)?;
        return match args.format {
            TableFormat::Json => output::json(&cells),
            // What else there is was refused with the command line.
            _ => output::text(&cells.iter().map(explain::ExplainedCell::text).collect::<String>()),
        };
    }
    if what.starts_with("usage/") {
        let cell = explain::usage(args.as_of.place(&args.out)?, what, args.top)?;
        return match args.format {
            TableFormat::Json => output::json(&cell),
            _ => output::text(&cell.text()),
        };
    }
    let jobs = explain::explain(args.as_of.place(&args.out)?, what, &args.inputs)?;
    if jobs.is_empty() {
        let entries = explain::charged_entries(args.as_of.place(&args.out)?, what)?;
        return match args.format {
            TableFormat::Json => output::json(&entries),
            _ => output::text(
                &entries
                    .iter()
                    .map(explain::ChargedEntry::text)
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
        };
    }
    if args.format == TableFormat::Json {
        return output::json(&jobs);
    }
    let mut pages = String::new();
    for (at, job) in jobs.iter().enumerate() {
        let gap = if at > 0 { "\n" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(pages, "{gap}{}", job.text());
    }
    output::text(&pages)
}
