//! Where shards are, and how one is read.

use std::path::Path;

use tracing::warn;

use super::memory_size::MemorySize;
use super::output;
use super::progress::Terminal;
use super::run_args::RunArgs;
use crate::config::Plan;
use crate::dedupe::spill::MEMORY_BUDGET;
use crate::error::{Error, Kind, Result};
use crate::ingest::summary_limits::SummaryLimits;
use crate::runtime::memory_limit::limit_memory;
use crate::shard::folder::ShardFolder;
use crate::shard::read::{ReadShard, ShardMeans, ShardNumber};
use crate::shard::roots::{MappedRoot, Roots};

/// The variable of mapped roots.
const VARIABLE: &str = "GRIDTALLY_MAP";

/// Where the list and what shards have read are.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ShardPlaceArgs {
    /// Folder or URL of the list and of what shards have read, which all hosts reach. Without it a folder next to the pipeline
    /// file, with its name and `.shards`.
    #[arg(long, value_name = "URL")]
    shard_folder: Option<String>,
}

impl ShardPlaceArgs {
    /// The folder, or that of the pipeline.
    pub(super) fn of(&self, pipeline: &Path) -> String {
        let next_to_it = || pipeline.with_extension("shards").to_string_lossy().into_owned();
        self.shard_folder.clone().unwrap_or_else(next_to_it)
    }
}

/// Where shards are, and where this host has their files.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ShardFolderArgs {
    #[command(flatten)]
    pub(super) place: ShardPlaceArgs,

    /// Mapped root: files that the list has below FROM are below TO on this host. May be repeated; the longest root decides. The
    /// variable `GRIDTALLY_MAP` holds more of them, separated by semicolons.
    #[arg(long = "map", value_name = "FROM=TO")]
    pub(super) maps: Vec<MappedRoot>,
}

impl ShardFolderArgs {
    /// Whether any of it is given on the command line.
    pub(super) fn is_given(&self) -> bool {
        self.place.shard_folder.is_some() || !self.maps.is_empty()
    }

    /// All mapped roots of this host.
    ///
    /// # Errors
    /// [`Kind::Usage`] when the variable holds something else.
    pub(super) fn roots(&self) -> Result<Roots> {
        let mut roots = self.maps.clone();
        // Fallback: a variable that is not set, or not UTF-8, maps nothing.
        let stated = std::env::var(VARIABLE).unwrap_or_default();
        for word in stated.split(';').map(str::trim).filter(|word| !word.is_empty()) {
            let root = word.parse();
            roots.push(root.map_err(|why: String| Error::new(Kind::Usage, format!("{VARIABLE}: {why}")))?);
        }
        Ok(Roots::new(roots))
    }
}

/// Reads one shard, and prints what it came to.
pub(super) fn read_shard(pipeline: &Path, number: ShardNumber, run: &RunArgs, folder: &ShardFolderArgs) -> Result<()> {
    if let Some(MemorySize(bytes)) = run.max_memory() {
        limit_memory(bytes)?;
    }
    let place = folder.place.of(pipeline);
    let (plan, warnings) = Plan::load(pipeline)?;
    for warning in &warnings {
        warn!("{warning}");
    }
    let shards = ShardFolder::open(&place)?;
    // Fallback: where the machine does not state its threads, one is used.
    let available = || std::thread::available_parallelism().map_or(1, Into::into);
    let means = ShardMeans {
        roots: folder.roots()?,
        threads: run.threads().unwrap_or_else(available),
        memory_byte_n: run.max_memory().map_or(MEMORY_BUDGET, MemorySize::of_records),
        summary_limits: SummaryLimits::default(),
    };
    let read = crate::shard::read::read_shard(&plan, &shards, number, &means, &Terminal::new());
    output::text(&text(&read.map_err(|why| why.of_full_disk(&place))?))
}

fn text(read: &ReadShard) -> String {
    let ReadShard {
        manifest,
        refused_n,
        is_unchanged,
    } = read;
    let (shard, shard_n) = (manifest.shard, manifest.shard_n);
    if *is_unchanged {
        return format!("shard {shard} of {shard_n} is there already\n");
    }
    format!(
        "shard {shard} of {shard_n}: {} files, {} rows, of these {} candidates and {refused_n} refused; {} bytes\n",
        manifest.file_n, manifest.rows_read_n, manifest.candidate_n, manifest.bytes
    )
}
