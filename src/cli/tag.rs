//! `gridtally tag`

use tracing::info;

use super::as_of::AsOfArgs;
use super::wait::WaitArgs;
use crate::error::Result;
use crate::lake::moment::LakeMoment;
use crate::store::snapshots::{Tag, TagName, remove_tag, set_tag};
use crate::store::{LakeLock, Manifest};

/// Name a snapshot of a lake, so that it is kept: the state of the yearly report, or what was billed.
///
/// A name is given once. Whoever has to move it removes it first.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  The state after the last run:
    gridtally tag out billed-2026-04

  That of a past day:
    gridtally tag out board-report --as-of 2026-05-03

  It need not be kept any longer:
    gridtally tag out board-report --remove")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    /// Letters, digits, '.', '_' and '-'; the first is a letter.
    name: TagName,

    #[command(flatten)]
    as_of: AsOfArgs,

    /// Take the name away.
    #[arg(long, conflicts_with = "as_of")]
    remove: bool,

    #[command(flatten)]
    wait: WaitArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    // Checked before locking: a folder that is not a lake is left as it is.
    let (store, _) = Manifest::open(&args.lake)?;
    let lock = LakeLock::take(&store, args.wait.or(0))?;
    let name = args.name.clone();
    if args.remove {
        remove_tag(&lock, &name)?;
        info!("no snapshot has the tag {name} any more");
        return Ok(());
    }
    let latest = LakeMoment::latest();
    let snapshot = args.as_of.moment().unwrap_or(&latest).find(&args.lake)?;
    let number = snapshot.number;
    set_tag(&lock, &Tag { name, snapshot })?;
    info!("snapshot {number} has the tag {}", args.name);
    Ok(())
}
