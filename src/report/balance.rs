//! What is left of allocations: what was granted less what was charged under the policy that counts its use.

use std::collections::{BTreeMap, BTreeSet};

use super::accounts::{Account, AccountPlace, Accounts, used, why_unknown};
use super::charges::{AccountCharge, BalanceTariff};
use super::lake::Lake;
use super::shown::HOUR_MS;
use super::table::{Cell, ColumnKind, Table};
use crate::amounts::add;
use crate::amounts::finer;
use crate::charge::amount::CHARGE_PLACES;
use crate::charge::amount::CHARGE_SCALE;
use crate::charge::charged_tariff::{called, is_same_unit, meant};
use crate::error::{Error, Kind, Result};
use crate::numbers::count_i128;
use crate::reference::allocation::{Allocation, AllocationTable, EntryKind};
use crate::reference::decimal;
use crate::reference::node_type::day_text;
use crate::schema::batch::{text, word};
use crate::time::Day;

/// Digits of core hours.
const HOUR_DIGITS: u8 = 2;

/// What is left of one allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    /// The allocation; supplements are added to its amount.
    pub allocation: Allocation,
    /// Under what its use is counted.
    pub tariff: BalanceTariff,
    /// What was charged, in units of 10^-9.
    pub charged_e9: i128,
    /// Jobs whose charge is unknown, so that less is left than is reported.
    pub unpriced_job_n: i64,
    /// Corrections without jobs whose charge is unknown, such as additions of hours.
    pub unpriced_correction_n: usize,
    /// Sums of parts of jobs whose charge is unknown and that end in another period, or under another version of the policy.
    pub unpriced_part_n: usize,
    /// Core milliseconds of all these.
    pub unpriced_core_ms: i128,
    /// Units other than its own that versions of its policy charged in on its days: these charges are not drawn from it.
    pub other_units: BTreeSet<String>,
    /// Accounts below it, whose jobs use it as well: by name, the places.
    pub below: BTreeMap<String, BTreeSet<AccountPlace>>,
    /// Who sees it.
    pub users: BTreeSet<String>,
}

/// The day of balances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct On {
    /// The day; what is charged for it counts, and nothing that is charged for a later one.
    pub day: Day,
    /// Whether it is over: of a month that it is inside of, charges by month have later days as well.
    pub is_past: bool,
}

impl Balance {
    /// What is left; negative when more was used than granted.
    #[must_use]
    pub fn left_e9(&self) -> i128 {
        self.allocation.amount_e9 - self.charged_e9
    }

    /// What people call it.
    #[must_use]
    pub fn project(&self) -> &str {
        self.allocation.project.as_deref().unwrap_or(&self.allocation.account)
    }
}

/// What is left of the allocations that are good on a day: their amount less all charges of their days up to that day.
/// An account uses what it is granted together with the accounts below it.
///
/// # Errors
/// [`Kind::Config`] when the table names a policy without charges, or another unit than it counts in, or days that
/// the charges do not resolve.
pub fn balances(
    table: &AllocationTable,
    charged: &[AccountCharge],
    accounts: &Accounts,
    on: On,
) -> Result<Vec<Balance>> {
    if let Some(other) = table
        .rows
        .iter()
        .find(|row| row.kind != EntryKind::Award || row.user.is_some())
    {
        let what = if other.kind == EntryKind::Award {
            "a user's part of an award"
        } else {
            other.kind.as_str()
        };
        let message = format!("{what} is counted by report awards; report balance takes the awards of accounts alone");
        return Err(Error::config(message).at("line", other.line));
    }
    let all: BTreeSet<&BalanceTariff> = charged.iter().map(|charge| &charge.tariff).collect();
    let mut balances: Vec<Balance> = Vec::new();
    for row in table.rows.iter().filter(|row| row.is_good_on(on.day)) {
        let at_line = |message: String| Error::config(message).at("line", row.line);
        let tariff = tariff(row, &all).map_err(at_line)?;
        let same = balances.iter_mut().find(|other| {
            let (a, b) = (&other.allocation, row);
            (&a.site, &a.cluster, &a.account, &a.policy) == (&b.site, &b.cluster, &b.account, &b.policy)
                && other.tariff == tariff
        });
        if let Some(same) = same {
            add(&mut same.allocation.amount_e9, row.amount_e9, "amount").map_err(|e| e.at("line", row.line))?;
            same.allocation.users.extend(row.users.iter().cloned());
            let attribute = same.allocation.coldfront_attribute.or(row.coldfront_attribute);
            same.allocation.coldfront_attribute = attribute;
            continue;
        }
        let mut balance = Balance {
            allocation: row.clone(),
            tariff,
            charged_e9: 0,
            unpriced_job_n: 0,
            unpriced_correction_n: 0,
            unpriced_part_n: 0,
            unpriced_core_ms: 0,
            other_units: BTreeSet::new(),
            below: accounts.below(&row.account, row.site.as_deref(), row.cluster.as_deref()),
            users: BTreeSet::new(),
        };
        for charge in charged {
            let is_of_other_unit = charge.tariff.differs_in_unit(&balance.tariff);
            if (!is_of_other_unit && charge.tariff != balance.tariff)
                || !is_of_account(&balance, charge)
                || !is_in_time(row, charge, on).map_err(at_line)?
            {
                continue;
            }
            if is_of_other_unit {
                balance.other_units.insert(charge.tariff.unit.clone());
            } else {
                balance.unpriced_job_n += charge.unpriced_job_n;
                if charge.charge_e9.is_none() {
                    balance.unpriced_core_ms += charge.alloc_core_ms;
                }
                match charge.charge_e9 {
                    Some(charge_e9) => balance.charged_e9 += charge_e9,
                    None if charge.unpriced_job_n != 0 => {}
                    None if charge.correction_id.is_some() => balance.unpriced_correction_n += 1,
                    None => balance.unpriced_part_n += 1,
                }
            }
        }
        balances.push(balance);
    }
    Ok(balances)
}

/// Refuses allocations that are good on a day for accounts that nothing knows of.
///
/// # Errors
/// [`Kind::Config`] with the line and the nearest name; [`Kind::Io`] when the lake cannot be read.
pub fn refuse_unknown(table: &AllocationTable, accounts: &Accounts, lake: &Lake, on: On) -> Result<()> {
    let mut known: BTreeSet<Account> = accounts.names().cloned().collect();
    let mut is_complete = false;
    for row in table.rows.iter().filter(|row| row.is_good_on(on.day)) {
        let why = |known: &BTreeSet<Account>| {
            let (site, cluster) = (row.site.as_deref(), row.cluster.as_deref());
            why_unknown(&row.account, site, cluster, known)
        };
        if why(&known).is_some() && !is_complete {
            known.append(&mut used(lake)?);
            is_complete = true;
        }
        if let Some(why) = why(&known) {
            return Err(Error::config(why).at("line", row.line));
        }
    }
    Ok(())
}

/// The tariffs that an allocation may mean: those of its policy, and of its unit where there are any.
#[must_use]
pub fn tariffs_meant<'t>(row: &Allocation, all: impl IntoIterator<Item = &'t BalanceTariff>) -> Vec<&'t BalanceTariff> {
    meant(&row.policy, all, |tariff| is_of_unit(row, tariff))
}

fn is_of_unit(row: &Allocation, tariff: &BalanceTariff) -> bool {
    row.unit.as_ref().is_none_or(|unit| is_same_unit(unit, &tariff.unit))
}

fn tariff(row: &Allocation, all: &BTreeSet<&BalanceTariff>) -> Result<BalanceTariff, String> {
    let tariff = called(&row.policy, all, |tariff| is_of_unit(row, tariff))?;
    match &row.unit {
        Some(unit) if !is_of_unit(row, tariff) => Err(format!("{tariff} counts in {}, not in {unit}", tariff.unit)),
        _ => Ok(tariff.clone()),
    }
}

/// Whether a charge is one of the account of an allocation, or of one below it, at its place.
fn is_of_account(balance: &Balance, charge: &AccountCharge) -> bool {
    let row = &balance.allocation;
    let is_at = |wanted: &Option<String>, is: Option<&str>| wanted.is_none() || wanted.as_deref() == is;
    let (site, cluster) = (charge.site.as_str(), charge.cluster.as_deref());
    if !is_at(&row.site, Some(site)) || !is_at(&row.cluster, cluster) {
        return false;
    }
    let Some(name) = charge.account.as_deref() else {
        return false;
    };
    let is_here = |places: &BTreeSet<AccountPlace>| places.iter().any(|place| place.may_be(Some(site), cluster));
    name == row.account || balance.below.get(name).is_some_and(is_here)
}

/// Whether a charge is of the days of an allocation, and not after the day of the balance.
fn is_in_time(row: &Allocation, charge: &AccountCharge, on: On) -> Result<bool, String> {
    let (from, until) = match charge.day {
        Some(day) => (day, day + 1),
        None => (charge.month.first_day(), charge.month.next().first_day()),
    };
    let is_later = on.day < from;
    if is_later || until <= row.from || row.until.is_some_and(|end| end <= from) {
        return Ok(false);
    }
    if on.is_past && on.day < until - 1 {
        return Err(format!(
            "{} is inside {}, and this lake reports charges by month: take the last day of a month, or grain = \"day\" in its \
             pipeline",
            day_text(Some(on.day), ""),
            charge.month
        ));
    }
    if row.from <= from && row.until.is_none_or(|end| until <= end) {
        return Ok(true);
    }
    Err(format!(
        "the allocation begins or ends inside {}, and this lake has charges by month: grain = \"day\" in its pipeline \
         gives them by day",
        charge.month
    ))
}

/// Sets who sees each balance: the users the table names, else the account's users in the newest listing of associations, else
/// those who had jobs under the account.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be read.
pub fn add_users(balances: &mut [Balance], accounts: &Accounts, lake: &Lake) -> Result<()> {
    let is_reported = |balance: &Balance| !balance.allocation.users.is_empty();
    let members: BTreeSet<(Account, String)> = if balances.iter().all(is_reported) {
        BTreeSet::new()
    } else if accounts.is_empty() {
        seen(lake)?
    } else {
        accounts.users().cloned().collect()
    };
    for balance in balances {
        let of = &balance.allocation;
        if is_reported(balance) {
            balance.users.extend(of.users.iter().cloned());
            continue;
        }
        let below = &balance.below;
        let is_below = |account: &Account| {
            below
                .get(&account.name)
                .is_some_and(|places| places.contains(&account.place))
        };
        let own = members.iter().filter(|(account, _)| {
            account.place.may_be(of.site.as_deref(), of.cluster.as_deref())
                && (account.name == of.account || is_below(account))
        });
        balance.users.extend(own.map(|(_, user)| user.clone()));
    }
    Ok(())
}

/// Users who had jobs under accounts.
fn seen(lake: &Lake) -> Result<BTreeSet<(Account, String)>> {
    let mut members = BTreeSet::new();
    for (site, _, path) in lake.months("records")? {
        for batch in lake.batches(&path, Some(&["cluster", "account", "user"]))? {
            let batch = batch?;
            let (cluster, account) = (text(&batch, "cluster")?, text(&batch, "account")?);
            let user = text(&batch, "user")?;
            for row in 0..batch.num_rows() {
                if let (Some(account), Some(user)) = (word(account, row), word(user, row)) {
                    let account = Account {
                        place: AccountPlace {
                            site: Some(site.clone()),
                            cluster: word(cluster, row).map(str::to_owned),
                        },
                        name: account.to_owned(),
                    };
                    members.insert((account, user.to_owned()));
                }
            }
        }
    }
    Ok(members)
}

/// How a balance is written.
pub(super) struct BalanceWording {
    /// Its policy.
    pub(super) policy: String,
    /// What amounts are counted in.
    pub(super) unit: String,
    /// What was allocated, what was charged, and what is left.
    pub(super) amounts: [Cell; 3],
}

/// The balances as a table.
#[must_use]
pub fn table(balances: &[Balance], on: Day) -> Table {
    let decimal = |value: i128| Cell::Decimal {
        value,
        scale: CHARGE_PLACES,
    };
    worded(balances, on, |balance| BalanceWording {
        policy: balance.tariff.to_string(),
        unit: balance.tariff.unit.clone(),
        amounts: [balance.allocation.amount_e9, balance.charged_e9, balance.left_e9()].map(decimal),
    })
}

/// The balances as a table in which each is written in the way of `wording`.
pub(super) fn worded(balances: &[Balance], on: Day, wording: impl Fn(&Balance) -> BalanceWording) -> Table {
    let amount = ColumnKind::Decimal(CHARGE_PLACES);
    let mut table = Table::new(
        format!("Balances on {}", day_text(Some(on), "")),
        &[
            ("account", "", ColumnKind::Text),
            ("project", "", ColumnKind::Text),
            ("site", "", ColumnKind::Text),
            ("cluster", "", ColumnKind::Text),
            ("policy", "", ColumnKind::Text),
            ("unit", "", ColumnKind::Text),
            ("valid_from", "", ColumnKind::Text),
            ("valid_to", "", ColumnKind::Text),
            ("allocated", "unit", amount),
            ("charged", "unit", amount),
            ("balance", "unit", amount),
            ("used", "%", ColumnKind::Decimal(1)),
            ("unpriced_jobs", "1", ColumnKind::Number),
            ("unpriced_core_hours", "core h", ColumnKind::Decimal(HOUR_DIGITS)),
            ("users", "1", ColumnKind::Number),
        ],
    );
    let day = |day: Option<Day>| Cell::word(Some(day_text(day, "").as_str()).filter(|text| !text.is_empty()));
    for balance in balances {
        let of = &balance.allocation;
        let BalanceWording { policy, unit, amounts } = wording(balance);
        let [allocated, charged, left] = amounts;
        table.push(vec![
            Cell::text(of.account.as_str()),
            Cell::text(balance.project()),
            Cell::word(of.site.as_deref()),
            Cell::word(of.cluster.as_deref()),
            Cell::text(policy),
            Cell::text(unit),
            day(Some(of.from)),
            day(of.until),
            allocated,
            charged,
            left,
            Cell::ratio(finer(balance.charged_e9, 100), of.amount_e9, 1),
            Cell::int(balance.unpriced_job_n),
            Cell::ratio(balance.unpriced_core_ms, HOUR_MS, HOUR_DIGITS),
            Cell::Int(count_i128(balance.users.len())),
        ]);
    }
    table
}

fn quoted(text: &str) -> Result<String> {
    serde_json::to_string(text).map_err(|e| Error::internal("a balance cannot be written").because(e))
}

/// The file Open `OnDemand` warns from (`OOD_BALANCE_PATH`), version 1; `ColdFront` writes the same. It has one unit, and
/// an entry for every user of a project. Values are exact; `OnDemand` cuts them to whole units.
///
/// # Errors
/// [`Kind::Usage`] when the balances are of several units.
pub fn ondemand(balances: &[Balance], now_s: i64) -> Result<String> {
    let units: BTreeSet<&str> = balances.iter().map(|balance| balance.tariff.unit.as_str()).collect();
    if units.len() > 1 {
        let units: Vec<&str> = units.into_iter().collect();
        let message = format!(
            "a file of balances has one unit, and these have {}: choose with --policy",
            units.join(", ")
        );
        return Err(Error::new(Kind::Usage, message));
    }
    let unit = units.first().map_or_else(String::new, |unit| unit.replace('_', " "));
    let mut entries = Vec::new();
    for balance in balances {
        for user in &balance.users {
            entries.push(format!(
                "    {{\"user\": {}, \"project\": {}, \"value\": {}}}",
                quoted(user)?,
                quoted(balance.project())?,
                decimal::text(balance.left_e9(), CHARGE_SCALE)
            ));
        }
    }
    Ok(format!(
        "{{\n  \"version\": 1,\n  \"timestamp\": {now_s},\n  \"config\": {{\"unit\": {}, \"project_type\": \"project\"}},\n  \
         \"balances\": [\n{}\n  ]\n}}\n",
        quoted(&unit)?,
        entries.join(",\n")
    ))
}

/// What was charged as a fixture `ColdFront` loads (`manage.py loaddata`): the usage of allocation attributes.
///
/// # Errors
/// [`Kind::Usage`] when an allocation does not state its attributes.
pub fn coldfront(balances: &[Balance]) -> Result<String> {
    let mut entries = Vec::new();
    for balance in balances {
        let of = &balance.allocation;
        let Some(attribute) = of.coldfront_attribute else {
            let message = format!("the allocation of {} names no coldfront_attribute", of.account);
            return Err(Error::new(Kind::Usage, message).at("line", of.line));
        };
        entries.push(format!(
            "  {{\"model\": \"allocation.allocationattributeusage\", \"pk\": {attribute}, \"fields\": {{\"value\": {}}}}}",
            decimal::text(balance.charged_e9, CHARGE_SCALE)
        ));
    }
    Ok(format!("[\n{}\n]\n", entries.join(",\n")))
}
