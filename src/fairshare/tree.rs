//! The tree of associations, in the order in which `sshare` lists it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::association::{AssociationKey, RawShares, TreeRow};
use super::tree_problem::TreeProblem;

/// The name of Slurm's topmost account.
pub const ROOT_ACCOUNT: &str = "root";

/// What an account without a stated parent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParentlessAccounts {
    /// The root. A second one is a mistake.
    OnlyRoot,
    /// It hangs under the account `root`, which is added with one share where it is not listed. That is an assumption of
    /// the caller: listings of flat sites state no parents.
    UnderRoot,
}

/// An association of a tree: its place in the order of `sshare`, from 0, which is the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssociationId(usize);

impl AssociationId {
    /// The place in the order of the tree, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// One association in its tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Association {
    /// What it is called.
    pub key: AssociationKey,
    /// Its shares.
    pub shares: RawShares,
    /// The row it is made of; none for a root that was added.
    pub row: Option<usize>,
    /// The account it is in; none for the root.
    pub parent: Option<AssociationId>,
    /// How many accounts are above it.
    pub depth: usize,
    /// What is in it: users first, then accounts, each by name.
    pub children: Vec<AssociationId>,
}

/// Associations as a tree. They are held depth first, users before accounts, as `sshare` lists them; whatever is in an
/// account comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssociationTree {
    associations: Vec<Association>,
    places: BTreeMap<AssociationKey, AssociationId>,
    /// Accounts that are gone: the nearest account above each that the tree has.
    former: BTreeMap<String, AssociationId>,
}

impl AssociationTree {
    /// The tree of rows, in whatever order they are.
    ///
    /// # Errors
    /// Every mistake of the rows, in the order of rows.
    pub fn of_rows(rows: &[TreeRow], parentless: ParentlessAccounts) -> Result<Self, Vec<TreeProblem>> {
        let draft = Draft::of_rows(rows, parentless);
        let mut problems = draft.problems;
        if !problems.is_empty() {
            problems.sort_by_key(TreeProblem::row);
            return Err(problems);
        }
        let Some(root) = draft.root else {
            return Err(vec![TreeProblem::NoRoot]);
        };
        Ok(Self::walk(root, &draft.children))
    }

    /// Depth first from the root, without recursion: a listing may be deep.
    fn walk(root: Planned, children: &BTreeMap<String, Vec<Planned>>) -> Self {
        let mut tree = Self {
            associations: Vec::new(),
            places: BTreeMap::new(),
            former: BTreeMap::new(),
        };
        let mut waiting = vec![(root, None, 0)];
        while let Some((planned, parent, depth)) = waiting.pop() {
            let id = AssociationId(tree.associations.len());
            if !planned.key.is_user() {
                let inside = children.get(&planned.key.account).map_or(&[][..], Vec::as_slice);
                waiting.extend(inside.iter().rev().map(|child| (child.clone(), Some(id), depth + 1)));
            }
            if let Some(above) = parent.and_then(|AssociationId(at)| tree.associations.get_mut(at)) {
                above.children.push(id);
            }
            tree.places.insert(planned.key.clone(), id);
            tree.associations.push(Association {
                key: planned.key,
                shares: planned.shares,
                row: planned.row,
                parent,
                depth,
                children: Vec::new(),
            });
        }
        tree
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.associations.len()
    }

    /// Never: a tree has a root.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.associations.is_empty()
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> AssociationId {
        AssociationId(0)
    }

    /// All of them in order, with their ids.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (AssociationId, &Association)> {
        let numbered = self.associations.iter().enumerate();
        numbered.map(|(at, association)| (AssociationId(at), association))
    }

    /// One of them; none for an id of a larger tree.
    #[must_use]
    pub fn get(&self, id: AssociationId) -> Option<&Association> {
        self.associations.get(id.0)
    }

    /// The association of exactly this name.
    #[must_use]
    pub fn find(&self, key: &AssociationKey) -> Option<AssociationId> {
        self.places.get(key).copied()
    }

    /// The association a job runs under, as Slurm chooses it: the user's for the partition if there is one, otherwise the
    /// user's for any.
    #[must_use]
    pub fn of_job(&self, account: &str, user: &str, partition: &str) -> Option<AssociationId> {
        self.find(&AssociationKey::in_partition(account, user, partition))
            .or_else(|| self.find(&AssociationKey::user(account, user)))
    }

    /// The account that usage of an association counts for which the tree does not have: its own account, of one that is gone
    /// the nearest above it.
    #[must_use]
    pub fn account_of(&self, key: &AssociationKey) -> Option<AssociationId> {
        let listed = self.find(&AssociationKey::account(key.account.as_str()));
        listed.or_else(|| self.former.get(&key.account).copied())
    }

    /// Where usage of an association counts: in itself, else in an account ([`Self::account_of`]).
    #[must_use]
    pub fn place_of(&self, key: &AssociationKey) -> Option<AssociationId> {
        self.find(key).or_else(|| self.account_of(key))
    }

    /// Takes in where accounts that are gone were: `parents` has the account above each account, by the last listing that
    /// had it. The scheduler keeps usage of a deleted account in those above it.
    pub fn take_former(&mut self, parents: &BTreeMap<String, String>) {
        for (account, parent) in parents {
            if self.find(&AssociationKey::account(account.as_str())).is_some() {
                continue;
            }
            // An account that was moved may be above itself in listings of different times.
            let mut passed = BTreeSet::from([account]);
            let mut above = Some(parent);
            while let Some(at) = above.filter(|at| passed.insert(at)) {
                if let Some(id) = self.find(&AssociationKey::account(at.as_str())) {
                    self.former.insert(account.clone(), id);
                    break;
                }
                above = parents.get(at);
            }
        }
    }

    /// The account above each account.
    pub fn account_parents(&self) -> impl Iterator<Item = (&str, &str)> {
        let accounts = self
            .associations
            .iter()
            .filter(|association| !association.key.is_user());
        accounts.filter_map(|association| {
            let parent = self.get(association.parent?)?;
            Some((association.key.account.as_str(), parent.key.account.as_str()))
        })
    }

    /// Gives an association other shares; nothing is done for an id of a larger tree.
    pub fn set_shares(&mut self, id: AssociationId, shares: RawShares) {
        if let Some(association) = self.associations.get_mut(id.0) {
            association.shares = shares;
        }
    }

    /// Whether one is the other or is somewhere in it.
    #[must_use]
    pub fn is_within(&self, id: AssociationId, account: AssociationId) -> bool {
        let mut at = Some(id);
        while let Some(here) = at {
            if here == account {
                return true;
            }
            at = self.get(here).and_then(|association| association.parent);
        }
        false
    }

    /// How many of them are users', one for each partition of a user: Fair Tree's ranks begin there.
    #[must_use]
    pub fn user_n(&self) -> usize {
        self.associations
            .iter()
            .filter(|association| association.key.is_user())
            .count()
    }
}

/// An association that has no place yet.
#[derive(Clone)]
struct Planned {
    key: AssociationKey,
    shares: RawShares,
    row: Option<usize>,
}

/// What was found in the rows.
struct Draft {
    root: Option<Planned>,
    /// What is in each account, in order.
    children: BTreeMap<String, Vec<Planned>>,
    problems: Vec<TreeProblem>,
}

impl Draft {
    fn of_rows(rows: &[TreeRow], parentless: ParentlessAccounts) -> Self {
        let mut draft = Self {
            root: None,
            children: BTreeMap::new(),
            problems: Vec::new(),
        };
        let mut listed: BTreeMap<&AssociationKey, usize> = BTreeMap::new();
        let mut accounts: BTreeMap<&str, usize> = BTreeMap::new();
        for (row, of_row) in rows.iter().enumerate() {
            if let Some(first_row) = listed.get(&of_row.key) {
                draft.problems.push(TreeProblem::ListedTwice {
                    row,
                    first_row: *first_row,
                    key: of_row.key.clone(),
                });
            } else {
                listed.insert(&of_row.key, row);
                if !of_row.key.is_user() {
                    accounts.insert(&of_row.key.account, row);
                }
            }
        }
        let has_root = accounts.contains_key(ROOT_ACCOUNT);
        if parentless == ParentlessAccounts::UnderRoot && !has_root {
            draft.root = Some(Planned {
                key: AssociationKey::account(ROOT_ACCOUNT),
                shares: RawShares::Number(1),
                row: None,
            });
        }
        let mut above: BTreeMap<&str, &str> = BTreeMap::new();
        for (row, of_row) in rows.iter().enumerate() {
            if listed.get(&of_row.key) != Some(&row) {
                continue;
            }
            let is_added_root = draft.root.as_ref().is_some_and(|root| root.row.is_none());
            let is_listed =
                |account: &str| accounts.contains_key(account) || (is_added_root && account == ROOT_ACCOUNT);
            match draft.parent_of(row, of_row, parentless, is_listed) {
                Place::Nowhere => {}
                Place::Root => {
                    draft.root = Some(Planned::of(row, of_row));
                }
                Place::In(parent) => {
                    if !of_row.key.is_user() {
                        above.insert(&of_row.key.account, parent);
                    }
                    let inside = draft.children.entry(parent.to_owned()).or_default();
                    inside.push(Planned::of(row, of_row));
                }
            }
        }
        for inside in draft.children.values_mut() {
            inside.sort_by(|one, other| one.key.cmp(&other.key));
        }
        draft.problems.extend(cycles(&above, &accounts));
        if draft.root.is_none() && draft.problems.is_empty() {
            draft.problems.push(TreeProblem::NoRoot);
        }
        draft
    }

    /// Where a row belongs; what is wrong with it goes to the problems.
    fn parent_of<'a>(
        &mut self,
        row: usize,
        of_row: &'a TreeRow,
        parentless: ParentlessAccounts,
        is_listed: impl Fn(&str) -> bool,
    ) -> Place<'a> {
        let key = &of_row.key;
        let stated = of_row.parent_account.as_deref();
        let problem = match (key.is_user(), stated) {
            (false, _) if key.partition.is_some() => TreeProblem::PartitionOfAccount { row, key: key.clone() },
            (true, Some(parent)) if parent != key.account => TreeProblem::ParentOfUser {
                row,
                key: key.clone(),
                parent: parent.to_owned(),
            },
            (true, _) if is_listed(&key.account) => return Place::In(&key.account),
            (true, _) => TreeProblem::UnlistedAccount { row, key: key.clone() },
            (false, Some(parent)) if is_listed(parent) => return Place::In(parent),
            (false, Some(parent)) => TreeProblem::UnlistedParent {
                row,
                account: key.account.clone(),
                parent: parent.to_owned(),
            },
            (false, None) if parentless == ParentlessAccounts::UnderRoot && key.account != ROOT_ACCOUNT => {
                return Place::In(ROOT_ACCOUNT);
            }
            (false, None) => match self.root.as_ref().and_then(|root| root.row) {
                None => return Place::Root,
                Some(first_row) => TreeProblem::AnotherRoot {
                    row,
                    first_row,
                    account: key.account.clone(),
                },
            },
        };
        self.problems.push(problem);
        Place::Nowhere
    }
}

impl Planned {
    fn of(row: usize, of_row: &TreeRow) -> Self {
        Self {
            key: of_row.key.clone(),
            shares: of_row.shares,
            row: Some(row),
        }
    }
}

/// Where an association is.
enum Place<'a> {
    Nowhere,
    Root,
    In(&'a str),
}

/// Every cycle of accounts once, from its first row.
fn cycles(above: &BTreeMap<&str, &str>, rows: &BTreeMap<&str, usize>) -> Vec<TreeProblem> {
    // Fallback: an account without a row of its own is behind those with one.
    let row_of = |account: &str| rows.get(account).copied().unwrap_or(usize::MAX);
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for start in above.keys() {
        let (mut path, mut on_path) = (Vec::new(), BTreeSet::new());
        let mut at = Some(*start);
        while let Some(here) = at.filter(|here| !done.contains(here)) {
            if !on_path.insert(here) {
                let mut cycle: Vec<&str> = path.iter().copied().skip_while(|account| *account != here).collect();
                let first = cycle.iter().enumerate().min_by_key(|(_, account)| row_of(account));
                let (turn, row) = first.map_or((0, 0), |(turn, account)| (turn, row_of(account)));
                cycle.rotate_left(turn);
                found.push(TreeProblem::Cycle {
                    row,
                    accounts: cycle.into_iter().map(str::to_owned).collect(),
                });
                break;
            }
            path.push(here);
            at = above.get(here).copied();
        }
        done.extend(path);
    }
    found
}
