//! What is left of allocations: what was granted less what was charged under the policy that counts its use.

use std::collections::{BTreeMap, BTreeSet};

use super::charges::{Charged, Tariff};
use super::lake::Lake;
use super::table::{Cell, ColumnKind, Table};
use crate::charge::amount::CHARGE_SCALE;
use crate::error::{Error, Kind, Result};
use crate::reference::allocation::{Allocation, AllocationTable};
use crate::reference::decimal;
use crate::reference::node_type::day_text;
use crate::schema::batch::{number, text, time, word};
use crate::time::Day;

/// What is left of one allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    /// The allocation; supplements are added to its amount.
    pub allocation: Allocation,
    /// Under what its use is counted.
    pub tariff: Tariff,
    /// What was charged, in units of 10^-9.
    pub charged_e9: i128,
    /// Jobs whose charge is unknown, so that less is left than is told.
    pub unpriced_job_n: i64,
    /// Who sees it.
    pub users: BTreeSet<String>,
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

/// What is left of the allocations that are good on a day: their amount less all charges of their days.
///
/// # Errors
/// [`Kind::Config`] when the table names a policy nobody charges by, or another unit than it counts in, or days that
/// charges do not tell apart.
pub fn balances(table: &AllocationTable, charged: &[Charged], on: Day) -> Result<Vec<Balance>> {
    let mut balances: Vec<Balance> = Vec::new();
    for row in table.rows.iter().filter(|row| row.is_good_on(on)) {
        let at_line = |message: String| Error::config(message).at("line", row.line);
        let tariff = tariff(row, charged).map_err(at_line)?;
        let same = balances.iter_mut().find(|other| {
            let (a, b) = (&other.allocation, row);
            (&a.site, &a.cluster, &a.account, &a.policy) == (&b.site, &b.cluster, &b.account, &b.policy)
        });
        if let Some(same) = same {
            same.allocation.amount_e9 += row.amount_e9;
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
            users: BTreeSet::new(),
        };
        for charge in charged {
            if uses(row, &balance.tariff, charge).map_err(at_line)? {
                balance.charged_e9 += charge.charge_e9.unwrap_or(0);
                balance.unpriced_job_n += charge.unpriced_job_n;
            }
        }
        balances.push(balance);
    }
    Ok(balances)
}

fn tariff(row: &Allocation, charged: &[Charged]) -> Result<Tariff, String> {
    let all: BTreeSet<&Tariff> = charged.iter().map(|charge| &charge.tariff).collect();
    let names = |tariffs: &[&Tariff]| tariffs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let called: Vec<&Tariff> = all
        .iter()
        .copied()
        .filter(|tariff| tariff.is_called(&row.policy))
        .collect();
    let tariff = match called.as_slice() {
        [only] => *only,
        [] => {
            let all: Vec<&Tariff> = all.into_iter().collect();
            return Err(format!(
                "nothing is charged under \"{}\"; there is {}",
                row.policy,
                names(&all)
            ));
        }
        several => return Err(format!("\"{}\" may be any of {}", row.policy, names(several))),
    };
    match &row.unit {
        Some(unit) if *unit != tariff.unit => Err(format!("{tariff} counts in {}, not in {unit}", tariff.unit)),
        _ => Ok(tariff.clone()),
    }
}

/// Whether a charge is drawn from an allocation.
fn uses(row: &Allocation, tariff: &Tariff, charge: &Charged) -> Result<bool, String> {
    let is_at = |wanted: &Option<String>, is: Option<&str>| wanted.is_none() || wanted.as_deref() == is;
    let is_other = charge.tariff != *tariff
        || charge.account.as_deref() != Some(&row.account)
        || !is_at(&row.site, Some(&charge.site))
        || !is_at(&row.cluster, charge.cluster.as_deref());
    if is_other {
        return Ok(false);
    }
    let (from, until) = match charge.day {
        Some(day) => (day, day + 1),
        None => (charge.month.first_day(), charge.month.next().first_day()),
    };
    if until <= row.from || row.until.is_some_and(|end| end <= from) {
        return Ok(false);
    }
    if row.from <= from && row.until.is_none_or(|end| until <= end) {
        return Ok(true);
    }
    Err(format!(
        "the allocation begins or ends inside {}, and this lake tells charges by month: grain = \"day\" in its pipeline \
         tells them by day",
        charge.month
    ))
}

/// Says who sees each balance: whom the table names, else the account's users in the newest listing of associations, else
/// those who had jobs under the account.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be read.
pub fn add_users(balances: &mut [Balance], lake: &Lake) -> Result<()> {
    let is_told = |balance: &Balance| !balance.allocation.users.is_empty();
    let members = if balances.iter().all(is_told) {
        Vec::new()
    } else {
        let listed = associations(lake)?;
        if listed.is_empty() { seen(lake)? } else { listed }
    };
    for balance in balances {
        let of = &balance.allocation;
        if is_told(balance) {
            balance.users.extend(of.users.iter().cloned());
            continue;
        }
        let own = members.iter().filter(|member| {
            member.account == of.account
                && (of.site.is_none() || member.site.is_none() || member.site == of.site)
                && (of.cluster.is_none() || member.cluster.is_none() || member.cluster == of.cluster)
        });
        balance.users.extend(own.map(|member| member.user.clone()));
    }
    Ok(())
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    site: Option<String>,
    cluster: Option<String>,
    account: String,
    user: String,
}

/// Users in accounts, by the newest listing of each source.
fn associations(lake: &Lake) -> Result<Vec<Member>> {
    let mut newest: BTreeMap<String, (Option<i64>, Vec<Member>)> = BTreeMap::new();
    for file in lake.manifest.dataset("association") {
        let source = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let (site, cluster) = (text(&batch, "site")?, text(&batch, "cluster")?);
            let (account, user) = (text(&batch, "account")?, text(&batch, "user")?);
            let as_of = time(&batch, "as_of_utc")?;
            for row in 0..batch.num_rows() {
                let (Some(account), Some(user)) = (word(account, row), word(user, row)) else {
                    continue;
                };
                let of = |column| word(column, row).map(str::to_owned);
                let at = number(as_of, row);
                let (known, members) = newest.entry(source.to_owned()).or_default();
                if at > *known {
                    *known = at;
                    members.clear();
                }
                if at == *known {
                    members.push(Member {
                        site: of(site),
                        cluster: of(cluster),
                        account: account.to_owned(),
                        user: user.to_owned(),
                    });
                }
            }
        }
    }
    Ok(newest.into_values().flat_map(|(_, members)| members).collect())
}

/// Users who had jobs under accounts.
fn seen(lake: &Lake) -> Result<Vec<Member>> {
    let mut members = BTreeSet::new();
    for (site, _, path) in lake.months("records")? {
        for batch in lake.batches(&path, Some(&["cluster", "account", "user"]))? {
            let batch = batch?;
            let (cluster, account) = (text(&batch, "cluster")?, text(&batch, "account")?);
            let user = text(&batch, "user")?;
            for row in 0..batch.num_rows() {
                if let (Some(account), Some(user)) = (word(account, row), word(user, row)) {
                    members.insert(Member {
                        site: Some(site.clone()),
                        cluster: word(cluster, row).map(str::to_owned),
                        account: account.to_owned(),
                        user: user.to_owned(),
                    });
                }
            }
        }
    }
    Ok(members.into_iter().collect())
}

/// The balances as a table.
#[must_use]
pub fn table(balances: &[Balance], on: Day) -> Table {
    let amount = ColumnKind::Decimal(u8::try_from(CHARGE_SCALE).unwrap_or(u8::MAX));
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
            ("users", "1", ColumnKind::Number),
        ],
    );
    let decimal = |value: i128| Cell::Decimal {
        value,
        scale: u8::try_from(CHARGE_SCALE).unwrap_or(u8::MAX),
    };
    let day = |day: Option<Day>| Cell::word(Some(day_text(day, "").as_str()).filter(|text| !text.is_empty()));
    for balance in balances {
        let of = &balance.allocation;
        table.push(vec![
            Cell::text(of.account.as_str()),
            Cell::text(balance.project()),
            Cell::word(of.site.as_deref()),
            Cell::word(of.cluster.as_deref()),
            Cell::text(balance.tariff.to_string()),
            Cell::text(balance.tariff.unit.as_str()),
            day(Some(of.from)),
            day(of.until),
            decimal(of.amount_e9),
            decimal(balance.charged_e9),
            decimal(balance.left_e9()),
            Cell::ratio(balance.charged_e9.saturating_mul(100), of.amount_e9, 1),
            Cell::int(balance.unpriced_job_n),
            Cell::Int(i128::try_from(balance.users.len()).unwrap_or(0)),
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
/// [`Kind::Usage`] when an allocation does not say which attribute is its own.
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
