//! Reservations of a cluster, as the listings of a lake describe them.

use std::collections::{BTreeMap, BTreeSet};

use super::lake_rows::LakeRow;
use crate::error::Result;
use crate::numbers::count_u64;
use crate::overhead::lake_nodes::ClusterPlace;
use crate::reference::hostlist::Hostlist;
use crate::runtime::column::Column;
use crate::schema::batch::{int, number, text, time, word};
use crate::store::lake::sites;
use crate::store::{Manifest, Store, read_table};
use crate::time::SecondSpan;

/// Rows read at once.
const BATCH_ROWS: usize = 16_384;
/// Milliseconds of a second.
const SECOND_MS: i64 = 1000;

/// A window in which resources are set aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListedReservation {
    /// Its name.
    pub(crate) name: String,
    /// First second.
    pub(crate) start_s: i64,
    /// The second after the last.
    pub(crate) end_s: i64,
    /// Names of its nodes.
    pub(crate) nodes: BTreeSet<String>,
    /// Cores, where they are stated.
    pub(crate) core_n: Option<i64>,
    /// GPUs, where they are stated.
    pub(crate) gpu_n: Option<i64>,
    /// Memory, where it is stated.
    pub(crate) memory_byte: Option<i64>,
    /// Flags in upper case, comma-separated.
    flags: String,
    /// Accounts that may use it.
    accounts: BTreeSet<String>,
    /// Users that may use it.
    users: BTreeSet<String>,
}

impl ListedReservation {
    /// When it is in force.
    pub(crate) fn span(&self) -> SecondSpan {
        SecondSpan {
            start_s: self.start_s,
            end_s: self.end_s,
        }
    }

    /// Whether it has a flag of Slurm.
    pub(crate) fn has(&self, flag: &str) -> bool {
        // Some flags have a value, as PURGE_COMP=00:05:00.
        let words = self.flags.split(',').filter_map(|own| own.split('=').next());
        words.map(str::trim).any(|own| own == flag)
    }

    /// Whose a node is that several reservations name at a time, the smallest first: Slurm runs jobs of a reservation with MAINT
    /// on all its nodes, of one with OVERLAP on those that no other with MAINT has, and of others on those that are theirs alone.
    pub(crate) fn rank(&self) -> impl Ord + '_ {
        let place = if self.has("MAINT") {
            0
        } else if self.has("OVERLAP") {
            1
        } else {
            2
        };
        (place, self.start_s, &self.name)
    }

    /// What it does not state, as another listing of it does: `sacctmgr` states neither who may use it nor, unless asked, nodes.
    fn filled(mut self, other: &Self) -> Self {
        if self.nodes.is_empty() {
            self.nodes.clone_from(&other.nodes);
        }
        if self.flags.is_empty() {
            self.flags.clone_from(&other.flags);
        }
        if self.accounts.is_empty() && self.users.is_empty() {
            self.accounts.clone_from(&other.accounts);
            self.users.clone_from(&other.users);
        }
        self.core_n = self.core_n.or(other.core_n);
        self.gpu_n = self.gpu_n.or(other.gpu_n);
        self.memory_byte = self.memory_byte.or(other.memory_byte);
        self
    }

    /// Whether it names the account or the user of a record.
    fn names(&self, row: &LakeRow) -> bool {
        let has = |names: &BTreeSet<String>, own: Option<&String>| own.is_some_and(|own| names.contains(own));
        has(&self.accounts, row.account.as_ref()) || has(&self.users, row.owner.user.as_ref())
    }

    /// Whether a record started while it was in force.
    pub(crate) fn is_in_force_at_start(&self, row: &LakeRow) -> bool {
        row.start_s.is_some_and(|start_s| self.span().has(start_s))
    }

    /// Whether it lets the account or the user of a record use it, or does not state who may.
    pub(crate) fn admits(&self, row: &LakeRow) -> bool {
        (self.accounts.is_empty() && self.users.is_empty()) || self.names(row)
    }
}

/// The reservations of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct LakeReservations {
    /// Those that had begun when a listing last named them, in the order of names and starts.
    pub(crate) listed: Vec<ListedReservation>,
    /// Those that had not: plans.
    pub(crate) planned_n: u64,
    /// Those of which nothing states the site or cluster, and there are several.
    pub(crate) unplaced_n: u64,
}

/// Which listing of a window is the last: when it was true, then the later end, then the file.
type ListingRank = (Option<i64>, i64, String);

impl LakeReservations {
    /// Reads those of a cluster. Of several listings of one window (name and start) the last holds.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read.
    pub(crate) fn read(store: &Store, manifest: &Manifest, place: ClusterPlace<'_>) -> Result<Self> {
        let site_n = sites(manifest).len();
        let mut last: BTreeMap<(String, i64), (ListingRank, ListedReservation)> = BTreeMap::new();
        let mut unplaced = BTreeSet::new();
        for file in manifest.dataset("reservation") {
            for batch in read_table(store.reader(&file.path)?, None, BATCH_ROWS)? {
                let batch = &batch?;
                let words = |name| text(batch, name);
                let (site, cluster, name) = (words("site")?, words("cluster")?, words("reservation")?);
                let (nodes, flags, files) = (words("nodes")?, words("flags")?, words("file_id")?);
                let (accounts, users) = (words("accounts")?, words("users")?);
                let as_of = time(batch, "as_of_utc")?;
                let (start, end) = (time(batch, "start_utc")?, time(batch, "end_utc")?);
                let ints = |name| int(batch, name);
                let (cores, gpus, memory) = (ints("core_n")?, ints("gpu_n")?, ints("memory_byte")?);
                for row in 0..batch.num_rows() {
                    let is_of = |stated: Option<&str>, own: Option<&str>, is_only: bool| match (stated, own) {
                        (Some(stated), Some(own)) => Some(stated == own),
                        (None, Some(_)) if !is_only => None,
                        _ => Some(true),
                    };
                    let is_of_site = is_of(word(site, row), Some(place.site), site_n <= 1);
                    let is_of_cluster = is_of(word(cluster, row), place.cluster, place.clusters.len() <= 1);
                    let start_s = start.value(row).div_euclid(SECOND_MS);
                    let key = (name.value(row).to_owned(), start_s);
                    match (is_of_site, is_of_cluster) {
                        (Some(true), Some(true)) => {}
                        (Some(false), _) | (_, Some(false)) => continue,
                        _ => {
                            unplaced.insert(key);
                            continue;
                        }
                    }
                    let end_ms = end.value(row);
                    let rank = (
                        number(as_of, row),
                        end_ms,
                        crate::absent::text(word(files, row)).to_owned(),
                    );
                    let listed = ListedReservation {
                        name: key.0.clone(),
                        start_s,
                        end_s: end_ms.div_euclid(SECOND_MS),
                        nodes: hosts(word(nodes, row)),
                        core_n: number(cores, row),
                        gpu_n: number(gpus, row),
                        memory_byte: number(memory, row),
                        flags: crate::absent::text(word(flags, row)).to_owned(),
                        accounts: names(word(accounts, row)),
                        users: names(word(users, row)),
                    };
                    let merged = match last.remove(&key) {
                        Some((known, earlier)) if rank > known => (rank, listed.filled(&earlier)),
                        Some((known, later)) => (known, later.filled(&listed)),
                        None => (rank, listed),
                    };
                    last.insert(key, merged);
                }
            }
        }
        // What had not begun when it was last listed was a plan.
        let is_begun = |(rank, listed): &(ListingRank, ListedReservation)| {
            rank.0
                .is_none_or(|as_of_ms| listed.start_s <= as_of_ms.div_euclid(SECOND_MS))
        };
        let (begun, planned): (Vec<_>, Vec<_>) = last.into_values().partition(is_begun);
        let listed = begun.into_iter().map(|(_, listed)| listed);
        Ok(Self {
            listed: listed.filter(|listed| listed.start_s < listed.end_s).collect(),
            planned_n: count_u64(planned.len()),
            unplaced_n: count_u64(unplaced.len()),
        })
    }

    /// Records that may have run in one of these reservations: those that state none and started, as recorded, while one was in force that
    /// names their account or user. Which of them did is not known where no record states it.
    pub(crate) fn candidate_n(&self, rows: &Column<LakeRow>) -> u64 {
        if self.listed.is_empty() {
            return 0;
        }
        let may_be = |row: &LakeRow| {
            let mut listed = self.listed.iter();
            row.reservation.is_none() && listed.any(|listed| listed.is_in_force_at_start(row) && listed.names(row))
        };
        count_u64(rows.iter().filter(may_be).count())
    }
}

/// The hosts of a list; none of one that cannot be read, as its reader has refused it before.
fn hosts(list: Option<&str>) -> BTreeSet<String> {
    let list = list.and_then(|list| Hostlist::parse(list).ok());
    let hosts = list.iter().flat_map(Hostlist::hosts);
    hosts.map(std::borrow::Cow::into_owned).collect()
}

/// The names of a list that are allowed, not denied.
fn names(list: Option<&str>) -> BTreeSet<String> {
    let names = list.into_iter().flat_map(|list| list.split(',')).map(str::trim);
    let allowed = names.filter(|name| !name.is_empty() && !name.starts_with('-'));
    allowed.map(str::to_owned).collect()
}
