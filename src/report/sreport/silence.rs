//! What nothing says: usage adds up what is known, and a sum of nothing known must not be printed as zero.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::bounds;
use crate::error::Result;
use crate::report::known_by::{KnownBy, Owned};
use crate::report::lake::{Lake, Selection, on_all_processors};
use crate::schema::batch::{int, number, text, time, word};

/// What jobs say of each TRES, in the order of [`super::TRES`].
const AMOUNTS: [&str; super::TRES.len()] = ["alloc_core_n", "alloc_node_n", "alloc_billing_n", "alloc_gpu_n"];

const COLUMNS: [&str; 11] = [
    "view",
    "vo",
    "cluster",
    "account",
    "start_utc",
    "end_utc",
    "wall_s",
    AMOUNTS[0],
    AMOUNTS[1],
    AMOUNTS[2],
    AMOUNTS[3],
];

/// Whether jobs that ran say how much they held, and whether some do not, for each TRES.
type Said = [(bool, bool); AMOUNTS.len()];

/// Cluster, account and place in [`super::TRES`] of what no job of the selection tells though jobs ran.
///
/// # Errors
/// As [`super::report`].
pub(super) fn silent(lake: &Lake, selection: &Selection) -> Result<BTreeSet<(String, String, usize)>> {
    let (from_ms, until_ms) = bounds(lake, selection)?;
    let pieces = lake.record_pieces(selection)?;
    let parts = on_all_processors(&pieces, |piece| {
        let mut said: HashMap<Owned<2, 0>, Said, ahash::RandomState> = HashMap::default();
        for batch in lake.piece_batches(piece, &COLUMNS)? {
            let batch = batch?;
            let words = |name| text(&batch, name);
            let (view, vo, cluster) = (words("view")?, words("vo")?, words("cluster")?);
            let (account, wall) = (words("account")?, int(&batch, "wall_s")?);
            let (start, end) = (time(&batch, "start_utc")?, time(&batch, "end_utc")?);
            let mut amounts = Vec::with_capacity(AMOUNTS.len());
            for name in AMOUNTS {
                amounts.push(int(&batch, name)?);
            }
            for row in 0..batch.num_rows() {
                let is_before = number(end, row).is_some_and(|end| end < from_ms);
                let is_behind = number(start, row).is_some_and(|start| start >= until_ms);
                let is_asked = view.value(row) == "batch" && selection.has_vo(word(vo, row));
                // A job that held nothing for any time used none of it.
                if is_before || is_behind || !is_asked || number(wall, row).unwrap_or(0) == 0 {
                    continue;
                }
                let key = KnownBy {
                    words: [cluster, account].map(|column| word(column, row).unwrap_or_default()),
                    numbers: [],
                };
                let said = said.entry_ref(&key).or_default();
                for ((is_told, is_silent), amount) in said.iter_mut().zip(&amounts) {
                    match number(amount, row) {
                        Some(_) => *is_told = true,
                        None => *is_silent = true,
                    }
                }
            }
        }
        Ok(said)
    })?;
    let mut all: BTreeMap<[String; 2], Said> = BTreeMap::new();
    for (Owned { words, .. }, said) in parts.into_iter().flatten() {
        for (all, said) in all.entry(words).or_default().iter_mut().zip(said) {
            *all = (all.0 | said.0, all.1 | said.1);
        }
    }
    let mut silent = BTreeSet::new();
    for ([cluster, account], said) in all {
        let nths = said.iter().enumerate().filter(|(_, said)| **said == (false, true));
        silent.extend(nths.map(|(nth, _)| (cluster.clone(), account.clone(), nth)));
    }
    Ok(silent)
}
