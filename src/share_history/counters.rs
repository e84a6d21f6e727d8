//! What the scheduler itself counted: listings of shares with usage and factors at an instant.

use std::collections::BTreeMap;

use arrow::array::{Array, RecordBatch};

use super::files::ClusterFiles;
use super::settings::READ_ROWS;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::Result;
use crate::fairshare::float::of_integer;
use crate::fairshare::{AssociationKey, LevelFairshare};
use crate::schema::batch::{decimal, flag, number, text, time, word};
use crate::store::{Current, Store, read_table};

/// One of a fraction, 10^-12.
const E12: f64 = 1e12;

/// What one association has according to the scheduler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatedCounters {
    /// `RawUsage`, 10^-6 billing seconds.
    pub usage_e6: Option<i128>,
    /// `NormShares`.
    pub norm_shares: Option<f64>,
    /// `EffectvUsage`.
    pub effective_usage: Option<f64>,
    /// `FairShare`.
    pub factor: Option<f64>,
    /// `LevelFS`.
    pub level_fs: Option<LevelFairshare>,
}

/// The listing of one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterListing {
    /// By association. Of several files of one instant the first one, by path, counts for each value.
    pub associations: BTreeMap<AssociationKey, StatedCounters>,
    /// Names of the resources in the order of the scheduler, where it states them.
    pub resource_names: Vec<String>,
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
            let into = if is_present { &mut found } else { &mut replaced };
            for batch in read_table(store.reader(&file.place)?, None, READ_ROWS)? {
                into.add(&batch?, of)?;
            }
        }
        for (at_s, listing) in replaced.listings {
            found.listings.entry(at_s).or_insert(listing);
        }
        Ok(found)
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
        let run_mins = text(batch, "tres_run_mins")?;
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
            let fraction = |column, row| number(column, row).map(|e12| of_integer(e12) / E12);
            let stated = listing.associations.entry(key).or_default();
            stated.usage_e6 = stated.usage_e6.or(number(usage, row));
            stated.norm_shares = stated.norm_shares.or(fraction(norm_shares, row));
            stated.effective_usage = stated.effective_usage.or(fraction(effective, row));
            stated.factor = stated.factor.or(fraction(factor, row));
            stated.level_fs = stated.level_fs.or(level);
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
