//! The data shown with the site's usage: what its nodes could have delivered, what the usage was charged, and what of the
//! nodes was left over. Each is shown only if the pipeline requests it.

use std::collections::{BTreeMap, BTreeSet};

use super::charge_sum::SiteChargeSum;
use super::data::{FILE_DIGITS, Grouping, SitePageSums};
use crate::amounts::add;
use crate::amounts::finer;
use crate::charge::amount::CHARGE_PLACES;
use crate::error::Result;
use crate::numbers::tally;
use crate::report::charges::{AccountCharge, BalanceTariff};
use crate::report::lake::{Lake, Selection};
use crate::report::shown::HOUR_MS;
use crate::report::table::{Cell, ColumnKind, Table, divide, known_sum};
use crate::schema::batch::{addend, decimal, int, number, text, word};
use crate::store::lake::parse_overhead_path;
use crate::time::Month;

/// Units of the decimals of work.
const WORK_SCALE: i128 = 10_000_000;

/// What nodes could have delivered in a month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// Core seconds: logical CPUs times the time they were there.
    pub core_s: i128,
    /// Work in HEPSPEC06 and `HEPscore23` seconds; `None` where none is known.
    pub work_s: [Option<i128>; 2],
}

/// Core seconds of nodes by what became of them, under one canonical unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOver {
    /// Capacity.
    pub capacity: i128,
    /// Given to jobs.
    pub allocated: i128,
    /// In which units could have run.
    pub overhead: i128,
    /// Free, and of no use to the unit.
    pub stranded: i128,
    /// Down or drained.
    pub down: i128,
    /// Reserved.
    pub reserved: i128,
    /// Capacity of which it is not known what was left.
    pub unknown: i128,
}

/// All data shown with usage; empty where the lake has no such dataset.
#[derive(Clone, Debug, Default)]
pub struct Supply {
    /// Capacity by month.
    pub installed: BTreeMap<Month, Installed>,
    /// Charges of jobs in the view `batch`, and of windows of reservations.
    pub charged: Vec<AccountCharge>,
    /// Every policy the lake charges by.
    pub tariffs: BTreeSet<BalanceTariff>,
    /// Left over by cluster and canonical unit.
    pub left_over: BTreeMap<(String, String), LeftOver>,
}

impl Supply {
    /// Reads what the lake has of one site, which the selection names; `see` is called with the hash of every file.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read.
    pub fn read(lake: &Lake, site: &str, selection: &Selection, mut see: impl FnMut(&str)) -> Result<Self> {
        let mut supply = Self::default();
        // Nodes belong to no VO: their capacity is shown only with all usage.
        if selection.vos.is_empty() {
            supply.read_capacity(lake, site, selection, &mut see)?;
            supply.read_overhead(lake, site, selection, &mut see)?;
        }
        if lake.manifest.dataset("charges").next().is_some() {
            for file in lake.manifest.dataset("charges") {
                see(&file.blake3);
            }
            supply.charged = crate::report::charges::read(lake, selection)?;
            supply.tariffs = crate::report::charges::tariffs(lake)?;
        }
        Ok(supply)
    }

    fn read_capacity(
        &mut self,
        lake: &Lake,
        site: &str,
        selection: &Selection,
        see: &mut impl FnMut(&str),
    ) -> Result<()> {
        let own = crate::store::lake::capacity_path(site);
        // The sizes of all work together: within them every sum of some rows is exact.
        let mut bound_work_s = 0_i128;
        for file in lake.manifest.dataset("capacity").filter(|file| file.path == own) {
            see(&file.blake3);
            for batch in lake.batches(&file.path, None)? {
                let batch = batch?;
                let month = crate::schema::batch::date(&batch, "month")?;
                let cores = int(&batch, "logical_cpu_s")?;
                let works = [decimal(&batch, "capacity_hs06_s")?, decimal(&batch, "capacity_hs23_s")?];
                for row in 0..batch.num_rows() {
                    let of = Month::of_day(month.value(row)).filter(|month| selection.has_month(*month));
                    let Some(of) = of else { continue };
                    let installed = self.installed.entry(of).or_default();
                    installed.core_s += i128::from(cores.value(row));
                    for (sum, work) in installed.work_s.iter_mut().zip(works) {
                        if let Some(work) = number(work, row) {
                            add(&mut bound_work_s, work.abs(), "capacity")?;
                            *sum = Some(addend(*sum) + work);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn read_overhead(
        &mut self,
        lake: &Lake,
        site: &str,
        selection: &Selection,
        see: &mut impl FnMut(&str),
    ) -> Result<()> {
        const COLUMNS: [&str; 8] = [
            "cluster",
            "unit",
            "capacity_core_s",
            "allocated_core_s",
            "overhead_core_s",
            "stranded_core_s",
            "down_core_s",
            "reserved_core_s",
        ];
        for file in lake.manifest.dataset("overhead") {
            let is_own =
                parse_overhead_path(&file.path).is_some_and(|(of, _, month)| of == site && selection.has_month(month));
            if !is_own {
                continue;
            }
            see(&file.blake3);
            for batch in lake.batches(&file.path, Some(&COLUMNS))? {
                let batch = batch?;
                let (cluster, unit) = (text(&batch, "cluster")?, text(&batch, "unit")?);
                let amounts = |name| int(&batch, name);
                let (capacity, allocated) = (amounts("capacity_core_s")?, amounts("allocated_core_s")?);
                let (overhead, stranded) = (amounts("overhead_core_s")?, amounts("stranded_core_s")?);
                let (down, reserved) = (amounts("down_core_s")?, amounts("reserved_core_s")?);
                for row in 0..batch.num_rows() {
                    let of = |column, default: &str| word(column, row).unwrap_or(default).to_owned();
                    let sums = self.left_over.entry((of(cluster, "-"), of(unit, "-"))).or_default();
                    let known = |column| number(column, row).map(i128::from);
                    sums.capacity += addend(known(capacity));
                    sums.allocated += addend(known(allocated));
                    sums.down += addend(known(down));
                    sums.reserved += addend(known(reserved));
                    match (known(overhead), known(stranded)) {
                        (Some(overhead), Some(stranded)) => {
                            sums.overhead += overhead;
                            sums.stranded += stranded;
                        }
                        _ => sums.unknown += addend(known(capacity)),
                    }
                }
            }
        }
        Ok(())
    }

    /// Capacity and what was delivered, by month.
    #[must_use]
    pub fn capacity_table(&self, delivered: &BTreeMap<Month, SitePageSums>) -> Table {
        let hour = ColumnKind::DecimalSum(FILE_DIGITS);
        let percent = ColumnKind::Decimal(2);
        let mut table = Table::new(
            "Capacity and what was delivered",
            &[
                ("month", "", ColumnKind::Text),
                ("installed_core_hours", "core h", hour),
                ("delivered_core_hours", "core h", hour),
                ("used", "%", percent),
                ("installed_hs06_hours", "HS06 h", hour),
                ("delivered_hs06_hours", "HS06 h", hour),
                ("used_of_hs06", "%", percent),
                ("installed_hs23_hours", "HS23 h", hour),
                ("delivered_hs23_hours", "HS23 h", hour),
                ("used_of_hs23", "%", percent),
            ],
        );
        let mut totals = (Installed::default(), SitePageSums::default());
        for (month, installed) in &self.installed {
            let sums = tally(delivered.get(month).copied());
            totals.0.core_s += installed.core_s;
            for (total, work) in totals.0.work_s.iter_mut().zip(installed.work_s) {
                *total = known_sum(*total, work);
            }
            totals.1.add(&sums);
            table.push(capacity_row(month.to_string(), installed, &sums));
        }
        table.exact_totals = Some(capacity_row("total".to_owned(), &totals.0, &totals.1));
        table
    }

    /// Charges by tariff and VO or account, in hours where the lake counts in seconds. Charges of two tariffs are views of the same
    /// jobs, so that nothing is added up.
    #[must_use]
    pub fn charges_table(&self, grouping: Grouping) -> Table {
        let amount = ColumnKind::Decimal(CHARGE_PLACES);
        let mut table = Table::new(
            "Charges",
            &[
                ("policy", "", ColumnKind::Text),
                ("pool", "", ColumnKind::Text),
                ("unit", "", ColumnKind::Text),
                (grouping.column(), "", ColumnKind::Text),
                ("charge", "", amount),
                ("jobs", "1", ColumnKind::Number),
                ("unpriced_jobs", "1", ColumnKind::Number),
                ("unpriced_core_hours", "core h", ColumnKind::Decimal(FILE_DIGITS)),
            ],
        );
        let mut sums: BTreeMap<OfName<'_>, SiteChargeSum> = BTreeMap::new();
        for row in &self.charged {
            let name = grouping.name(row.vo.as_deref(), row.account.as_deref());
            for key in [(&row.tariff, Some(name)), (&row.tariff, None)] {
                sums.entry(key).or_default().add(&SiteChargeSum::of(row));
            }
        }
        for ((tariff, name), sum) in sums {
            let (unit, units_n) = tariff.unit_for_people();
            let charge = |charge_e9: i128| {
                divide(charge_e9, units_n).map_or(Cell::Empty, |value| Cell::Decimal {
                    value,
                    scale: CHARGE_PLACES,
                })
            };
            table.push(vec![
                Cell::text(tariff.to_string()),
                Cell::text(tariff.pool.as_str()),
                Cell::text(unit),
                Cell::text(name.map_or("(all)", |name| name.unwrap_or("(unknown)"))),
                sum.charge_e9.map_or(Cell::Empty, charge),
                Cell::Int(sum.job_n),
                Cell::Int(sum.unpriced_job_n),
                Cell::ratio(sum.unpriced_core_ms, HOUR_MS, FILE_DIGITS),
            ]);
        }
        table
    }

    /// What became of the cores of the nodes, by cluster and canonical unit. Units are views of the same nodes, so that
    /// nothing is added up.
    #[must_use]
    pub fn overhead_table(&self) -> Table {
        let hour = ColumnKind::Decimal(FILE_DIGITS);
        let percent = ColumnKind::Decimal(1);
        let mut table = Table::new(
            "Overhead in brief",
            &[
                ("cluster", "", ColumnKind::Text),
                ("canonical_unit", "", ColumnKind::Text),
                ("capacity", "core h", hour),
                ("allocated", "%", percent),
                ("overhead", "%", percent),
                ("stranded", "%", percent),
                ("down", "%", percent),
                ("reserved", "%", percent),
                ("not_known", "%", percent),
            ],
        );
        for ((cluster, unit), sums) in &self.left_over {
            let percent = |part: i128| Cell::ratio(finer(part, 100), sums.capacity, 1);
            table.push(vec![
                Cell::text(cluster.as_str()),
                Cell::text(unit.as_str()),
                Cell::ratio(sums.capacity, 3600, FILE_DIGITS),
                percent(sums.allocated),
                percent(sums.overhead),
                percent(sums.stranded),
                percent(sums.down),
                percent(sums.reserved),
                percent(sums.unknown),
            ]);
        }
        table
    }
}

/// A tariff, and one VO or account (which may be unknown) or all of them.
type OfName<'a> = (&'a BalanceTariff, Option<Option<&'a str>>);

/// Per mille of capacity that was delivered; `None` where there is no capacity.
#[must_use]
pub fn used_tenths(installed: &Installed, sums: &SitePageSums) -> Option<i128> {
    divide(finer(sums.core_s, 1000), installed.core_s)
}

fn capacity_row(name: String, installed: &Installed, sums: &SitePageSums) -> Vec<Cell> {
    let mut row = vec![
        Cell::text(name),
        Cell::ratio(installed.core_s, 3600, FILE_DIGITS),
        Cell::ratio(sums.core_s, 3600, FILE_DIGITS),
        Cell::ratio(finer(sums.core_s, 100), installed.core_s, 2),
    ];
    let work =
        |value: Option<i128>| value.map_or(Cell::Empty, |value| Cell::ratio(value, 3600 * WORK_SCALE, FILE_DIGITS));
    for (installed, delivered) in installed.work_s.into_iter().zip(sums.work_s) {
        row.extend([work(installed), work(delivered)]);
        let share = installed.zip(delivered);
        row.push(share.map_or(Cell::Empty, |(installed, delivered)| {
            Cell::ratio(finer(delivered, 100), installed, 2)
        }));
    }
    row
}
