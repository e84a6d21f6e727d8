//! Listings of associations: trees, each with the instant from which it holds.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::{Array, Int64Array, RecordBatch, StringArray};

use super::basis::{ClusterBasis, ListingReach, ListingReaches};
use super::files::ClusterFiles;
use super::settings::READ_ROWS;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::{Error, Result};
use crate::fairshare::TreeProblem;
use crate::fairshare::{AssociationId, AssociationKey, AssociationTree, RawShares, TreeRow};
use crate::hive;
use crate::reference::inventory::WITHHELD_USER;
use crate::schema::batch::{flag, int, number, text, time, word};
use crate::store::{Current, Store, read_table};

/// The trees of one cluster.
#[derive(Clone, Debug)]
pub struct DatedTrees {
    /// By the instant of the listing, Unix milliseconds; `None` where it is unknown. Never empty.
    trees: BTreeMap<Option<i64>, ListedTree>,
    /// The first instant that a listing states, if a tree had to be taken for time before it.
    is_from_later: bool,
}

/// A tree, and what its listing states of each row in addition.
#[derive(Clone, Debug)]
pub struct ListedTree {
    /// The tree.
    pub tree: AssociationTree,
    /// By row.
    limits: Vec<AssociationLimits>,
}

/// What an association may use, and what its jobs are worth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssociationLimits {
    /// `GrpTRESMins` as listed.
    pub grp_tres_mins: Option<String>,
    /// `Priority`; `None` where the listing does not state one.
    priority: Option<u32>,
}

impl ListedTree {
    /// What its listing states of an association; `None` of a root that was added.
    #[must_use]
    pub fn limits(&self, id: AssociationId) -> Option<&AssociationLimits> {
        self.limits.get(self.tree.get(id)?.row?)
    }

    /// The priority of an association as its jobs have it: its own, else that of the nearest account above it with one,
    /// else 0.
    #[must_use]
    pub fn priority(&self, id: AssociationId) -> u32 {
        let mut at = Some(id);
        while let Some(here) = at {
            if let Some(priority) = self.limits(here).and_then(|limits| limits.priority) {
                return priority;
            }
            at = self.tree.get(here).and_then(|association| association.parent);
        }
        0
    }

    /// The highest priority of all associations, by which Slurm divides.
    #[must_use]
    pub fn highest_priority(&self) -> u32 {
        let stated = self.limits.iter().filter_map(|limits| limits.priority);
        // Fallback: where no association has a priority, all have Slurm's default of 0.
        stated.max().unwrap_or(0)
    }
}

/// Rows of one listing, and where each is.
#[derive(Default)]
struct ListedRows {
    rows: Vec<TreeRow>,
    limits: Vec<AssociationLimits>,
    places: Vec<RowPlaceInFile>,
}

/// Where a row of a listing was read.
struct RowPlaceInFile {
    file_id: Option<String>,
    line: Option<i64>,
}

impl RowPlaceInFile {
    fn of(file_id: &StringArray, line: &Int64Array, row: usize) -> Self {
        Self {
            file_id: word(file_id, row).map(str::to_owned),
            line: number(line, row),
        }
    }
}

impl RowPlaceInFile {
    /// Line and file for people; the file by its path, where that is known.
    fn text(&self, paths: &BTreeMap<String, String>) -> String {
        let unknown = || "an unknown".to_owned();
        let line = self.line.map_or_else(unknown, |line| line.to_string());
        let file_id = self.file_id.as_deref().unwrap_or("unknown");
        match paths.get(file_id) {
            Some(path) => format!("line {line} of {path}"),
            None => format!("line {line} of input {file_id}"),
        }
    }
}

impl DatedTrees {
    /// Reads the listings of a cluster. A listing without an instant holds whenever no other does.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when there is none, or one is no tree: with the mistakes, each with its line;
    /// [`crate::error::Kind::Io`] when one cannot be read.
    pub fn read(store: &Store, files: &ClusterFiles, of: &FairsharePlan) -> Result<Self> {
        let mut listed: BTreeMap<Option<i64>, ListedRows> = BTreeMap::new();
        // A listing that was overwritten does not count for an instant that a present one states.
        let mut replaced = BTreeMap::new();
        for file in of_source(files, of) {
            let is_present = files.present.contains(&file.path);
            let rows = if is_present { &mut listed } else { &mut replaced };
            for batch in read_table(store.reader(&file.place)?, None, READ_ROWS)? {
                add_rows(&batch?, of, &files.input_paths, rows)?;
            }
        }
        for (at, rows) in replaced {
            listed.entry(at).or_insert(rows);
        }
        if listed.is_empty() {
            let message = format!(
                "no listing of associations of \"{}\" is of cluster {}: sacctmgr dump, sshare, or sacctmgr show associations \
                 with ParentName",
                of.listing, of.cluster
            );
            return Err(Error::config(message));
        }
        let mut trees = BTreeMap::new();
        let mut parents: BTreeMap<String, String> = BTreeMap::new();
        for (at, rows) in listed {
            let tree = AssociationTree::of_rows(&rows.rows, of.parentless);
            let mut tree = tree.map_err(|problems| no_tree(&problems, &rows, &files.input_paths))?;
            tree.take_former(&parents);
            let own = tree.account_parents();
            parents.extend(own.map(|(account, parent)| (account.to_owned(), parent.to_owned())));
            let limits = rows.limits;
            trees.insert(at, ListedTree { tree, limits });
        }
        Ok(Self {
            is_from_later: !trees.contains_key(&None),
            trees,
        })
    }

    /// The tree in force at an instant: of the last listing up to then, else the first one.
    #[must_use]
    pub fn at(&self, ms: i64) -> Option<&AssociationTree> {
        self.listed_at(ms).map(|listed| &listed.tree)
    }

    /// As [`Self::at`], with what the listing states in addition.
    #[must_use]
    pub fn listed_at(&self, ms: i64) -> Option<&ListedTree> {
        let until = self.trees.range(..=Some(ms)).next_back();
        until.or_else(|| self.trees.first_key_value()).map(|(_, tree)| tree)
    }

    /// All trees in the order of time, each with the instant of its listing, Unix milliseconds, where it states one.
    pub(super) fn dated(&self) -> impl Iterator<Item = (Option<i64>, &AssociationTree)> {
        self.trees.iter().map(|(at_ms, listed)| (*at_ms, &listed.tree))
    }

    /// Changes every tree.
    pub(super) fn each_mut(&mut self, mut change: impl FnMut(&mut AssociationTree)) {
        for listed in self.trees.values_mut() {
            change(&mut listed.tree);
        }
    }

    /// The instant of the first listing where all of them state one: before it its shares are an assumption.
    #[must_use]
    pub(crate) fn first_stated_ms(&self) -> Option<i64> {
        self.trees
            .keys()
            .next()
            .copied()
            .flatten()
            .filter(|_| self.is_from_later)
    }
}

/// The files with listings of the inventory that `[[fairshare]]` names.
fn of_source<'a>(files: &'a ClusterFiles, of: &'a FairsharePlan) -> impl Iterator<Item = &'a Current> {
    files.associations.iter().filter(|file| {
        let segments = file.path.split('/').filter_map(hive::parse);
        let mut sources = segments.filter(|(name, _)| name == "source");
        sources.any(|(_, source)| source.as_deref() == Some(&of.listing))
    })
}

/// The instants of each file with listings. A file is only read for that when no run before has.
///
/// # Errors
/// [`crate::error::Kind::Io`] when one cannot be read.
pub(super) fn listing_reaches(
    store: &Store,
    files: &ClusterFiles,
    of: &FairsharePlan,
    former: Option<&ClusterBasis>,
) -> Result<ListingReaches> {
    let mut reaches = ListingReaches::new();
    for file in of_source(files, of) {
        let is_present = files.present.contains(&file.path);
        let known = former.and_then(|former| former.listing(&file.path, &file.blake3));
        let instants_ms = match known {
            Some(known) => known.instants_ms.clone(),
            None => instants_ms(store, file)?,
        };
        let hash = file.blake3.clone();
        reaches.insert(
            file.path.clone(),
            ListingReach {
                hash,
                is_present,
                instants_ms,
            },
        );
    }
    Ok(reaches)
}

fn instants_ms(store: &Store, file: &Current) -> Result<BTreeSet<Option<i64>>> {
    let mut instants_ms = BTreeSet::new();
    for batch in read_table(store.reader(&file.place)?, Some(&["as_of_utc"]), READ_ROWS)? {
        let batch = batch?;
        let as_of = time(&batch, "as_of_utc")?;
        instants_ms.extend((0..batch.num_rows()).map(|row| number(as_of, row)));
    }
    Ok(instants_ms)
}

fn add_rows(
    batch: &RecordBatch,
    of: &FairsharePlan,
    paths: &BTreeMap<String, String>,
    listed: &mut BTreeMap<Option<i64>, ListedRows>,
) -> Result<()> {
    let (site, cluster) = (text(batch, "site")?, text(batch, "cluster")?);
    let (account, user) = (text(batch, "account")?, text(batch, "user")?);
    let (partition, parent) = (text(batch, "partition")?, text(batch, "parent_account")?);
    let (shares, is_parent) = (int(batch, "share_n")?, flag(batch, "is_parent_share")?);
    let (grp_tres_mins, other_limits) = (text(batch, "grp_tres_mins")?, text(batch, "limits")?);
    let (as_of, file_id, line) = (time(batch, "as_of_utc")?, text(batch, "file_id")?, int(batch, "line")?);
    for row in 0..batch.num_rows() {
        if !of.may_be_of(word(site, row), word(cluster, row)) {
            continue;
        }
        let Some(name) = word(account, row) else { continue };
        let owned = |column, row| word(column, row).map(str::to_owned);
        let key = AssociationKey {
            account: name.to_owned(),
            user: owned(user, row),
            partition: owned(partition, row),
        };
        if key.user.as_deref() == Some(WITHHELD_USER) {
            let message = format!(
                "[[fairshare]] of cluster {}: usage of users is matched with their shares by name, and [privacy] withholds the names \
                 of users; set user = \"keep\" there, or list accounts without their users",
                of.cluster
            );
            let place = RowPlaceInFile::of(file_id, line, row);
            return Err(Error::config(message).at("row", place.text(paths)));
        }
        let stated = number(shares, row);
        let own = stated.and_then(|shares| u32::try_from(shares).ok());
        let raw = match own {
            Some(shares) => RawShares::Number(shares),
            None if is_parent.is_valid(row) && is_parent.value(row) => RawShares::Parent,
            // Slurm's default.
            None if stated.is_none() => RawShares::Number(1),
            None => {
                let message = format!("{key} has impossible shares");
                let place = RowPlaceInFile::of(file_id, line, row);
                return Err(Error::config(message).at("row", place.text(paths)));
            }
        };
        let priority = match priority_of(word(other_limits, row)) {
            Ok(priority) => priority,
            Err(text) => {
                let message = format!("{key} has the priority {text}, which is not a number");
                let place = RowPlaceInFile::of(file_id, line, row);
                return Err(Error::config(message).at("row", place.text(paths)));
            }
        };
        let rows = listed.entry(number(as_of, row)).or_default();
        rows.limits.push(AssociationLimits {
            grp_tres_mins: owned(grp_tres_mins, row),
            priority,
        });
        let parent_account = owned(parent, row).filter(|_| !key.is_user());
        rows.rows.push(TreeRow {
            key,
            parent_account,
            shares: raw,
        });
        rows.places.push(RowPlaceInFile::of(file_id, line, row));
    }
    Ok(())
}

/// The priority among other limits (`name=value;name=value`); an error with its text where it is not a number.
fn priority_of(limits: Option<&str>) -> Result<Option<u32>, String> {
    let mut named = limits.into_iter().flat_map(|limits| limits.split(';'));
    let stated = named.find_map(|limit| limit.strip_prefix("priority="));
    match stated.map(str::trim) {
        None | Some("") => Ok(None),
        Some(none) if none.eq_ignore_ascii_case("none") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| text.to_owned()),
    }
}

/// Mistakes that an error lists.
const LISTED_PROBLEMS: usize = 10;

fn no_tree(problems: &[TreeProblem], rows: &ListedRows, paths: &BTreeMap<String, String>) -> Error {
    let lines = problems.iter().take(LISTED_PROBLEMS).map(|problem| {
        let place = problem.row().and_then(|row| rows.places.get(row));
        place.map_or_else(
            || problem.to_string(),
            |place| format!("{problem} ({})", place.text(paths)),
        )
    });
    let mut listed: Vec<String> = lines.collect();
    if problems.len() > LISTED_PROBLEMS {
        listed.push(format!("and {} more", problems.len() - LISTED_PROBLEMS));
    }
    let message = format!(
        "the listing of associations is not a tree: {}. Listings without parents are a tree with \
         accounts_without_parent = \"under-root\"; several listings need as_of",
        listed.join("; ")
    );
    Error::config(message)
}
