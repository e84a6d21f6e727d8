//! When a table of energy turns out wrong: by how much energy and carbon of a site and month change.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::Int64Array;
use serde::Serialize;

use super::partition_context::PartitionContext;
use super::unbuilt_parts::unbuilt_parts;
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

/// Energy and carbon by site and month of usage.
#[derive(Default)]
struct EnergyMonths {
    months: BTreeMap<SiteMonth, RecomputedEnergy>,
    /// Whether months are added that are not there.
    is_open: bool,
}

impl EnergyMonths {
    /// The row of the month that contains a day; `None` where it is not one of those.
    fn of(&mut self, site: &str, day: Day) -> Result<Option<&mut RecomputedEnergy>> {
        let month = Month::of_day(day).ok_or_else(|| Error::internal("usage of a month that has no name"))?;
        let place = SiteMonth::new(site, month);
        if self.is_open {
            let of = self.months.entry(place).or_insert_with(|| RecomputedEnergy {
                site: site.to_owned(),
                month: month.to_string(),
                ..RecomputedEnergy::default()
            });
            return Ok(Some(of));
        }
        Ok(self.months.get_mut(&place))
    }

    /// Adds what a place that this run has built contributed before and contributes now.
    fn add_built(&mut self, context: &PartitionContext<'_>, part: &UsagePart, is_fresh: bool) -> Result<()> {
        for group in part.groups.groups()? {
            let Some(of) = self.of(&part.site, group.key.month)? else {
                continue;
            };
            of.has_new_records |= is_fresh;
            for (name, place) in COLUMNS {
                let sum = MeasuredSums::column(name).and_then(|column| *column(&group.sums.measured));
                add_known(place(&mut of.now), sum.map(i128::from), name)?;
            }
        }
        self.add_published(context, &SiteMonth::new(part.site.as_str(), part.month), |of| {
            of.has_new_records |= is_fresh;
            [Some(&mut of.former), None]
        })
    }

    /// Adds what is published of a place to amounts of each month.
    fn add_published(
        &mut self,
        context: &PartitionContext<'_>,
        place: &SiteMonth,
        amounts: impl Fn(&mut RecomputedEnergy) -> [Option<&mut EnergyAmounts>; 2],
    ) -> Result<()> {
        let path = lake::month_path("usage_part", &place.site, place.month);
        for batch in lake::batches(context.publication, &path)?.into_iter().flatten() {
            let batch = batch?;
            let month = date(&batch, "month")?;
            let columns: Vec<&Int64Array> = COLUMNS
                .iter()
                .map(|(name, _)| int(&batch, name))
                .collect::<Result<_>>()?;
            for row in 0..batch.num_rows() {
                let Some(of) = self.of(&place.site, month.value(row))? else {
                    continue;
                };
                for into in amounts(of).into_iter().flatten() {
                    for ((name, amount), column) in COLUMNS.iter().zip(&columns) {
                        add_known(amount(into), number(column, row).map(i128::from), name)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// What other tables made of each site and month of usage, before and now, with what other places contribute to the month.
/// Months that did not change are left out.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read, [`crate::error::Kind::Internal`] when its usage is not what was written.
pub(crate) fn compare(
    context: &PartitionContext<'_>,
    outdated: &BTreeSet<SiteMonth>,
    parts: &[UsagePart],
    fresh: impl Fn(&SiteMonth) -> bool,
) -> Result<Vec<RecomputedEnergy>> {
    let place = |part: &UsagePart| SiteMonth::new(part.site.as_str(), part.month);
    let (rated, others): (Vec<_>, Vec<_>) = parts.iter().partition(|part| outdated.contains(&place(part)));
    let mut found = EnergyMonths {
        is_open: true,
        ..EnergyMonths::default()
    };
    for part in rated {
        found.add_built(context, part, fresh(&place(part)))?;
    }
    found.months.retain(|_, of| of.former != of.now);
    found.is_open = false;
    if found.months.is_empty() {
        return Ok(Vec::new());
    }
    for part in others {
        found.add_built(context, part, fresh(&place(part)))?;
    }
    for place in unbuilt_parts(context, parts, &found.months.keys().cloned().collect()) {
        found.add_published(context, &place, |of| [Some(&mut of.former), Some(&mut of.now)])?;
    }
    Ok(found.months.into_values().filter(|of| of.former != of.now).collect())
}
