//! When a table of energy turns out wrong: by how much energy and carbon of a site and month change.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::Int64Array;
use serde::Serialize;

use super::partition_context::PartitionContext;
use super::usage::UsagePart;
use crate::amounts::add_known;
use crate::error::{Error, Result};
use crate::record::SiteMonth;
use crate::schema::batch::{date, int, number};
use crate::store::lake;
use crate::summarise::sums::MeasuredSums;
use crate::time::{Day, Month};

/// Energy and carbon of a site and month; `None` where nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EnergyAmounts {
    /// Energy of nodes, joules, of any class.
    pub energy_j: Option<i128>,
    /// Energy of the site for it, joules.
    pub energy_pue_j: Option<i128>,
    /// CO2 equivalent of the electricity, mg.
    pub operational_co2e_mg: Option<i128>,
    /// CO2 equivalent of the nodes, mg.
    pub embodied_co2e_mg: Option<i128>,
}

/// Columns of usage that [`EnergyAmounts`] adds up, and which of its sums takes each.
const COLUMNS: [(&str, AmountPlace); 7] = [
    ("energy_exclusive_j", |amounts| &mut amounts.energy_j),
    ("energy_apportioned_j", |amounts| &mut amounts.energy_j),
    ("energy_node_meter_j", |amounts| &mut amounts.energy_j),
    ("energy_modelled_j", |amounts| &mut amounts.energy_j),
    ("energy_pue_j", |amounts| &mut amounts.energy_pue_j),
    ("operational_co2e_mg", |amounts| &mut amounts.operational_co2e_mg),
    ("embodied_co2e_mg", |amounts| &mut amounts.embodied_co2e_mg),
];

/// Where an amount is added.
type AmountPlace = fn(&mut EnergyAmounts) -> &mut Option<i128>;

/// What other tables made of one site and month of usage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecomputedEnergy {
    /// Site.
    pub site: String,
    /// Month of usage, `YYYY-MM`.
    pub month: String,
    /// Before.
    pub former: EnergyAmounts,
    /// After.
    pub now: EnergyAmounts,
    /// Records came as well in this run: not all of the change is due to the tables.
    pub has_new_records: bool,
}

impl RecomputedEnergy {
    /// A line for people.
    pub(crate) fn text(&self) -> String {
        let known = |amount: Option<i128>, unit: &str| amount.map_or("unknown".to_owned(), |n| format!("{n} {unit}"));
        let of = [
            ("nodes", self.former.energy_j, self.now.energy_j, "J"),
            ("site", self.former.energy_pue_j, self.now.energy_pue_j, "J"),
            (
                "operational",
                self.former.operational_co2e_mg,
                self.now.operational_co2e_mg,
                "mg CO2e",
            ),
            (
                "embodied",
                self.former.embodied_co2e_mg,
                self.now.embodied_co2e_mg,
                "mg CO2e",
            ),
        ];
        let changed = of.into_iter().filter(|(_, former, now, _)| former != now);
        let changed: Vec<String> = changed
            .map(|(what, former, now, unit)| format!("{what} {} becomes {}", known(former, unit), known(now, unit)))
            .collect();
        let new_records = if self.has_new_records {
            ", new records included"
        } else {
            ""
        };
        format!(
            "{} {} energy: {}{new_records}",
            self.site,
            self.month,
            changed.join(", ")
        )
    }
}

/// What each outdated place contributed before and contributes now, by site and month of usage. Rows that did not change are
/// left out.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read, [`crate::error::Kind::Internal`] when its usage is not what was written.
pub(crate) fn compare(
    context: &PartitionContext<'_>,
    outdated: &BTreeSet<SiteMonth>,
    parts: &[UsagePart],
    fresh: impl Fn(&SiteMonth) -> bool,
) -> Result<Vec<RecomputedEnergy>> {
    let mut months: BTreeMap<SiteMonth, RecomputedEnergy> = BTreeMap::new();
    for part in parts {
        let place = SiteMonth::new(part.site.as_str(), part.month);
        if !outdated.contains(&place) {
            continue;
        }
        let is_fresh = fresh(&place);
        for group in part.groups.groups()? {
            let of = entry(&mut months, &part.site, group.key.month, is_fresh)?;
            for (name, place) in COLUMNS {
                let sum = MeasuredSums::column(name).and_then(|column| *column(&group.sums.measured));
                add_known(place(&mut of.now), sum.map(i128::from), name)?;
            }
        }
        let path = lake::month_path("usage_part", &part.site, part.month);
        for batch in lake::batches(context.publication, &path)?.into_iter().flatten() {
            let batch = batch?;
            let month = date(&batch, "month")?;
            let columns: Vec<&Int64Array> = COLUMNS
                .iter()
                .map(|(name, _)| int(&batch, name))
                .collect::<Result<_>>()?;
            for row in 0..batch.num_rows() {
                let of = entry(&mut months, &part.site, month.value(row), is_fresh)?;
                for ((name, place), column) in COLUMNS.iter().zip(&columns) {
                    add_known(place(&mut of.former), number(column, row).map(i128::from), name)?;
                }
            }
        }
    }
    Ok(months.into_values().filter(|of| of.former != of.now).collect())
}

/// The row of the month that contains a day.
fn entry<'m>(
    months: &'m mut BTreeMap<SiteMonth, RecomputedEnergy>,
    site: &str,
    day: Day,
    has_new_records: bool,
) -> Result<&'m mut RecomputedEnergy> {
    let month = Month::of_day(day).ok_or_else(|| Error::internal("usage of a month that has no name"))?;
    let of = months
        .entry(SiteMonth::new(site, month))
        .or_insert_with(|| RecomputedEnergy {
            site: site.to_owned(),
            month: month.to_string(),
            ..RecomputedEnergy::default()
        });
    of.has_new_records |= has_new_records;
    Ok(of)
}
