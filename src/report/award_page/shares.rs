//! The fairshare of the accounts of awards, day by day: what the dataset `fairshare` states, and who is owed by it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use arrow_array::RecordBatch;

use crate::award::Award;
use crate::charge::span::times_over;
use crate::error::{Error, Kind, Result};
use crate::reference::node_type::day_text;
use crate::report::lake::Lake;
use crate::report::table::{Cell, ColumnKind, Table};
use crate::schema::batch::{date, decimal, number, text, word};
use crate::store::lake::parse_fairshare_path;
use crate::time::{Day, Month};

/// Billionths of one.
const ONE_E9: i128 = 1_000_000_000;
/// Millionths of a billing second in an hour.
const HOUR_E6: i128 = 3_600_000_000;

/// Where shares are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharePlace {
    /// Site.
    pub site: String,
    /// Cluster.
    pub cluster: String,
}

/// An account with shares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShareAccount {
    /// Where.
    pub place: SharePlace,
    /// Its name.
    pub name: String,
}

/// An account at the end of a day, as the dataset states it; shares are billionths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountShares {
    /// The day.
    pub day: Day,
    /// The account above it.
    pub parent: Option<String>,
    /// `norm_shares`.
    pub norm_shares: Option<i128>,
    /// `norm_usage`.
    pub norm_usage: Option<i128>,
    /// `effective_usage`.
    pub effective_usage: Option<i128>,
    /// `fairshare_factor`.
    pub factor: Option<i128>,
    /// `level_fs`.
    pub level_fs: Option<i128>,
    /// `usage_s`, in millionths.
    pub usage_e6: i128,
    /// `regime`.
    pub regime: Option<String>,
}

/// What was used of shares on the last day of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LastUsage {
    day: Day,
    /// By account, with everything below it, in millionths of a billing second.
    usage_e6: BTreeMap<String, i128>,
    root: Option<String>,
}

/// The shares of the accounts of awards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AwardShares {
    /// Day by day.
    pub accounts: BTreeMap<ShareAccount, Vec<AccountShares>>,
    last: BTreeMap<SharePlace, LastUsage>,
    /// Clusters whose shares are among siblings (Fair Tree).
    trees: BTreeSet<SharePlace>,
}

impl AwardShares {
    /// Reads them.
    ///
    /// # Errors
    /// [`Kind::Data`] when a path names no cluster; [`Kind::Io`] when the lake cannot be read.
    pub(super) fn read(lake: &Lake, awards: &[&Award], days: RangeInclusive<Day>) -> Result<Self> {
        let mut shares = Self::default();
        let (from, to) = (Month::of_day(*days.start()), Month::of_day(*days.end()));
        for file in lake.manifest.dataset("fairshare") {
            let Some((site, cluster, month)) = parse_fairshare_path(&file.path) else {
                let message = "the path names no site, cluster and month";
                return Err(Error::new(Kind::Data, message).at("path", &file.path));
            };
            if from.is_some_and(|from| month < from) || to.is_some_and(|to| to < month) {
                continue;
            }
            let may_be = |own: &Option<String>, place: &str| own.as_deref().is_none_or(|own| own == place);
            let here = awards
                .iter()
                .filter(|award| may_be(&award.site, &site) && may_be(&award.cluster, &cluster));
            let names: BTreeSet<&str> = here.map(|award| award.account.as_str()).collect();
            let place = SharePlace { site, cluster };
            for batch in lake.batches(&file.path, None)? {
                shares.add(&batch?, &place, &names, &days)?;
            }
        }
        for days in shares.accounts.values_mut() {
            days.sort_by_key(|shares| shares.day);
        }
        Ok(shares)
    }

    fn add(
        &mut self,
        batch: &RecordBatch,
        place: &SharePlace,
        names: &BTreeSet<&str>,
        days: &RangeInclusive<Day>,
    ) -> Result<()> {
        let (day, account) = (date(batch, "day")?, text(batch, "account")?);
        let (user, partition) = (text(batch, "user")?, text(batch, "partition")?);
        let (parent, regime) = (text(batch, "parent_account")?, text(batch, "regime")?);
        let decimals = |name| decimal(batch, name);
        let (shares, norm_usage) = (decimals("norm_shares")?, decimals("norm_usage")?);
        let (effective, factor) = (decimals("effective_usage")?, decimals("fairshare_factor")?);
        let (level, usage) = (decimals("level_fs")?, decimals("usage_s")?);
        let is_account = |row: &usize| word(user, *row).is_none() && word(partition, *row).is_none();
        for row in (0..batch.num_rows()).filter(is_account) {
            let (day, name) = (day.value(row), account.value(row));
            if !days.contains(&day) {
                continue;
            }
            let own = AccountShares {
                day,
                parent: word(parent, row).map(str::to_owned),
                norm_shares: number(shares, row),
                norm_usage: number(norm_usage, row),
                effective_usage: number(effective, row),
                factor: number(factor, row),
                level_fs: number(level, row),
                usage_e6: usage.value(row),
                regime: word(regime, row).map(str::to_owned),
            };
            if own.level_fs.is_some() {
                self.trees.insert(place.clone());
            }
            let last = self.last.entry(place.clone()).or_default();
            if last.day < day {
                *last = LastUsage {
                    day,
                    ..LastUsage::default()
                };
            }
            if last.day == day {
                last.usage_e6.insert(name.to_owned(), own.usage_e6);
                if own.parent.is_none() && own.norm_shares.is_some() {
                    last.root = Some(name.to_owned());
                }
            }
            if names.contains(name) {
                let account = ShareAccount {
                    place: place.clone(),
                    name: name.to_owned(),
                };
                self.accounts.entry(account).or_default().push(own);
            }
        }
        Ok(())
    }

    /// What counts as used of an account's shares, in billionths: among its siblings where shares are, else of the cluster.
    #[must_use]
    pub fn used(&self, place: &SharePlace, shares: &AccountShares) -> Option<i128> {
        if self.trees.contains(place) {
            shares.effective_usage
        } else {
            shares.norm_usage
        }
    }

    /// What an account should have of the usage that its share is of, less its usage, in millionths of a billing second;
    /// above zero when it is owed.
    fn owed_e6(&self, account: &ShareAccount, shares: &AccountShares) -> Option<i128> {
        let last = self.last.get(&account.place).filter(|last| last.day == shares.day)?;
        let above = if self.trees.contains(&account.place) {
            shares.parent.as_ref()
        } else {
            last.root.as_ref()
        };
        let whole_e6 = last.usage_e6.get(above?)?;
        Some(times_over(*whole_e6, shares.norm_shares?, ONE_E9)? - shares.usage_e6)
    }
}

fn e9(value: Option<i128>) -> Cell {
    value.map_or(Cell::Empty, |value| Cell::Decimal { value, scale: 9 })
}

/// A share in billionths as per cent.
fn percent(share: Option<i128>) -> Cell {
    let hundredfold = share.and_then(|share| share.checked_mul(100));
    hundredfold.map_or(Cell::Empty, |share| Cell::ratio(share, ONE_E9, 1))
}

/// Columns of what the dataset states of accounts and days.
const COLUMNS: [(&str, &str, ColumnKind); 12] = [
    ("site", "", ColumnKind::Text),
    ("cluster", "", ColumnKind::Text),
    ("account", "", ColumnKind::Text),
    ("parent_account", "", ColumnKind::Text),
    ("day", "", ColumnKind::Text),
    ("norm_shares", "", ColumnKind::Decimal(9)),
    ("norm_usage", "", ColumnKind::Decimal(9)),
    ("effective_usage", "", ColumnKind::Decimal(9)),
    ("fairshare_factor", "", ColumnKind::Decimal(9)),
    ("level_fs", "", ColumnKind::Decimal(9)),
    ("usage_s", "billing s", ColumnKind::Decimal(6)),
    ("regime", "", ColumnKind::Text),
];

impl AwardShares {
    /// The rows of the dataset about the accounts of awards, of the days of the page.
    #[must_use]
    pub fn fairshare(&self) -> Table {
        let mut table = Table::new("Fairshare, day by day", &COLUMNS);
        for (account, days) in &self.accounts {
            for shares in days {
                table.push(vec![
                    Cell::text(account.place.site.as_str()),
                    Cell::text(account.place.cluster.as_str()),
                    Cell::text(account.name.as_str()),
                    Cell::word(shares.parent.as_deref()),
                    Cell::text(day_text(Some(shares.day), "")),
                    e9(shares.norm_shares),
                    e9(shares.norm_usage),
                    e9(shares.effective_usage),
                    e9(shares.factor),
                    e9(shares.level_fs),
                    Cell::Decimal {
                        value: shares.usage_e6,
                        scale: 6,
                    },
                    Cell::word(shares.regime.as_deref()),
                ]);
            }
        }
        table
    }

    /// Who used less than their shares on the last day, who more; those that are owed most first.
    #[must_use]
    pub fn owed(&self) -> Table {
        let mut table = Table::new(
            "Who is owed by shares",
            &[
                ("site", "", ColumnKind::Text),
                ("cluster", "", ColumnKind::Text),
                ("account", "", ColumnKind::Text),
                ("parent_account", "", ColumnKind::Text),
                ("day", "", ColumnKind::Text),
                ("share", "%", ColumnKind::Decimal(1)),
                ("used", "%", ColumnKind::Decimal(1)),
                ("owed_points", "% points", ColumnKind::Decimal(1)),
                ("usage", "billing h", ColumnKind::Decimal(1)),
                ("owed", "billing h", ColumnKind::Decimal(1)),
                ("regime", "", ColumnKind::Text),
            ],
        );
        let mut rows = Vec::new();
        for (account, days) in &self.accounts {
            if let Some(shares) = days.last() {
                let used = self.used(&account.place, shares);
                let points = shares.norm_shares.zip(used).map(|(share, used)| share - used);
                rows.push((std::cmp::Reverse(points), account, shares, used));
            }
        }
        rows.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        for (points, account, shares, used) in rows {
            let owed = self.owed_e6(account, shares);
            table.push(vec![
                Cell::text(account.place.site.as_str()),
                Cell::text(account.place.cluster.as_str()),
                Cell::text(account.name.as_str()),
                Cell::word(shares.parent.as_deref()),
                Cell::text(day_text(Some(shares.day), "")),
                percent(shares.norm_shares),
                percent(used),
                percent(points.0),
                Cell::ratio(shares.usage_e6, HOUR_E6, 1),
                owed.map_or(Cell::Empty, |owed| Cell::ratio(owed, HOUR_E6, 1)),
                Cell::word(shares.regime.as_deref()),
            ]);
        }
        table
    }
}

/// One account at the end of each month, and on the last day.
pub(super) fn by_month(days: &[AccountShares]) -> Table {
    // Fallback: never taken, there are more columns.
    let columns = COLUMNS.get(4..).unwrap_or_default();
    let mut table = Table::new("By month", columns);
    let mut days = days.iter().peekable();
    while let Some(shares) = days.next() {
        let month = Month::of_day(shares.day);
        if days.peek().is_some_and(|next| Month::of_day(next.day) == month) {
            continue;
        }
        table.push(vec![
            Cell::text(day_text(Some(shares.day), "")),
            e9(shares.norm_shares),
            e9(shares.norm_usage),
            e9(shares.effective_usage),
            e9(shares.factor),
            e9(shares.level_fs),
            Cell::Decimal {
                value: shares.usage_e6,
                scale: 6,
            },
            Cell::word(shares.regime.as_deref()),
        ]);
    }
    table
}
