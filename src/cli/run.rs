//! `gridtally run`

use std::path::PathBuf;
use std::process::ExitCode;

use super::progress::Terminal;
use super::rehash::RehashArgs;
use super::run_args::{RunArgs, RunSteps, execute};
use super::selection::MonthsArgs;
use super::shard_args::{ShardFolderArgs, read_shard};
use crate::config::Plan;
use crate::error::{Error, Kind, Result};
use crate::run::RunOptions;
use crate::run::run_report::RunReport;
use crate::run::stages::run_into;
use crate::shard::read::ShardNumber;

/// Run a pipeline: read its sources, publish its results.
///
/// Reads every input the pipeline names, counts every row exactly once, and replaces the partitions of the output that
/// change. Running twice changes nothing; a run that was killed is finished by the next one.
///
/// With --from and --to it takes the records of some months: by the UTC month of the start (sacct, SWF) or of the end (all
/// others). The rest of the files is left for a later run.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Run a pipeline, results where the file configures:
    gridtally run zoo.toml

  Take the records of one quarter to another place, with a report for a program:
    gridtally run zoo.toml --out s3://accounting/zoo --from 2026-01 --to 2026-03 --report json

  See what would happen:
    gridtally run zoo.toml --dry-run

  Run under a scheduler: the last line of stdout is for it, metrics are for node_exporter:
    gridtally run zoo.toml --summary-json --textfile /var/lib/node_exporter/gridtally.prom

  Read the seventh of 64 shards that `gridtally plan` made; `gridtally merge` publishes:
    gridtally run zoo.toml --shard 7/64")]
pub(super) struct Args {
    /// The pipeline file.
    pipeline: PathBuf,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    period: MonthsArgs,

    #[command(flatten)]
    rehash: RehashArgs,

    /// Read one shard of the list that `gridtally plan` made, such as 7/64, and publish nothing: what it holds is put into the
    /// folder of the shards for `gridtally merge`. A shard that is there already is not read again.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["out", "from", "to", "dry_run", "report", "summary_json",
          "exit_code_if_unchanged", "textfile", "openlineage", "rehash", "wait"])]
    shard: Option<ShardNumber>,

    #[command(flatten)]
    folder: ShardFolderArgs,
}

impl RunSteps for Args {
    fn options(&self, options: RunOptions) -> Result<RunOptions> {
        let (from, to) = self.period.months("a run replaces the records of a month as a whole")?;
        let rehash = self.rehash.rehash;
        Ok(RunOptions {
            from,
            to,
            rehash,
            ..options
        })
    }

    fn run(&self, plan: &Plan, options: &RunOptions, report: &mut RunReport) -> Result<()> {
        run_into(plan, options, &Terminal::new(), report)
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(number) = args.shard {
        return read_shard(&args.pipeline, number, &args.run, &args.folder).map(|()| ExitCode::SUCCESS);
    }
    if args.folder.is_given() {
        let message = "--shard-folder and --map are for a run with --shard, and for `gridtally merge`";
        return Err(Error::new(Kind::Usage, message));
    }
    execute(&args.run, &args.pipeline, args)
}
