//! The same table with a line for each user of an account: from records, because usage does not keep users apart.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::{TimeUnit, bounds};
use crate::error::Result;
use crate::report::known_by::{KnownBy, Owned};
use crate::report::lake::{Lake, Piece, Selection, on_all_processors};
use crate::report::table::{Cell, ColumnKind, Table, divide, known_sum};
use crate::schema::batch::{int, number, text, time, word};

/// TRES as sreport names them; memory in MiB.
const TRES: [&str; 5] = ["cpu", "mem", "node", "billing", "gres/gpu"];

const COLUMNS: [&str; 14] = [
    "view",
    "vo",
    "cluster",
    "account",
    "user",
    "start_utc",
    "end_utc",
    "wall_s",
    "suspended_s",
    "alloc_core_n",
    "alloc_memory_byte",
    "alloc_node_n",
    "alloc_billing_n",
    "alloc_gpu_n",
];

/// Seconds of each; `None` while no job says how much it held.
type Used = [Option<i128>; TRES.len()];

/// Cluster and account.
type Account = (String, String);

/// How much of a whole lies in a part of its time, rounded once.
fn share(total: i64, part_ms: i64, whole_ms: i64) -> i128 {
    if part_ms == whole_ms {
        return i128::from(total);
    }
    divide(i128::from(total) * i128::from(part_ms), i128::from(whole_ms)).unwrap_or(0)
}

fn add(into: &mut Used, more: &Used) {
    for (sum, part) in into.iter_mut().zip(more) {
        *sum = known_sum(*sum, *part);
    }
}

/// The table: jobs of the view `batch`, clipped to the selection as sreport does, whatever the lake's attribution. Lines
/// of accounts hold those below them, as far as listings of associations tell the tree. What no job says is empty.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read; [`crate::error::Kind::Data`] when it does not say in which
/// zone its months are cut.
pub fn by_user(lake: &Lake, selection: &Selection, unit: TimeUnit) -> Result<Table> {
    let used = read(lake, selection)?;
    let parents = parents(lake)?;
    let mut accounts: BTreeMap<Account, Used> = BTreeMap::new();
    for (((cluster, account), _), amounts) in &used {
        let mut at = Some(account.clone());
        let mut seen = BTreeSet::new();
        // A tree that bites its tail is no tree.
        while let Some(account) = at.take().filter(|account| seen.insert(account.clone())) {
            let key = (cluster.clone(), account);
            add(accounts.entry(key.clone()).or_default(), amounts);
            at = parents.get(&key).cloned();
        }
    }
    let mut table = Table::new(
        "Cluster/Account/User Utilization",
        &[
            ("Cluster", "", ColumnKind::Text),
            ("Account", "", ColumnKind::Text),
            ("Login", "", ColumnKind::Text),
            ("TRES Name", "", ColumnKind::Text),
            ("Used", unit.as_str(), ColumnKind::Number),
        ],
    );
    let mut lines: BTreeMap<(Account, Option<String>), Used> = BTreeMap::new();
    lines.extend(accounts.into_iter().map(|(account, used)| ((account, None), used)));
    lines.extend(
        used.into_iter()
            .map(|((account, user), used)| ((account, Some(user)), used)),
    );
    for (((cluster, account), user), used) in lines {
        for (name, amount) in TRES.iter().zip(used) {
            table.push(vec![
                Cell::text(&cluster),
                Cell::text(&account),
                Cell::word(user.as_deref()),
                Cell::text(*name),
                amount
                    .and_then(|amount| divide(amount, unit.seconds()))
                    .map_or(Cell::Empty, Cell::Int),
            ]);
        }
    }
    Ok(table)
}

fn read(lake: &Lake, selection: &Selection) -> Result<BTreeMap<(Account, String), Used>> {
    let bounds = bounds(lake, selection)?;
    // Jobs that ended after the period lie in a later month, and are clipped to it all the same.
    let pieces = lake.record_pieces(&Selection {
        sites: selection.sites.clone(),
        ..Selection::default()
    })?;
    let parts = on_all_processors(&pieces, |piece| of_piece(lake, selection, piece, bounds))?;
    let mut sums: BTreeMap<(Account, String), Used> = BTreeMap::new();
    for ([cluster, account, user], used) in parts.into_iter().flatten() {
        add(sums.entry(((cluster, account), user)).or_default(), &used);
    }
    Ok(sums)
}

/// Cluster, account and user.
type Names = [String; 3];

/// What the jobs of one piece used within a period, by their names.
fn of_piece(
    lake: &Lake,
    selection: &Selection,
    piece: &Piece,
    (from_ms, until_ms): (i64, i64),
) -> Result<Vec<(Names, Used)>> {
    let mut sums: HashMap<Owned<3, 0>, Used, ahash::RandomState> = HashMap::default();
    for batch in lake.piece_batches(piece, &COLUMNS)? {
        let batch = batch?;
        let words = |name| text(&batch, name);
        let (view, vo, cluster) = (words("view")?, words("vo")?, words("cluster")?);
        let (account, user) = (words("account")?, words("user")?);
        let (start, end) = (time(&batch, "start_utc")?, time(&batch, "end_utc")?);
        let numbers = |name| int(&batch, name);
        let (wall, suspended) = (numbers("wall_s")?, numbers("suspended_s")?);
        let (cores, memory) = (numbers("alloc_core_n")?, numbers("alloc_memory_byte")?);
        let (nodes, billing) = (numbers("alloc_node_n")?, numbers("alloc_billing_n")?);
        let gpus = numbers("alloc_gpu_n")?;
        for row in 0..batch.num_rows() {
            let Some(start_ms) = number(start, row) else { continue };
            if view.value(row) != "batch" || !selection.has_vo(word(vo, row)) {
                continue;
            }
            let wall_s = wall.value(row);
            let held_s = wall_s + number(suspended, row).unwrap_or(0);
            let end_ms = number(end, row).unwrap_or(start_ms + held_s * 1000);
            let part_ms = end_ms.min(until_ms) - start_ms.max(from_ms);
            if part_ms <= 0 {
                continue;
            }
            let held = share(held_s, part_ms, end_ms - start_ms);
            // Nothing of something unknown is nothing.
            let of = |seconds: i128, column, shift: u32| match number(column, row) {
                Some(amount) => Some(seconds * i128::from(amount >> shift)),
                None => (seconds == 0).then_some(0),
            };
            let amounts = [
                of(share(wall_s, part_ms, end_ms - start_ms), cores, 0),
                of(held, memory, 20),
                of(held, nodes, 0),
                of(held, billing, 0),
                of(held, gpus, 0),
            ];
            let key = KnownBy {
                words: [cluster, account, user].map(|column| word(column, row).unwrap_or_default()),
                numbers: [],
            };
            add(sums.entry_ref(&key).or_default(), &amounts);
        }
    }
    Ok(sums.into_iter().map(|(key, used)| (key.words, used)).collect())
}

/// The account above each account, by the newest listing of each cluster.
fn parents(lake: &Lake) -> Result<BTreeMap<Account, String>> {
    let mut newest: BTreeMap<Account, (Option<i64>, String)> = BTreeMap::new();
    for file in lake.manifest.dataset("association") {
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let (cluster, account) = (text(&batch, "cluster")?, text(&batch, "account")?);
            let (user, parent) = (text(&batch, "user")?, text(&batch, "parent_account")?);
            let as_of = time(&batch, "as_of_utc")?;
            for row in 0..batch.num_rows() {
                let (Some(account), Some(parent), None) = (word(account, row), word(parent, row), word(user, row))
                else {
                    continue;
                };
                let key = (word(cluster, row).unwrap_or_default().to_owned(), account.to_owned());
                let told = (number(as_of, row), parent.to_owned());
                let known = newest.entry(key).or_insert_with(|| told.clone());
                if told.0 > known.0 {
                    *known = told;
                }
            }
        }
    }
    Ok(newest
        .into_iter()
        .map(|(account, (_, parent))| (account, parent))
        .collect())
}
