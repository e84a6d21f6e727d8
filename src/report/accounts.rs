//! Accounts a lake knows: those that listings of associations name, with the tree they form and who is in them, and those
//! that usage is under.

use std::collections::{BTreeMap, BTreeSet};

use super::lake::Lake;
use crate::diagnostics::did_you_mean;
use crate::error::Result;
use crate::numbers::Extent;
use crate::schema::batch::{number, text, time, word};
use crate::store::lake::parse_usage_path;

/// Names that an error lists.
const LISTED: usize = 10;

/// Where an account is; `None` where a listing does not state it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountPlace {
    /// Site.
    pub site: Option<String>,
    /// Cluster.
    pub cluster: Option<String>,
}

impl AccountPlace {
    /// Whether this may be a requested place; what either does not state matches any.
    #[must_use]
    pub fn may_be(&self, site: Option<&str>, cluster: Option<&str>) -> bool {
        let is = |own: &Option<String>, other: Option<&str>| match (own, other) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        is(&self.site, site) && is(&self.cluster, cluster)
    }
}

/// An account at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Account {
    /// Where.
    pub place: AccountPlace,
    /// Its name.
    pub name: String,
}

/// What the newest listing of each source states.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    /// The account above each; `None` where the listing does not state it, and for root.
    above: BTreeMap<Account, Option<String>>,
    /// Who is in each.
    users: BTreeSet<(Account, String)>,
}

impl Accounts {
    /// By the newest listing of each source.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read.
    pub fn listed(lake: &Lake) -> Result<Self> {
        let mut newest: BTreeMap<String, (Option<i64>, Self)> = BTreeMap::new();
        for file in lake.manifest.dataset("association") {
            let source = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            for batch in lake.batches(&file.path, None)? {
                let batch = batch?;
                let (site, cluster) = (text(&batch, "site")?, text(&batch, "cluster")?);
                let (account, user) = (text(&batch, "account")?, text(&batch, "user")?);
                let (parent, as_of) = (text(&batch, "parent_account")?, time(&batch, "as_of_utc")?);
                for row in 0..batch.num_rows() {
                    let Some(name) = word(account, row) else { continue };
                    let at = number(as_of, row);
                    let (known, listed) = newest.entry(source.to_owned()).or_default();
                    if at > *known {
                        *known = at;
                        *listed = Self::default();
                    }
                    if at != *known {
                        continue;
                    }
                    let of = |column| word(column, row).map(str::to_owned);
                    let account = Account {
                        place: AccountPlace {
                            site: of(site),
                            cluster: of(cluster),
                        },
                        name: name.to_owned(),
                    };
                    match of(user) {
                        Some(user) => {
                            listed.above.entry(account.clone()).or_default();
                            listed.users.insert((account, user));
                        }
                        None => {
                            listed.above.insert(account, of(parent));
                        }
                    }
                }
            }
        }
        let mut all = Self::default();
        for (_, listed) in newest.into_values() {
            all.above.extend(listed.above);
            all.users.extend(listed.users);
        }
        Ok(all)
    }

    /// Whether there is no listing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.above.is_empty()
    }

    /// Who is in which account.
    pub fn users(&self) -> impl Iterator<Item = &(Account, String)> {
        self.users.iter()
    }

    /// Every account.
    pub fn names(&self) -> impl Iterator<Item = &Account> {
        self.above.keys()
    }

    /// The accounts below an account, at any depth, where it may be meant: by name, the places.
    #[must_use]
    pub fn below(
        &self,
        name: &str,
        site: Option<&str>,
        cluster: Option<&str>,
    ) -> BTreeMap<String, BTreeSet<AccountPlace>> {
        let is_below = |account: &Account| {
            let mut at = account;
            let mut next;
            // A tree has no circle; a listing may have one.
            for _ in 0..self.above.len() {
                let Some(parent) = self.above.get(at).and_then(Option::as_deref) else {
                    return false;
                };
                if parent == name {
                    return true;
                }
                next = Account {
                    place: account.place.clone(),
                    name: parent.to_owned(),
                };
                at = &next;
            }
            false
        };
        let here = self.above.keys().filter(|account| account.place.may_be(site, cluster));
        let mut below: BTreeMap<String, BTreeSet<AccountPlace>> = BTreeMap::new();
        for account in here.filter(|account| is_below(account)) {
            let places = below.entry(account.name.clone()).or_default();
            places.insert(account.place.clone());
        }
        below
    }
}

/// The accounts that usage is under.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read.
pub fn used(lake: &Lake) -> Result<BTreeSet<Account>> {
    let mut accounts = BTreeSet::new();
    for file in lake.manifest.dataset("usage") {
        let Some((site, _, _)) = parse_usage_path(&file.path) else {
            continue;
        };
        for batch in lake.batches(&file.path, Some(&["cluster", "account"]))? {
            let batch = batch?;
            let (cluster, account) = (text(&batch, "cluster")?, text(&batch, "account")?);
            for row in 0..batch.num_rows() {
                if let Some(name) = word(account, row) {
                    accounts.insert(Account {
                        place: AccountPlace {
                            site: Some(site.clone()),
                            cluster: word(cluster, row).map(str::to_owned),
                        },
                        name: name.to_owned(),
                    });
                }
            }
        }
    }
    Ok(accounts)
}

/// Why an account requested at a place is not among the known ones; `None` when it is.
#[must_use]
pub fn why_unknown(name: &str, site: Option<&str>, cluster: Option<&str>, known: &BTreeSet<Account>) -> Option<String> {
    let same = || known.iter().filter(|account| account.name == name);
    if same().any(|account| account.place.may_be(site, cluster)) {
        return None;
    }
    let place: Vec<&str> = site.into_iter().chain(cluster).collect();
    let place = if place.is_empty() {
        String::new()
    } else {
        format!(" at {}", place.join(" "))
    };
    if let Some(other) = same().next() {
        let there = other.place.site.iter().chain(&other.place.cluster);
        let there: Vec<&str> = there.map(String::as_str).collect();
        return Some(format!(
            "no job and no listing of associations names the account \"{name}\"{place}; there is one at {}",
            there.join(" ")
        ));
    }
    let names: BTreeSet<&str> = known.iter().map(|account| account.name.as_str()).collect();
    let mut hint = did_you_mean(name, names.iter().copied());
    if hint.is_empty() && !names.is_empty() {
        let first: Vec<&str> = names.iter().copied().take(LISTED).collect();
        let more = names.len().less(LISTED);
        let more = if more > 0 {
            format!(" and {more} others")
        } else {
            String::new()
        };
        hint = format!("; there are {}{more}", first.join(", "));
    }
    Some(format!(
        "no job and no listing of associations names the account \"{name}\"{place}{hint}; the names of a new account come \
         with an [[inventory]] of `sacctmgr show assoc`"
    ))
}
