//! Charges in the columns of FOCUS, the `FinOps` Open Cost and Usage Specification, version 1.3.
//!
//! FOCUS wants costs in a national currency and knows virtual ones. A policy counted in a currency is billed in it; one
//! counted in anything else (service units, core hours) is priced in that as in a virtual currency, and no money is
//! due: its costs are zero. Only the policy itself gives a price of a unit, so a unit costs one of what
//! the policy counts in. The provider is the site, the billing account a VO (the site itself where the VO is unknown),
//! the sub account the account. `ConsumedQuantity` is exact to the millisecond; `x_GpuSeconds` are whole seconds, as the
//! lake keeps them.

use std::collections::BTreeMap;

use super::charges::{AccountCharge, BalanceTariff};
use super::table::{Cell, ColumnKind, Table};
use crate::absent;
use crate::charge::amount::CHARGE_SCALE;
use crate::error::{Error, Kind, Result};
use crate::reference::currency::is_currency;
use crate::reference::decimal;
use crate::time::{Day, Month, Zone};

/// The version of the specification.
pub const FOCUS_VERSION: &str = "1.3";

/// Digits after the point of costs.
const DIGITS: u8 = 9;

const COLUMNS: [(&str, ColumnKind); 55] = {
    const MONEY: ColumnKind = ColumnKind::DecimalSum(DIGITS);
    const PRICE: ColumnKind = ColumnKind::Decimal(DIGITS);
    const WORD: ColumnKind = ColumnKind::Text;
    const TIME: ColumnKind = ColumnKind::Instant;
    [
        ("BilledCost", MONEY),
        ("BillingAccountId", WORD),
        ("BillingAccountName", WORD),
        ("BillingAccountType", WORD),
        ("BillingCurrency", WORD),
        ("BillingPeriodEnd", TIME),
        ("BillingPeriodStart", TIME),
        ("ChargeCategory", WORD),
        ("ChargeClass", WORD),
        ("ChargeDescription", WORD),
        ("ChargeFrequency", WORD),
        ("ChargePeriodEnd", TIME),
        ("ChargePeriodStart", TIME),
        ("ConsumedQuantity", MONEY),
        ("ConsumedUnit", WORD),
        ("ContractedCost", MONEY),
        ("ContractedUnitPrice", PRICE),
        ("EffectiveCost", MONEY),
        ("HostProviderName", WORD),
        ("InvoiceId", WORD),
        ("InvoiceIssuerName", WORD),
        ("ListCost", MONEY),
        ("ListUnitPrice", PRICE),
        ("PricingCategory", WORD),
        ("PricingCurrency", WORD),
        ("PricingCurrencyContractedUnitPrice", PRICE),
        ("PricingCurrencyEffectiveCost", MONEY),
        ("PricingCurrencyListUnitPrice", PRICE),
        ("PricingQuantity", MONEY),
        ("PricingUnit", WORD),
        ("ProviderName", WORD),
        ("PublisherName", WORD),
        ("ResourceId", WORD),
        ("ResourceName", WORD),
        ("ResourceType", WORD),
        ("ServiceCategory", WORD),
        ("ServiceName", WORD),
        ("ServiceProviderName", WORD),
        ("ServiceSubcategory", WORD),
        ("SkuId", WORD),
        ("SkuMeter", WORD),
        ("SkuPriceDetails", WORD),
        ("SkuPriceId", WORD),
        ("SubAccountId", WORD),
        ("SubAccountName", WORD),
        ("SubAccountType", WORD),
        ("x_CorrectionId", WORD),
        ("x_GpuSeconds", ColumnKind::Sum),
        ("x_JobCount", ColumnKind::Sum),
        ("x_Policy", WORD),
        ("x_PolicyOptions", WORD),
        ("x_PolicyVersion", WORD),
        ("x_Pool", WORD),
        ("x_UnpricedJobCount", ColumnKind::Sum),
        ("x_VirtualOrganisation", WORD),
    ]
};

/// The settings of a report of costs.
#[derive(Clone, Debug, Default)]
pub struct FocusBilling {
    /// National currency of what no policy counts in money.
    pub currency: Option<String>,
    /// Who sends the invoice; the site if none is named.
    pub issuer: Option<String>,
    /// Whether jobs whose charge is unknown are left out, and counted; else they are an error.
    pub is_leaving_out: bool,
}

/// What is not in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unpriced {
    /// Jobs that ended in the period and whose charge is unknown.
    pub job_n: i64,
    /// Sums of which no charge is known.
    pub sum_n: usize,
}

/// What a row of the table is of, in the order of the rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FocusKey<'a> {
    site: &'a str,
    vo: Option<&'a str>,
    account: Option<&'a str>,
    cluster: Option<&'a str>,
    tariff: &'a BalanceTariff,
    version: &'a str,
    month: Month,
    day: Option<Day>,
    correction: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, Default)]
struct FocusSums {
    job_n: i128,
    unpriced_job_n: i128,
    core_ms: i128,
    gpu_s: i128,
    charge_e9: i128,
}

/// The table, and what is not in it.
///
/// # Errors
/// [`Kind::Usage`] when a currency is missing or none; [`Kind::Data`] when charges are unknown and not to be left out.
pub fn report(charged: &[AccountCharge], zone: &Zone, billing: &FocusBilling) -> Result<(Table, Unpriced)> {
    let unpriced = Unpriced {
        job_n: charged.iter().map(|row| row.unpriced_job_n).sum(),
        sum_n: charged.iter().filter(|row| row.charge_e9.is_none()).count(),
    };
    if unpriced != Unpriced::default() && !billing.is_leaving_out {
        let message = format!(
            "the charge of {} jobs is unknown, and FOCUS has no unknown costs; --leave-out reports the others and counts these",
            unpriced.job_n
        );
        return Err(Error::new(Kind::Data, message));
    }
    if let Some(currency) = billing.currency.as_deref().filter(|code| !is_currency(code)) {
        let message = format!("{currency:?} is not a currency of ISO 4217, such as EUR");
        return Err(Error::new(Kind::Usage, message));
    }
    let mut groups: BTreeMap<FocusKey<'_>, FocusSums> = BTreeMap::new();
    for row in charged {
        let key = FocusKey {
            site: row.site.as_str(),
            vo: row.vo.as_deref(),
            account: row.account.as_deref(),
            cluster: row.cluster.as_deref(),
            tariff: &row.tariff,
            version: row.version.as_str(),
            month: row.month,
            day: row.day,
            correction: row.correction_id.as_deref(),
        };
        let Some(charge_e9) = row.charge_e9 else { continue };
        let sums = groups.entry(key).or_default();
        sums.job_n += i128::from(row.job_n);
        sums.unpriced_job_n += i128::from(row.unpriced_job_n);
        sums.core_ms += row.alloc_core_ms;
        sums.gpu_s += i128::from(row.alloc_gpu_s);
        // Within the bound of all charges that were read.
        sums.charge_e9 += charge_e9;
    }
    let columns = COLUMNS.map(|(name, kind)| (name, "", kind));
    let mut table = Table::new(format!("FOCUS {FOCUS_VERSION}"), &columns);
    for (key, sums) in &groups {
        table.push(row(*key, sums, zone, billing)?);
    }
    Ok((table, unpriced))
}

/// The currency of an invoice for what a tariff does not count in money.
fn billing_currency<'b>(tariff: &BalanceTariff, billing: &'b FocusBilling) -> Result<&'b str> {
    billing.currency.as_deref().ok_or_else(|| {
        let message = format!(
            "{tariff} counts in {}, which is not money: name the billing currency by --currency",
            tariff.unit
        );
        Error::new(Kind::Usage, message)
    })
}

fn description(key: FocusKey<'_>, sums: &FocusSums, unit: &str) -> String {
    let period = key.day.and_then(crate::time::month::date_of);
    format!(
        "{}Batch computing{} in {} under {} {}: {} {unit}",
        absent::phrase(key.correction.map(|id| format!("Correction {id}: "))),
        key.cluster.map_or_else(String::new, |cluster| format!(" on {cluster}")),
        period.map_or_else(|| key.month.to_string(), |date| date.to_string()),
        key.tariff,
        key.version,
        decimal::text(sums.charge_e9, CHARGE_SCALE),
    )
}

fn row(key: FocusKey<'_>, sums: &FocusSums, zone: &Zone, billing: &FocusBilling) -> Result<Vec<Cell>> {
    let FocusKey {
        site,
        vo,
        account,
        cluster,
        tariff,
        version,
        month,
        day,
        correction,
    } = key;
    let code = tariff.unit.to_uppercase();
    let is_money = is_currency(&code);
    let currency = if is_money {
        code.as_str()
    } else {
        billing_currency(tariff, billing)?
    };
    let unit = if is_money {
        code.clone()
    } else {
        unit_name(&tariff.unit)
    };
    let decimal = |value: i128| Cell::Decimal { value, scale: DIGITS };
    let one = 10_i128.pow(CHARGE_SCALE);
    let charge = || decimal(sums.charge_e9);
    let (cost, price) = if is_money { (sums.charge_e9, one) } else { (0, 0) };
    let (from, until) = match day {
        Some(day) => (day, day + 1),
        None => (month.first_day(), month.next().first_day()),
    };
    let instant = |day: Day| Cell::Instant(zone.begins_ms(day));
    let account_type = if vo.is_some() { "Virtual organisation" } else { "Site" };
    let billing_id = vo.map_or_else(|| format!("site:{site}"), |vo| format!("vo:{vo}"));
    let price_id = format!("{tariff} {version}");
    let issuer = billing.issuer.as_deref().unwrap_or(site);
    let of_cluster = |word: &str| cluster.map_or(Cell::Empty, |_| Cell::text(word));
    let of_account = |word: &str| account.map_or(Cell::Empty, |_| Cell::text(word));
    Ok(vec![
        decimal(cost),
        Cell::text(billing_id),
        Cell::text(vo.unwrap_or(site)),
        Cell::text(account_type),
        Cell::text(currency),
        instant(month.next().first_day()),
        instant(month.first_day()),
        Cell::text("Usage"),
        // A signed correction corrects an earlier report.
        correction.map_or(Cell::Empty, |_| Cell::text("Correction")),
        Cell::text(description(key, sums, &unit)),
        Cell::text("Usage-Based"),
        instant(until),
        instant(from),
        decimal(sums.core_ms * (one / 1000)),
        Cell::text("Core-Seconds"),
        decimal(cost),
        decimal(price),
        decimal(cost),
        Cell::text(site),
        // Charges are reported before an invoice exists.
        Cell::Empty,
        Cell::text(issuer),
        decimal(cost),
        decimal(price),
        Cell::text("Standard"),
        Cell::text(unit.as_str()),
        decimal(one),
        charge(),
        decimal(one),
        charge(),
        Cell::text(unit.as_str()),
        Cell::text(site),
        Cell::text(site),
        Cell::word(cluster),
        Cell::word(cluster),
        of_cluster("Cluster"),
        Cell::text("Compute"),
        Cell::text("Batch computing"),
        Cell::text(site),
        Cell::text("Other (Compute)"),
        Cell::text(tariff.policy.as_str()),
        Cell::text(unit.as_str()),
        Cell::text(price_details(tariff, version)),
        Cell::text(price_id),
        Cell::word(account),
        Cell::word(account),
        of_account("Account"),
        Cell::word(correction),
        Cell::Int(sums.gpu_s),
        Cell::Int(sums.job_n),
        Cell::text(tariff.policy.as_str()),
        Cell::word(Some(tariff.options.as_str()).filter(|options| !options.is_empty())),
        Cell::text(version),
        Cell::text(tariff.pool.as_str()),
        Cell::Int(sums.unpriced_job_n),
        Cell::word(vo),
    ])
}

/// What a price hangs on, in keys of our own.
fn price_details(tariff: &BalanceTariff, version: &str) -> String {
    let details = serde_json::json!({
        "x_Policy": tariff.policy, "x_PolicyOptions": tariff.options, "x_PolicyVersion": version, "x_Pool": tariff.pool,
    });
    details.to_string()
}

/// A policy's unit as FOCUS spells units: `service_unit` is `Service Units`, `gpu_hour` is `GPU-Hours`.
#[must_use]
pub fn unit_name(unit: &str) -> String {
    const TIMES: [&str; 6] = ["second", "minute", "hour", "day", "month", "year"];
    const SPELLED: [(&str, &str); 10] = [
        ("gpu", "GPU"),
        ("cpu", "CPU"),
        ("rgu", "RGU"),
        ("tres", "TRES"),
        ("hs23", "HS23"),
        ("hs06", "HS06"),
        ("gb", "GB"),
        ("tb", "TB"),
        ("gib", "GiB"),
        ("tib", "TiB"),
    ];
    let spelled = |word: &str| {
        let known = SPELLED.iter().find(|(known, _)| *known == word);
        let mut letters = word.chars();
        known.map_or_else(
            || {
                letters
                    .next()
                    .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
            },
            |(_, name)| (*name).to_owned(),
        )
    };
    let words: Vec<&str> = unit.split('_').filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [] => "Units".to_owned(),
        [things @ .., time] if !things.is_empty() && TIMES.contains(time) => {
            let things: Vec<String> = things.iter().map(|word| spelled(word)).collect();
            format!("{}-{}s", things.join(" "), spelled(time))
        }
        words => {
            let words: Vec<String> = words.iter().map(|word| spelled(word)).collect();
            format!("{}s", words.join(" "))
        }
    }
}
