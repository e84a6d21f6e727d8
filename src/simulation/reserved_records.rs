//! Records that state no reservation, of jobs that started on the nodes of one.
//!
//! Slurm 22.05 prints no reservation of jobs that start in its first second, and a dump may lack the column. Slurm starts no
//! other jobs on the nodes of a reservation while it is in force: a job that started on such nodes alone, and that it lets in, ran
//! inside it. One that it does not let in shows that it was over before the listed end.

use std::collections::BTreeMap;

use super::lake_reservations::ListedReservation;
use super::lake_rows::{LakeRow, LakeRows};
use crate::error::Result;
use crate::lake::refused_records::summed_records;
use crate::numbers::count_u64;
use crate::reference::hostlist::Hostlist;
use crate::runtime::column::Column;
use crate::schema::batch::{decoded, id, identity, text, word};
use crate::store::lake::parse_month_path;
use crate::store::{Manifest, Store, TableRows};

/// Rows read at once.
const BATCH_ROWS: usize = 16_384;

/// States the reservation of rows that state none and started on nodes of one. Gives how many.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read.
pub(super) fn find_by_nodes(
    store: &Store,
    manifest: &Manifest,
    rows: &mut LakeRows,
    whole: &[ListedReservation],
) -> Result<u64> {
    if whole.is_empty() {
        return Ok(0);
    }
    let in_force = |row: &LakeRow| {
        let mut all = whole.iter();
        all.any(|listed| listed.is_in_force_at_start(row) && listed.admits(row))
    };
    let unstated = rows.rows.iter();
    let unstated = unstated.filter(|row| row.reservation.is_none() && in_force(row));
    let unstated: BTreeMap<u128, LakeRow> = unstated.map(|row| (row.record_id, row)).collect();
    if unstated.is_empty() {
        return Ok(0);
    }
    let mut found: BTreeMap<u128, &str> = BTreeMap::new();
    for file in manifest.dataset("records") {
        if parse_month_path(&file.path).is_none_or(|of| of.site != rows.site) {
            continue;
        }
        let columns = ["record_id", "node_list"];
        for batch in summed_records(
            store,
            manifest,
            &file.path,
            &TableRows::of_columns(&columns, BATCH_ROWS),
        )? {
            let batch = &decoded(&batch?)?;
            let (ids, lists) = (id(batch, "record_id")?, text(batch, "node_list")?);
            for at in 0..batch.num_rows() {
                let Some(list) = word(lists, at).and_then(|list| Hostlist::parse(list).ok()) else {
                    continue;
                };
                let Some(row) = unstated.get(&identity(ids, at)?) else {
                    continue;
                };
                let has_all = |listed: &&ListedReservation| {
                    listed.is_in_force_at_start(row)
                        && listed.admits(row)
                        && !list.is_empty()
                        && list.hosts().all(|host| listed.nodes.contains(host.as_ref()))
                };
                if let Some(listed) = whole.iter().find(has_all) {
                    found.insert(row.record_id, &listed.name);
                }
            }
        }
    }
    if !found.is_empty() {
        let stated = rows.rows.iter().map(|mut row| {
            let own = found.get(&row.record_id).map(|name| (*name).to_owned());
            row.reservation = own.or(row.reservation);
            row
        });
        rows.rows = Column::of(stated, rows.rows.budget())?;
    }
    Ok(count_u64(found.len()))
}
