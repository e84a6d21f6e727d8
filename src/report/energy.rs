//! Energy and carbon of a selection, with what each figure is worth and how much of the usage it is known of.

use std::collections::BTreeMap;

use super::energy_sums::{CoveredSum, EnergySums};
use super::lake::{Lake, Selection};
use super::table::{Cell, ColumnKind, Table};
use super::usage_energy;
use crate::amounts::finer;
use crate::error::{Error, Kind, Result};

/// Joules of a kWh.
pub(super) const KWH_J: i128 = 3_600_000;
/// mg of a kg.
const KG_MG: i128 = 1_000_000;
/// Seconds of an hour.
const HOUR_S: i128 = 3600;

/// What rows are distinguished by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum EnergyKey {
    /// Month of the usage.
    Month,
    /// Site.
    Site,
    /// VO.
    Vo,
    /// Account.
    Account,
    /// Cluster.
    Cluster,
    /// Partition.
    Partition,
}

impl EnergyKey {
    /// Those of the report, where no others are requested.
    pub const USUAL: [Self; 4] = [Self::Month, Self::Site, Self::Vo, Self::Account];

    fn as_str(self) -> &'static str {
        match self {
            Self::Month => "month",
            Self::Site => "site",
            Self::Vo => "vo",
            Self::Account => "account",
            Self::Cluster => "cluster",
            Self::Partition => "partition",
        }
    }
}

/// Usage by the requested keys: the values of a row's keys, empty where unknown.
pub type EnergyRows = BTreeMap<Vec<String>, EnergySums>;

/// Adds up a selection of a lake by these keys: usage of the view `batch`.
///
/// # Errors
/// [`Kind::NoInput`] when the lake has no energy; [`Kind::Io`] when it cannot be read; [`Kind::Usage`] when days are requested and
/// usage is by month; [`Kind::Data`] when a sum is too large.
pub fn gather(lake: &Lake, selection: &Selection, by: &[EnergyKey]) -> Result<EnergyRows> {
    if lake.manifest.dataset("energy_table").next().is_none() {
        let message = "the lake has no energy: its pipeline needs [energy]";
        return Err(Error::new(Kind::NoInput, message).at("lake", lake.store.url()));
    }
    let mut rows = EnergyRows::new();
    for usage in usage_energy::read(lake, selection)? {
        let word = |word: Option<&str>| crate::absent::text(word).to_owned();
        let key = by.iter().map(|key| match key {
            EnergyKey::Month => usage.month.to_string(),
            EnergyKey::Site => usage.site.clone(),
            EnergyKey::Vo => word(usage.vo.as_deref()),
            EnergyKey::Account => word(usage.account.as_deref()),
            EnergyKey::Cluster => word(usage.cluster.as_deref()),
            EnergyKey::Partition => word(usage.partition.as_deref()),
        });
        rows.entry(key.collect()).or_default().plus(&usage.energy)?;
    }
    Ok(rows)
}

/// Columns after the keys.
const COLUMNS: [(&str, &str, ColumnKind); 17] = [
    ("core_h", "core h", ColumnKind::DecimalSum(3)),
    ("node_kwh", "kWh", ColumnKind::DecimalSum(3)),
    ("known_percent", "% of core h", ColumnKind::Decimal(1)),
    ("exclusive_percent", "% of core h", ColumnKind::Decimal(1)),
    ("apportioned_percent", "% of core h", ColumnKind::Decimal(1)),
    ("node_meter_percent", "% of core h", ColumnKind::Decimal(1)),
    ("modelled_percent", "% of core h", ColumnKind::Decimal(1)),
    ("unknown_percent", "% of core h", ColumnKind::Decimal(1)),
    ("site_kwh", "kWh", ColumnKind::DecimalSum(3)),
    ("site_known_percent", "% of core h", ColumnKind::Decimal(1)),
    ("operational_co2e_kg", "kg", ColumnKind::DecimalSum(3)),
    ("operational_known_percent", "% of core h", ColumnKind::Decimal(1)),
    ("embodied_co2e_kg", "kg", ColumnKind::DecimalSum(3)),
    ("embodied_known_percent", "% of core h", ColumnKind::Decimal(1)),
    ("kwh_per_core_h", "kWh / core h", ColumnKind::Decimal(6)),
    ("kwh_per_hs23_h", "kWh / HEPscore23 h", ColumnKind::Decimal(6)),
    ("operational_co2e_g_per_core_h", "g / core h", ColumnKind::Decimal(3)),
];

/// How many digits after the point amounts have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyDigits {
    /// Those of the report.
    Report,
    /// So many, of which a page shows those that matter.
    Finer(u8),
}

impl EnergyDigits {
    fn of(self, report: u8) -> u8 {
        match self {
            Self::Report => report,
            Self::Finer(digits) => digits,
        }
    }

    /// The kind of a column; percentages are as in the report.
    fn kind(self, unit: &str, kind: ColumnKind) -> ColumnKind {
        match kind {
            ColumnKind::DecimalSum(digits) => ColumnKind::DecimalSum(self.of(digits)),
            ColumnKind::Decimal(digits) if !unit.starts_with('%') => ColumnKind::Decimal(self.of(digits)),
            kind => kind,
        }
    }
}

fn cells(sums: &EnergySums, digits: EnergyDigits) -> Vec<Cell> {
    let percent = |core_s: i128| Cell::percent(core_s, sums.alloc_core_s, 1);
    let amount = |of: &CoveredSum, unit: i128| of.sum.map_or(Cell::Empty, |sum| Cell::ratio(sum, unit, digits.of(3)));
    let ratio = |of: &CoveredSum, divisor: i128, usual: u8| {
        of.sum.map_or(Cell::Empty, |sum| {
            Cell::ratio(finer(sum, HOUR_S), divisor, digits.of(usual))
        })
    };
    let nodes = sums.nodes();
    // Classes are parts of what is known: where that is no part of the whole, neither are they.
    let is_part = (0..=sums.alloc_core_s).contains(&nodes.core_s);
    let of_class = |class: &CoveredSum| if is_part { percent(class.core_s) } else { Cell::Empty };
    let [exclusive, apportioned, node_meter, modelled] = sums.classes;
    vec![
        Cell::ratio(sums.alloc_core_s, HOUR_S, digits.of(3)),
        amount(&nodes, KWH_J),
        percent(nodes.core_s),
        of_class(&exclusive),
        of_class(&apportioned),
        of_class(&node_meter),
        of_class(&modelled),
        percent(sums.alloc_core_s - nodes.core_s),
        amount(&sums.pue, KWH_J),
        percent(sums.pue.core_s),
        amount(&sums.operational, KG_MG),
        percent(sums.operational.core_s),
        amount(&sums.embodied, KG_MG),
        percent(sums.embodied.core_s),
        ratio(&nodes, finer(nodes.core_s, KWH_J), 6),
        ratio(&sums.worked, finer(sums.worked.core_s, KWH_J), 6),
        ratio(&sums.operational, finer(sums.operational.core_s, 1000), 3),
    ]
}

/// The rows as a table, with the totals of all of them. A percentage is empty where corrections take out core time of jobs whose
/// energy stays, so that it would be below 0 or above 100.
///
/// # Errors
/// [`Kind::Data`] when a sum is too large.
pub fn table(rows: &EnergyRows, by: &[EnergyKey], digits: EnergyDigits) -> Result<Table> {
    let keys = by.iter().map(|key| (key.as_str(), "", ColumnKind::Text));
    let amounts = COLUMNS.map(|(name, unit, kind)| (name, unit, digits.kind(unit, kind)));
    let columns: Vec<_> = keys.chain(amounts).collect();
    let title = "Energy and carbon of jobs: what is unknown is in no sum, and the percentages state how much of the core time each \
                 sum is of";
    let mut table = Table::new(title, &columns);
    let mut total = EnergySums::default();
    for (key, sums) in rows {
        total.plus(sums)?;
        let words = key
            .iter()
            .map(|word| if word.is_empty() { Cell::Empty } else { Cell::text(word) });
        table.push(words.chain(cells(sums, digits)).collect());
    }
    let heads = by
        .iter()
        .enumerate()
        .map(|(at, _)| if at == 0 { Cell::text("total") } else { Cell::Empty });
    table.exact_totals = Some(heads.chain(cells(&total, digits)).collect());
    Ok(table)
}
