//! What the site's usage was charged: a table for each policy, for two policies are two views of the same jobs.

use std::collections::{BTreeMap, BTreeSet};

use super::charge_sum::SiteChargeSum;
use super::data::Grouping;
use super::supply::Supply;
use crate::amounts::finer;
use crate::charge::amount::{CHARGE_PLACES, CHARGE_SCALE};
use crate::reference::currency::is_currency;
use crate::report::charges::BalanceTariff;
use crate::report::shown::grouped;
use crate::report::table::{Cell, ColumnKind, Table, divide};

/// Digits after the point of money.
const MONEY_DIGITS: u8 = 2;

/// Charges under one policy.
pub struct PolicyCharges {
    /// What people call the policy.
    pub title: String,
    /// By VO or account: what each pool was charged, and for how many jobs.
    pub table: Table,
    /// Jobs that have no price.
    pub note: Option<String>,
}

/// Policy and options.
type SiteChargeName<'a> = (&'a str, &'a str);

/// The charges of each policy under which some are known, in the order of the policies; then the notes about the others,
/// if there are any.
#[must_use]
pub fn by_policy(supply: &Supply, grouping: Grouping) -> (Vec<PolicyCharges>, Option<String>) {
    let mut sums: BTreeMap<&BalanceTariff, BTreeMap<Option<&str>, SiteChargeSum>> = BTreeMap::new();
    for row in &supply.charged {
        let sum = sums
            .entry(&row.tariff)
            .or_default()
            .entry(grouping.name(row.vo.as_deref(), row.account.as_deref()))
            .or_default();
        sum.add(&SiteChargeSum::of(row));
    }
    let mut names: BTreeMap<SiteChargeName<'_>, Vec<&BalanceTariff>> = BTreeMap::new();
    let mut left_out: BTreeSet<PolicyLeftOut> = BTreeSet::new();
    let all: BTreeSet<&BalanceTariff> = supply.tariffs.iter().chain(sums.keys().copied()).collect();
    let title = |tariff: &BalanceTariff| tariff.title_among(all.iter().copied());
    for tariff in &all {
        let by_name = sums.get(*tariff).into_iter().flat_map(BTreeMap::values);
        if by_name.clone().any(|sum| sum.charge_e9.is_some()) {
            names
                .entry((&tariff.policy, &tariff.options))
                .or_default()
                .push(*tariff);
        } else {
            left_out.insert(PolicyLeftOut {
                title: title(tariff),
                unpriced_n: by_name.map(|sum| sum.unpriced_job_n).sum(),
            });
        }
    }
    // A policy that charges one of its pools is not left out.
    left_out.retain(|left| !names.values().flatten().any(|tariff| title(tariff) == left.title));
    let charges = names.values().map(|tariffs| PolicyCharges {
        title: tariffs.first().map_or_else(String::new, |tariff| title(tariff)),
        ..of_policy(tariffs, &sums, grouping)
    });
    let charges = charges.collect();
    (charges, why_left_out(&left_out))
}

fn of_policy(
    tariffs: &[&BalanceTariff],
    sums: &BTreeMap<&BalanceTariff, BTreeMap<Option<&str>, SiteChargeSum>>,
    grouping: Grouping,
) -> PolicyCharges {
    let mut table = Table::new("Charges", &[(grouping.column(), "", ColumnKind::Text)]);
    let names = tariffs
        .iter()
        .filter_map(|tariff| sums.get(tariff))
        .flat_map(BTreeMap::keys);
    let names: BTreeSet<Option<&str>> = names.copied().collect();
    for tariff in tariffs {
        let (unit, _) = tariff.unit_for_people();
        let mut own = Table::new(
            "",
            &[
                (unit, "", ColumnKind::DecimalSum(digits(tariff))),
                ("jobs", "1", ColumnKind::Sum),
            ],
        );
        if let Some(charge) = own.columns.first_mut() {
            charge.has_all_digits = is_money(tariff);
        }
        table.columns.append(&mut own.columns);
    }
    let mut totals: Vec<SiteChargeSum> = vec![SiteChargeSum::default(); tariffs.len()];
    for name in names {
        let mut row = vec![Cell::text(name.unwrap_or("(unknown)"))];
        for (tariff, total) in tariffs.iter().zip(&mut totals) {
            let sum = sums.get(tariff).and_then(|by_name| by_name.get(&name));
            row.extend(cells(tariff, sum));
            if let Some(sum) = sum {
                total.add(sum);
            }
        }
        table.push(row);
    }
    let mut last = vec![Cell::text("total")];
    last.extend(
        tariffs
            .iter()
            .zip(&totals)
            .flat_map(|(tariff, sum)| cells(tariff, Some(sum))),
    );
    table.exact_totals = Some(last);
    let unpriced = tariffs.iter().zip(&totals);
    let unpriced: Vec<String> = unpriced
        .filter_map(|(tariff, sum)| {
            let amounts = sum.unpriced()?;
            Some(match tariffs {
                [_] => amounts,
                _ => format!("{amounts} in {}", tariff.unit_for_people().0),
            })
        })
        .collect();
    PolicyCharges {
        title: String::new(),
        table,
        note: (!unpriced.is_empty()).then(|| {
            format!(
                "Jobs without a price, which are not in these sums: {}.",
                unpriced.join("; ")
            )
        }),
    }
}

/// Digits after the point of the charges of a tariff; of those that are not money the page shows the ones that matter.
fn digits(tariff: &BalanceTariff) -> u8 {
    if is_money(tariff) { MONEY_DIGITS } else { CHARGE_PLACES }
}

fn is_money(tariff: &BalanceTariff) -> bool {
    is_currency(&tariff.unit.to_uppercase())
}

/// Charge and jobs; nothing where the policy charged nothing.
fn cells(tariff: &BalanceTariff, sum: Option<&SiteChargeSum>) -> [Cell; 2] {
    let (_, units_n) = tariff.unit_for_people();
    // How many of the last place of the lake's charges make one of the last place shown.
    let cut = 10_i128.pow(CHARGE_SCALE - u32::from(digits(tariff)));
    let charge = sum.and_then(|sum| sum.charge_e9);
    [
        charge
            .and_then(|charge| divide(charge, finer(units_n, cut)))
            .map_or(Cell::Empty, |value| Cell::Decimal {
                value,
                scale: digits(tariff),
            }),
        sum.map_or(Cell::Empty, |sum| Cell::Int(sum.job_n)),
    ]
}

/// A policy that charged nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PolicyLeftOut {
    title: String,
    /// Jobs without a price.
    unpriced_n: i128,
}

fn why_left_out(left_out: &BTreeSet<PolicyLeftOut>) -> Option<String> {
    if left_out.is_empty() {
        return None;
    }
    let names: Vec<String> = left_out
        .iter()
        .map(|PolicyLeftOut { title, unpriced_n }| match unpriced_n {
            0 => title.clone(),
            n => format!("{title} ({} jobs without a price)", grouped(*n)),
        })
        .collect();
    Some(format!(
        "Policies left out, because no job of these months is in their scope or has a price: {}.",
        names.join("; ")
    ))
}
