//! What the scheduler itself counted: listings of shares with usage and factors at an instant.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::{Array, RecordBatch};

use super::files::ClusterFiles;
use super::listing::DatedTrees;
use super::settings::READ_ROWS;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::Result;
use crate::fairshare::float::of_integer;
use crate::fairshare::{AssociationKey, AssociationTree, LevelFairshare};
use crate::schema::batch::{decimal, flag, int, number, text, time, word};
use crate::store::{Current, Store, read_table};

/// One of a fraction, 10^-12.
const E12: f64 = 1e12;
/// What printing with six digits behind the point changes of a fraction, and more than what a double does.
const SIX_DIGITS: f64 = 1e-6;
/// The same of two digits, to which the association manager rounds.
const TWO_DIGITS: f64 = 0.005 + SIX_DIGITS;

/// A fraction as it is stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedFraction {
    /// What is stated.
    pub value: f64,
    /// By how much printing may have changed it.
    pub printed: f64,
}

impl StatedFraction {
    /// The one with more digits, the first of two with the same.
    fn finer(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) if other.printed < one.printed => Some(other),
            (one, other) => one.or(other),
        }
    }
}

/// What one association has according to the scheduler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatedCounters {
    /// `RawUsage`, 10^-6 billing seconds.
    pub usage_e6: Option<i128>,
    /// `NormShares`.
    pub norm_shares: Option<StatedFraction>,
    /// `EffectvUsage`.
    pub effective_usage: Option<StatedFraction>,
    /// `FairShare`.
    pub factor: Option<StatedFraction>,
    /// `LevelFS`.
    pub level_fs: Option<LevelFairshare>,
}

impl StatedCounters {
    /// Takes what another file states of the same association and this one does not, or not with as many digits.
    fn complete(&mut self, other: &Self) {
        self.usage_e6 = self.usage_e6.or(other.usage_e6);
        self.norm_shares = StatedFraction::finer(self.norm_shares, other.norm_shares);
        self.effective_usage = StatedFraction::finer(self.effective_usage, other.effective_usage);
        self.factor = StatedFraction::finer(self.factor, other.factor);
        self.level_fs = self.level_fs.or(other.level_fs);
    }
}

/// The listing of one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterListing {
    /// By association. Of several files of one instant the one with the most digits counts for each fraction, and the first
    /// one, by path, of equal ones and for usage.
    pub associations: BTreeMap<AssociationKey, StatedCounters>,
    /// Names of the resources in the order of the scheduler, where it states them.
    pub resource_names: Vec<String>,
    /// Users in accounts with several rows of one file that differ and state no partition: it is unknown which is which.
    several: BTreeSet<AssociationKey>,
}

impl CounterListing {
    /// Adds a row of a file.
    fn add(&mut self, key: AssociationKey, stated: StatedCounters) {
        match self.associations.get(&key) {
            Some(known) if *known == stated => {}
            Some(_) => {
                self.several.insert(key);
            }
            None => {
                self.associations.insert(key, stated);
            }
        }
    }

    /// Adds another file of the same instant.
    fn absorb(&mut self, other: Self) {
        if self.resource_names.is_empty() {
            self.resource_names = other.resource_names;
        }
        for (key, stated) in other.associations {
            if !other.several.contains(&key) {
                self.associations.entry(key).or_default().complete(&stated);
            }
        }
    }

    /// Takes rows that state no partition for the association of a partition, where that is the only one of its user in its
    /// account: `sshare` without `-m` prints no partition.
    fn match_partitions(&mut self, tree: &AssociationTree) {
        let mut only: BTreeMap<AssociationKey, Option<&AssociationKey>> = BTreeMap::new();
        for (_, association) in tree.iter().filter(|(_, association)| association.key.is_user()) {
            let plain = AssociationKey {
                partition: None,
                ..association.key.clone()
            };
            let several = only.insert(plain.clone(), Some(&association.key)).is_some();
            if several {
                only.insert(plain, None);
            }
        }
        for (plain, key) in only {
            if tree.find(&plain).is_some() {
                continue;
            }
            // Of several associations in partitions it is unknown which a row is of.
            if let (Some(stated), Some(key)) = (self.associations.remove(&plain), key) {
                self.associations.entry(key.clone()).or_default().complete(&stated);
            }
        }
    }
}

/// Listings by instant.
#[derive(Clone, Debug, Default)]
pub struct DatedCounters {
    /// By Unix seconds.
    pub listings: BTreeMap<i64, CounterListing>,
    /// Rows whose instant is unknown.
    pub undated_n: u64,
}

impl DatedCounters {
    /// Reads the listings of a cluster. One that was overwritten does not count for an instant that a present one states.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when one cannot be read.
    pub fn read(store: &Store, files: &ClusterFiles, of: &FairsharePlan) -> Result<Self> {
        let (mut found, mut replaced) = (Self::default(), Self::default());
        let mut shares: Vec<&Current> = files.shares.iter().collect();
        shares.sort_by(|one, other| one.path.cmp(&other.path));
        for file in shares {
            let is_present = files.present.contains(&file.path);
            let mut of_file = Self::default();
            for batch in read_table(store.reader(&file.place)?, None, READ_ROWS)? {
                of_file.add(&batch?, of)?;
            }
            let into = if is_present { &mut found } else { &mut replaced };
            into.undated_n += of_file.undated_n;
            for (at_s, listing) in of_file.listings {
                into.listings.entry(at_s).or_default().absorb(listing);
            }
        }
        for (at_s, listing) in replaced.listings {
            found.listings.entry(at_s).or_insert(listing);
        }
        Ok(found)
    }

    /// Takes rows that state no partition for the associations of `trees` that they are of.
    #[must_use]
    pub fn matched_to(mut self, trees: &DatedTrees) -> Self {
        for (at_s, listing) in &mut self.listings {
            // Fallback: an instant beyond all milliseconds has the last tree.
            if let Some(tree) = trees.at(at_s.saturating_mul(1000)) {
                listing.match_partitions(tree);
            }
        }
        self
    }

    /// The listing of an instant, or the newest one, and the one before it.
    #[must_use]
    pub fn pair(&self, at_s: Option<i64>) -> Option<CounterPair<'_>> {
        let (at_s, listing) = match at_s {
            Some(at_s) => (at_s, self.listings.get(&at_s)?),
            None => self.listings.last_key_value().map(|(at_s, listing)| (*at_s, listing))?,
        };
        let before = self.listings.range(..at_s).next_back();
        Some(CounterPair {
            at_s,
            listing,
            earlier_s: before.map(|(at_s, _)| *at_s),
            earlier: before.map(|(_, listing)| listing),
        })
    }

    fn add(&mut self, batch: &RecordBatch, of: &FairsharePlan) -> Result<()> {
        let (site, cluster) = (text(batch, "site")?, text(batch, "cluster")?);
        let (account, user) = (text(batch, "account")?, text(batch, "user")?);
        let (partition, as_of) = (text(batch, "partition")?, time(batch, "as_of_utc")?);
        let (usage, norm_shares) = (decimal(batch, "raw_usage_s")?, decimal(batch, "norm_shares")?);
        let (effective, factor) = (decimal(batch, "effective_usage")?, decimal(batch, "fairshare_factor")?);
        let (level_fs, is_infinite) = (decimal(batch, "level_fs")?, flag(batch, "is_level_fs_infinite")?);
        // Only the association manager states the shares of a level, and it has two digits of all fractions.
        let (run_mins, level_shares) = (text(batch, "tres_run_mins")?, int(batch, "level_share_n")?);
        for row in 0..batch.num_rows() {
            if !of.may_be_of(word(site, row), word(cluster, row)) {
                continue;
            }
            let Some(name) = word(account, row) else { continue };
            let Some(as_of_ms) = number(as_of, row) else {
                self.undated_n += 1;
                continue;
            };
            let listing = self.listings.entry(as_of_ms.div_euclid(1000)).or_default();
            if let Some(names) = word(run_mins, row).filter(|_| listing.resource_names.is_empty()) {
                let named = names.split(',').filter_map(|amount| amount.split_once('='));
                listing.resource_names = named.map(|(name, _)| name.to_owned()).collect();
            }
            let owned = |column, row| word(column, row).map(str::to_owned);
            let key = AssociationKey {
                account: name.to_owned(),
                user: owned(user, row),
                partition: owned(partition, row),
            };
            let level = if is_infinite.is_valid(row) && is_infinite.value(row) {
                Some(LevelFairshare::Infinite)
            } else {
                number(level_fs, row).map(|level_e12| LevelFairshare::Finite(of_integer(level_e12) / E12))
            };
            let printed = if level_shares.is_valid(row) {
                TWO_DIGITS
            } else {
                SIX_DIGITS
            };
            let fraction = |column| {
                let value = of_integer(number(column, row)?) / E12;
                Some(StatedFraction { value, printed })
            };
            let stated = StatedCounters {
                usage_e6: number(usage, row),
                norm_shares: fraction(norm_shares),
                effective_usage: fraction(effective),
                factor: fraction(factor),
                level_fs: level,
            };
            listing.add(key, stated);
        }
        Ok(())
    }
}

/// A listing and the one before it.
#[derive(Clone, Copy, Debug)]
pub struct CounterPair<'a> {
    /// The instant, Unix seconds.
    pub at_s: i64,
    /// What is stated then.
    pub listing: &'a CounterListing,
    /// The instant of the one before.
    pub earlier_s: Option<i64>,
    /// What is stated there.
    pub earlier: Option<&'a CounterListing>,
}
