//! `gridtally inspect`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tracing::error;

use super::output;
use super::progress::Terminal;
use crate::error::{Error, Kind, Result};
use crate::inspect::{self, InspectLook};
use crate::report::render::TableFormat;
use crate::runtime::Progress;
use crate::sources::input::InputFile;
use crate::sources::registry;

const EXAMPLES: &str = "\
Examples:
  gridtally inspect sacct-2026-03.txt.xz

  What another machine has, without a copy of it:
    ssh head sacct -a -D -P -o ALL | gridtally inspect /dev/stdin

  Whether the flat fields of a GRACC dump agree with its XML:
    gridtally inspect --cross-check gracc.osg.raw-2026.03.ndjson.gz

  Of many files, those that nothing is known about:
    gridtally inspect --format json spool/* | jq -r '.[] | select(.dialect == null) | .path'";

/// Examples, and every dialect with its line of help.
fn epilogue() -> String {
    let mut text = format!("{EXAMPLES}\n\nDialects:");
    for dialect in registry::all() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {:<22} {}", dialect.as_str(), dialect.row().help);
    }
    text
}

/// Identify a file: dialect, version, rows, period, problems.
///
/// Reads all of each file as a run would, counts every row, and proposes a `[[source]]` or `[[inventory]]` for the pipeline file. What
/// packs a file (gzip, zstd, bzip2, xz) and what it speaks are recognised from its content. Times without an offset
/// are counted as if they were UTC. A file that cannot be read to its end gives exit code 65. What cannot be opened, such as a
/// folder without read permission, is reported on stderr and gives its exit code after all other files were inspected.
#[derive(Debug, clap::Args)]
#[command(after_long_help = epilogue())]
pub(super) struct Args {
    /// Files, folders or URLs; `/dev/stdin` for what a pipe brings.
    #[arg(required = true)]
    file: Vec<PathBuf>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::formats::only(super::formats::PAGES))]
    format: TableFormat,

    /// Compare the two forms of records that are there twice.
    ///
    /// Documents of a GRACC index keep the XML they were made from (`RawXML`), which is passed over otherwise. This
    /// option reads both and reports every field in which they differ.
    #[arg(long)]
    cross_check: bool,

    /// Look only at what the report shows.
    ///
    /// Every row is framed and counted all the same, but of Slurm text no other column is looked into: a row that a run
    /// would refuse for one of those counts as a job.
    #[arg(long, conflicts_with = "cross_check")]
    quick: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let progress = Terminal::new();
    let look = match (args.cross_check, args.quick) {
        (true, _) => InspectLook::CrossCheck,
        (_, true) => InspectLook::Quick,
        _ => InspectLook::Usual,
    };
    let mut reports = Vec::new();
    let mut failed: Option<Error> = None;
    let (mut damaged, mut refused) = (Vec::new(), Vec::new());
    let mut shown = 0_usize;
    for file in args.file.iter().flat_map(|word| each(word)) {
        let report = file.and_then(|input| {
            progress.begin(&input.path, 0, "rows");
            let report = inspect::inspect(&input, look, &progress);
            progress.end();
            report
        });
        match report {
            Ok(report) => {
                match (&report.failure, report.row_n) {
                    (None, _) => {}
                    (Some(_), None | Some(0)) => refused.push(report.path.clone()),
                    (Some(_), Some(_)) => damaged.push(report.path.clone()),
                }
                if args.format == TableFormat::Json {
                    reports.push(report);
                } else {
                    let gap = if shown > 0 { "\n" } else { "" };
                    output::text(&format!("{gap}{}", report.text()))?;
                    shown += 1;
                }
            }
            // The other files are still inspected; the last error is reported at the end.
            Err(why) => {
                if let Some(earlier) = failed.replace(why) {
                    error!("{earlier}");
                }
            }
        }
    }
    if args.format == TableFormat::Json {
        output::json(&reports)?;
    }
    let what = [
        ("not readable to the end", damaged),
        ("nothing can be accounted of", refused),
    ];
    let what: Vec<String> = (what.iter().filter(|(_, paths)| !paths.is_empty()))
        .map(|(what, paths)| format!("{what}: {}", paths.join(", ")))
        .collect();
    if failed.is_none() && !what.is_empty() {
        return Err(Error::new(Kind::Data, what.join("; ")));
    }
    failed.map_or(Ok(()), Err)
}

/// Every file a word means by itself, and what there is instead of files.
fn each(word: &Path) -> Vec<Result<InputFile>> {
    match inspect::files(word) {
        Ok((files, troubles)) => files.into_iter().map(Ok).chain(troubles.into_iter().map(Err)).collect(),
        Err(why) => vec![Err(why)],
    }
}
