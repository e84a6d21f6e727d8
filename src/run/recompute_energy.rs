//! When a table of energy turns out wrong: by how much energy and carbon of a site and month change.

use std::collections::BTreeSet;

use arrow_array::Int64Array;
use serde::Serialize;

use super::partition_context::PartitionContext;
use super::unbuilt_parts::unbuilt_parts;
use super::usage::UsagePart;
use super::usage_months::UsageMonths;
use crate::amounts::add_known;
use crate::error::Result;
use crate::record::SiteMonth;
use crate::schema::batch::{date, int, number};
use crate::store::lake;
use crate::summarise::sums::MeasuredSums;

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

/// Energy and carbon of a site and month of usage, before and now.
#[derive(Default)]
struct MonthEnergy {
    former: EnergyAmounts,
    now: EnergyAmounts,
    /// Whether records came as well.
    has_new_records: bool,
}

impl MonthEnergy {
    /// Whether it is other energy now.
    fn is_changed(&self) -> bool {
        self.former != self.now
    }
}

/// Energy and carbon by site and month of usage.
type EnergyMonths = UsageMonths<MonthEnergy>;

impl EnergyMonths {
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
        amounts: impl Fn(&mut MonthEnergy) -> [Option<&mut EnergyAmounts>; 2],
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
    let mut found = EnergyMonths::open();
    for part in rated {
        found.add_built(context, part, fresh(&place(part)))?;
    }
    found.close(MonthEnergy::is_changed);
    if found.months.is_empty() {
        return Ok(Vec::new());
    }
    for part in others {
        found.add_built(context, part, fresh(&place(part)))?;
    }
    let unbuilt = unbuilt_parts(context, parts, &found.sites());
    for place in unbuilt {
        found.add_published(context, &place, |of| [Some(&mut of.former), Some(&mut of.now)])?;
    }
    let changed = found.months.into_iter().filter(|(_, of)| of.is_changed());
    let rows = changed.map(|(SiteMonth { site, month }, of)| RecomputedEnergy {
        site,
        month: month.to_string(),
        former: of.former,
        now: of.now,
        has_new_records: of.has_new_records,
    });
    Ok(rows.collect())
}
