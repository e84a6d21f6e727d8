//! Energy and carbon of a selection, with what each figure is worth and how much of the usage it is known of.

use std::collections::BTreeMap;

use super::lake::{Lake, Selection};
use super::table::{Cell, ColumnKind, Table};
use crate::amounts::{add, add_known, finer};
use crate::error::{Error, Kind, Result};
use crate::schema::batch::{date, int, number, text, word, word_or_empty};
use crate::store::lake::parse_usage_path;
use crate::time::Month;

/// Views whose hours are the site's own account; others describe the same hours.
const OWN_VIEW: &str = "batch";
/// What is limited to complete months where the pipeline does not set `grain = "day"`.
const ENERGY: &str = "energy (whose pipeline has no grain = \"day\")";
/// Joules of a kWh.
const KWH_J: i128 = 3_600_000;
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

/// A sum, and the core time it is known of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoveredSum {
    /// The sum; `None` while nothing is known.
    pub sum: Option<i128>,
    /// Core time, seconds.
    pub core_s: i128,
}

impl CoveredSum {
    fn add(&mut self, sum: Option<i64>, core_s: Option<i64>, name: &str) -> Result<()> {
        add_known(&mut self.sum, sum.map(i128::from), name)?;
        core_s.map_or(Ok(()), |core_s| add(&mut self.core_s, i128::from(core_s), name))
    }
}

/// Energy and carbon of some usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnergySums {
    /// Core time of all jobs, seconds.
    pub alloc_core_s: i128,
    /// Joules by class, in the order of [`CLASSES`].
    pub classes: [CoveredSum; 4],
    /// Joules of jobs whose `HEPscore23` is known; with seconds of score in place of core time.
    pub worked: CoveredSum,
    /// Joules of the site.
    pub pue: CoveredSum,
    /// mg of CO2 equivalent of the electricity.
    pub operational: CoveredSum,
    /// mg of CO2 equivalent of the nodes.
    pub embodied: CoveredSum,
}

/// Columns of usage: of each sum, and of what it is known of.
const CLASSES: [(&str, &str); 4] = [
    ("energy_exclusive_j", "energy_exclusive_core_s"),
    ("energy_apportioned_j", "energy_apportioned_core_s"),
    ("energy_node_meter_j", "energy_node_meter_core_s"),
    ("energy_modelled_j", "energy_modelled_core_s"),
];
const WORKED: (&str, &str) = ("energy_worked_j", "energy_worked_hs23_s");
const SITE: (&str, &str) = ("energy_pue_j", "energy_pue_core_s");
const OPERATIONAL: (&str, &str) = ("operational_co2e_mg", "operational_core_s");
const EMBODIED: (&str, &str) = ("embodied_co2e_mg", "embodied_core_s");

impl EnergySums {
    fn plus(&mut self, more: &Self) -> Result<()> {
        add(&mut self.alloc_core_s, more.alloc_core_s, "alloc_core_s")?;
        let sums = self.classes.iter_mut().chain([
            &mut self.worked,
            &mut self.pue,
            &mut self.operational,
            &mut self.embodied,
        ]);
        let parts = more
            .classes
            .iter()
            .chain([&more.worked, &more.pue, &more.operational, &more.embodied]);
        for (sum, part) in sums.zip(parts) {
            add_known(&mut sum.sum, part.sum, "energy")?;
            add(&mut sum.core_s, part.core_s, "energy")?;
        }
        Ok(())
    }

    /// Energy of nodes, of any class.
    #[must_use]
    pub fn nodes(&self) -> CoveredSum {
        let known = self.classes.iter().filter_map(|class| class.sum);
        let has_any = self.classes.iter().any(|class| class.sum.is_some());
        CoveredSum {
            sum: has_any.then(|| known.sum()),
            core_s: self.classes.iter().map(|class| class.core_s).sum(),
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
    for file in lake.manifest.dataset("usage") {
        let Some((site, vo, _)) = parse_usage_path(&file.path) else {
            continue;
        };
        if !selection.has_site(&site) || !selection.has_vo(vo.as_deref()) {
            continue;
        }
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let (month, day, view) = (date(&batch, "month")?, date(&batch, "day")?, text(&batch, "view")?);
            let words = |name| text(&batch, name);
            let (account, cluster, partition) = (words("account")?, words("cluster")?, words("partition")?);
            let core_s = int(&batch, "alloc_core_s")?;
            let pair = |(sum, known): (&str, &str)| Ok::<_, Error>((int(&batch, sum)?, int(&batch, known)?));
            let classes = CLASSES.into_iter().map(pair).collect::<Result<Vec<_>>>()?;
            let others = [WORKED, SITE, OPERATIONAL, EMBODIED]
                .into_iter()
                .map(pair)
                .collect::<Result<Vec<_>>>()?;
            for row in 0..batch.num_rows() {
                let asked = Month::of_day(month.value(row)).filter(|month| selection.has_month(*month));
                let Some(month) = asked.filter(|_| word(view, row) == Some(OWN_VIEW)) else {
                    continue;
                };
                match number(day, row) {
                    Some(day) if !selection.days.has(day) => continue,
                    Some(_) => {}
                    None => selection.must_be_whole(month, ENERGY)?,
                }
                let key = by.iter().map(|key| match key {
                    EnergyKey::Month => month.to_string(),
                    EnergyKey::Site => site.clone(),
                    EnergyKey::Vo => crate::absent::text(vo.as_deref()).to_owned(),
                    EnergyKey::Account => word_or_empty(account, row).to_owned(),
                    EnergyKey::Cluster => word_or_empty(cluster, row).to_owned(),
                    EnergyKey::Partition => word_or_empty(partition, row).to_owned(),
                });
                let sums = rows.entry(key.collect()).or_default();
                add(&mut sums.alloc_core_s, i128::from(core_s.value(row)), "alloc_core_s")?;
                let EnergySums {
                    classes: of_classes,
                    worked,
                    pue,
                    operational,
                    embodied,
                    ..
                } = sums;
                let sums = of_classes.iter_mut().chain([worked, pue, operational, embodied]);
                let names = CLASSES.iter().chain(&[WORKED, SITE, OPERATIONAL, EMBODIED]);
                for ((sum, (value, known)), (name, _)) in sums.zip(classes.iter().chain(&others)).zip(names) {
                    sum.add(number(value, row), number(known, row), name)?;
                }
            }
        }
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

fn cells(sums: &EnergySums) -> Vec<Cell> {
    let percent = |core_s: i128| Cell::ratio(finer(core_s, 100), sums.alloc_core_s, 1);
    let amount = |of: &CoveredSum, unit: i128| of.sum.map_or(Cell::Empty, |sum| Cell::ratio(sum, unit, 3));
    let ratio = |of: &CoveredSum, divisor: i128, digits: u8| {
        of.sum
            .map_or(Cell::Empty, |sum| Cell::ratio(finer(sum, HOUR_S), divisor, digits))
    };
    let nodes = sums.nodes();
    let [exclusive, apportioned, node_meter, modelled] = sums.classes;
    vec![
        Cell::ratio(sums.alloc_core_s, HOUR_S, 3),
        amount(&nodes, KWH_J),
        percent(nodes.core_s),
        percent(exclusive.core_s),
        percent(apportioned.core_s),
        percent(node_meter.core_s),
        percent(modelled.core_s),
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

/// The rows as a table, with the totals of all of them.
///
/// # Errors
/// [`Kind::Data`] when a sum is too large.
pub fn table(rows: &EnergyRows, by: &[EnergyKey]) -> Result<Table> {
    let keys = by.iter().map(|key| (key.as_str(), "", ColumnKind::Text));
    let columns: Vec<_> = keys.chain(COLUMNS).collect();
    let title = "Energy and carbon of jobs: what is unknown is in no sum, and the percentages state how much of the core time each \
                 sum is of";
    let mut table = Table::new(title, &columns);
    let mut total = EnergySums::default();
    for (key, sums) in rows {
        total.plus(sums)?;
        let words = key
            .iter()
            .map(|word| if word.is_empty() { Cell::Empty } else { Cell::text(word) });
        table.push(words.chain(cells(sums)).collect());
    }
    let heads = by
        .iter()
        .enumerate()
        .map(|(at, _)| if at == 0 { Cell::text("total") } else { Cell::Empty });
    table.exact_totals = Some(heads.chain(cells(&total)).collect());
    Ok(table)
}
