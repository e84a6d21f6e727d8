//! `gridtally gc`

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::info;

use super::output;
use super::wait::WaitArgs;
use crate::error::Result;
use crate::lake::retention::{KeepReason, retention};
use crate::report::render::{TableFormat, render};
use crate::report::table::{Cell, ColumnKind, Table};
use crate::store::snapshots::{KeepPolicy, SnapshotName, collect, plan_collection};
use crate::store::{Fact, LakeLock, Manifest};

/// Remove the snapshots of a lake that its policy does not keep, and the files that no snapshot needs.
///
/// Kept are the last snapshot of each of the last `nights` days on which the lake was published, of each of the last `months`
/// months likewise, in the zone of the lake's calendar, every snapshot with a tag, and the newest. The documents of the others are
/// removed first, then the files that no document names: a snapshot that is kept has all its files, whenever this is stopped.
///
/// The logs of Delta tables stay, with all their versions. Those whose files are gone cannot be read any more: `gridtally snapshots
/// LAKE --delta` lists them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  What would be removed:
    gridtally gc out --dry-run

  After each run, by the policy of the pipeline:
    gridtally run site.toml && gridtally gc out

  Once, by another policy:
    gridtally gc out --keep nights=7,months=12")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    /// A policy in place of the one the pipeline states: nights=30,months=24; what is not named is 0.
    #[arg(long, value_name = "POLICY")]
    keep: Option<KeepPolicy>,

    /// Read and check everything, publish nothing: what would be removed is listed.
    #[arg(long)]
    dry_run: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,

    #[command(flatten)]
    wait: WaitArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    // Checked before locking: a folder that is not a lake is left as it is.
    let (store, manifest) = Manifest::open(&args.lake)?;
    let lock = if args.dry_run {
        None
    } else {
        Some(Arc::new(LakeLock::take(&store, args.wait.or(0))?))
    };
    let retention = retention(&store, args.keep)?;
    let kept: BTreeSet<SnapshotName> = (retention.iter())
        .filter(|(_, reasons)| !reasons.is_empty())
        .map(|(name, _)| name.clone())
        .collect();
    let (collection, done) = match &lock {
        Some(lock) => (collect(lock, &kept)?, "removed"),
        None => (plan_collection(&store, &kept)?, "would be removed"),
    };
    let mut table = Table::new(
        "Snapshots",
        &[
            ("snapshot", "", ColumnKind::Number),
            ("published_utc", "UTC", ColumnKind::Instant),
            ("kept_as", "", ColumnKind::Text),
        ],
    );
    for (name, reasons) in &retention {
        let words: Vec<&str> = reasons.iter().copied().map(KeepReason::as_str).collect();
        let kept_as = if words.is_empty() {
            done.to_owned()
        } else {
            words.join(" ")
        };
        table.push(vec![
            Cell::int(name.number),
            Cell::Instant(name.made_ms),
            Cell::text(kept_as),
        ]);
    }
    output::data(&render(&table, args.format)?)?;
    info!(
        "{} snapshots and {} kept files of {} bytes {done}, {} snapshots kept",
        collection.removed.len(),
        collection.file_n,
        collection.bytes,
        kept.len()
    );
    if manifest.facts.has(Fact::DeltaLog) && collection.file_n > 0 {
        info!(
            "the Delta tables keep the versions of these files in their logs: `gridtally snapshots {} --delta` lists which can be read",
            args.lake
        );
    }
    Ok(())
}
