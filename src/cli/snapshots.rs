//! `gridtally snapshots`

use std::collections::{BTreeMap, BTreeSet};

use tracing::warn;

use super::output;
use crate::error::Result;
use crate::lake::moment::shown;
use crate::numbers::count_u64;
use crate::report::render::{TableFormat, render};
use crate::report::table::{Cell, ColumnKind, Table};
use crate::store::delta::{DeltaVersion, delta_versions};
use crate::store::snapshots::{Snapshot, Tag, kept_path, names, snapshots, tags};
use crate::store::{Manifest, Store};

/// List the snapshots of a lake: what it was after each run.
///
/// A run makes one each time it publishes, where its pipeline states which are kept (`keep`). `report`, `sql`, `explain` and `verify`
/// read one with --as-of. `new_byte_n` are the files that the snapshot before does not have, `only_byte_n` those that no other
/// snapshot needs: what `gc` frees with it alone.
///
/// With --delta it lists the versions of the Delta tables instead (`delta_log` of the pipeline), each with the snapshot that it was made
/// with. One with a `missing_file_n` cannot be read any more: `gc` has removed these files.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  What there is:
    gridtally snapshots out

  What was billed on 3 May:
    gridtally report focus out --as-of 2026-05-03

  Which versions of its Delta tables can be read:
    gridtally snapshots out --delta")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    /// List the versions of the Delta tables.
    #[arg(long)]
    delta: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let (store, _) = Manifest::open(&args.lake)?;
    let table = if args.delta {
        delta_table(&delta_versions(&store)?)
    } else {
        table(&store)?
    };
    output::data(&render(&table, args.format)?)
}

fn delta_table(versions: &[DeltaVersion]) -> Table {
    let mut table = Table::new(
        "Delta tables",
        &[
            ("dataset", "", ColumnKind::Text),
            ("version", "", ColumnKind::Number),
            ("snapshot", "", ColumnKind::Number),
            ("file_n", "1", ColumnKind::Number),
            ("byte_n", "byte", ColumnKind::Number),
            ("missing_file_n", "1", ColumnKind::Number),
        ],
    );
    for version in versions {
        table.push(vec![
            Cell::text(version.dataset.clone()),
            Cell::int(version.version),
            Cell::int(version.snapshot),
            Cell::int(version.file_n),
            Cell::int(version.bytes),
            Cell::int(version.missing_file_n),
        ]);
    }
    table
}

fn table(store: &Store) -> Result<Table> {
    let known = names(store)?;
    for pair in known.windows(2) {
        if let [before, after] = pair
            && after.made_ms < before.made_ms
        {
            let (before, after) = (shown(before), shown(after));
            warn!(
                "a clock went back: {before} was published before {after}; --as-of refuses the times between, take numbers"
            );
        }
    }
    let all = snapshots(store, &known)?;
    let tags = tags(store)?;
    let mut users: BTreeMap<String, u64> = BTreeMap::new();
    for file in all.iter().flat_map(|snapshot| snapshot.manifest.files()) {
        *users.entry(kept_path(&file.path, &file.blake3)).or_default() += 1;
    }
    let mut table = Table::new(
        "Snapshots",
        &[
            ("snapshot", "", ColumnKind::Number),
            ("published_utc", "UTC", ColumnKind::Instant),
            ("run_id", "", ColumnKind::Text),
            ("tags", "", ColumnKind::Text),
            ("file_n", "1", ColumnKind::Number),
            ("byte_n", "byte", ColumnKind::Number),
            ("new_file_n", "1", ColumnKind::Sum),
            ("new_byte_n", "byte", ColumnKind::Sum),
            ("only_byte_n", "byte", ColumnKind::Sum),
        ],
    );
    let mut before = BTreeSet::new();
    for snapshot in &all {
        let files: Vec<(String, u64)> = (snapshot.manifest.files())
            .map(|file| (kept_path(&file.path, &file.blake3), file.bytes))
            .collect();
        let sum = |is_counted: &dyn Fn(&str) -> bool| -> (u64, u64) {
            let counted = files.iter().filter(|(path, _)| is_counted(path));
            counted.fold((0, 0), |(n, bytes), (_, size)| (n + 1, bytes + size))
        };
        let (_, byte_n) = sum(&|_| true);
        let (new_file_n, new_byte_n) = sum(&|path| !before.contains(path));
        let (_, only_byte_n) = sum(&|path| users.get(path) == Some(&1));
        table.push(vec![
            Cell::int(snapshot.name.number),
            Cell::Instant(snapshot.name.made_ms),
            Cell::word(snapshot.run_id.as_deref()),
            Cell::text(tags_of(snapshot, &tags)),
            Cell::int(count_u64(files.len())),
            Cell::int(byte_n),
            Cell::int(new_file_n),
            Cell::int(new_byte_n),
            Cell::int(only_byte_n),
        ]);
        before = files.into_iter().map(|(path, _)| path).collect();
    }
    Ok(table)
}

/// The tags of a snapshot, in one word each.
fn tags_of(snapshot: &Snapshot, tags: &[Tag]) -> String {
    let own = tags.iter().filter(|tag| tag.snapshot == snapshot.name);
    own.map(|tag| tag.name.as_str()).collect::<Vec<_>>().join(" ")
}
