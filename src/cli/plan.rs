//! `gridtally plan`

use std::path::PathBuf;

use tracing::{debug, warn};

use super::output;
use super::progress::Terminal;
use super::rehash::RehashArgs;
use super::selection::MonthsArgs;
use super::shard_args::ShardPlaceArgs;
use super::wait::WaitArgs;
use crate::config::Plan;
use crate::error::Result;
use crate::run::RunOptions;
use crate::run::stages::list_shards;
use crate::shard::folder::ShardFolder;
use crate::shard::list::{SHARDS_MOST, ShardList};

/// Share the input files of a pipeline out to shards that are read by other processes, on other hosts.
///
/// Writes a numbered list: every file that a run would read is in one shard, and the shards have about the same bytes. Equal files
/// and an equal lake give an equal list. `gridtally run --shard I/N` reads a shard, `gridtally merge` publishes all of them, and
/// `gridtally submit` makes both jobs of a batch system. Files that come later wait for the next list.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Share out to 64 shards, read two of them here, and publish when all are read:
    gridtally plan zoo.toml --shards 64
    gridtally run zoo.toml --shard 1/64
    gridtally run zoo.toml --shard 2/64
    gridtally merge zoo.toml

  Over a bucket that all hosts reach:
    gridtally plan zoo.toml --shards 64 --shard-folder s3://accounting/zoo-shards")]
pub(super) struct Args {
    /// The pipeline file.
    pipeline: PathBuf,

    /// How many shards to make; fewer where there are fewer files to read.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(SHARDS_MOST)))]
    shards: u32,

    #[command(flatten)]
    place: ShardPlaceArgs,

    /// Folder or URL to write to: the lake, in place of the pipeline's `output`; a relative path starts at the working directory.
    #[arg(long, value_name = "URL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    out: Option<String>,

    #[command(flatten)]
    period: MonthsArgs,

    #[command(flatten)]
    rehash: RehashArgs,

    #[command(flatten)]
    wait: WaitArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let (from, to) = args.period.months("a run replaces the records of a month as a whole")?;
    let options = RunOptions {
        out: args.out.clone(),
        from,
        to,
        rehash: args.rehash.rehash,
        wait: args.wait.or(0),
        ..RunOptions::default()
    };
    let (plan, warnings) = Plan::load(&args.pipeline)?;
    for warning in &warnings {
        warn!("{warning}");
    }
    let list = list_shards(&plan, &options, args.shards, &Terminal::new())?;
    let folder = ShardFolder::create(&args.place.of(&args.pipeline))?;
    folder.put_list(&list)?;
    debug!(folder = folder.url(), "list written");
    output::text(&text(&list))
}

fn text(list: &ShardList) -> String {
    let bytes = list.bytes();
    match (bytes.iter().min(), bytes.iter().max()) {
        (Some(least), Some(most)) => format!(
            "{} files in {} shards of {least} to {most} bytes, {} files that no shard reads\n",
            list.shared_out_n(),
            list.head.shard_n,
            list.others_n(),
        ),
        _ => "no file is to be read\n".to_owned(),
    }
}
