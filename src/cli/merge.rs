//! `gridtally merge`

use std::path::PathBuf;
use std::process::ExitCode;

use super::progress::Terminal;
use super::run_args::{RunArgs, RunSteps, execute};
use super::shard_args::ShardFolderArgs;
use crate::config::Plan;
use crate::error::Result;
use crate::run::RunOptions;
use crate::run::run_report::RunReport;
use crate::run::stages::merge_into;
use crate::shard::collected::CollectedShards;
use crate::shard::folder::ShardFolder;

/// Merge the shards of a list and publish them, as one run that had read all files.
///
/// The lake has the bytes that `gridtally run` would have made of the files in the list. A shard that is missing, or was read for
/// another list or by another version, is named, and nothing is published. Listings of the machine, repair files and logs of CEs
/// are read here. The months are those of the list.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Publish what the shards have read:
    gridtally merge zoo.toml

  Where this host has the files under another path:
    gridtally merge zoo.toml --map /data/dumps=/mnt/dumps")]
pub(super) struct Args {
    /// The pipeline file.
    pipeline: PathBuf,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    folder: ShardFolderArgs,
}

impl Args {
    fn shards(&self) -> Result<ShardFolder> {
        ShardFolder::open(&self.folder.place.of(&self.pipeline))
    }
}

impl RunSteps for Args {
    fn options(&self, options: RunOptions) -> Result<RunOptions> {
        let window = self.shards()?.list()?.list.window()?;
        Ok(RunOptions {
            from: window.from,
            to: window.to,
            ..options
        })
    }

    fn run(&self, plan: &Plan, options: &RunOptions, report: &mut RunReport) -> Result<()> {
        let shards = CollectedShards::open(&self.shards()?, plan, self.folder.roots()?)?;
        merge_into(plan, options, shards, &Terminal::new(), report)
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    execute(&args.run, &args.pipeline, args)
}
