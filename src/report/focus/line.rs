//! A line of an export, and what its cells are made of.

use super::billing::FocusBilling;
use super::unit_name::unit_name;
use crate::absent;
use crate::charge::amount::CHARGE_SCALE;
use crate::energy::EnergyClass;
use crate::reference::currency::is_currency;
use crate::reference::decimal;
use crate::report::charges::{AccountCharge, BalanceTariff};
use crate::report::energy::KWH_J;
use crate::report::energy_sums::{CoveredSum, EnergySums};
use crate::report::table::Cell;
use crate::report::usage_key::UsageKey;
use crate::time::month::date_of;
use crate::time::{Day, Month, Zone};

/// Digits after the point of costs.
pub(super) const DIGITS: u8 = 9;
/// Digits after the point of grams that are known by the milligram.
pub(super) const GRAM_DIGITS: u8 = 3;
/// One of what a policy counts in.
const ONE_E9: i128 = 10_i128.pow(CHARGE_SCALE);

/// What a line is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineSubject<'a> {
    /// A charge.
    Charge {
        /// Under what.
        tariff: &'a BalanceTariff,
        /// Version of the policy.
        version: &'a str,
    },
    /// Energy of usage that no single line charges.
    Energy,
}

/// What distinguishes lines, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineKey<'a> {
    pub(super) site: &'a str,
    pub(super) vo: Option<&'a str>,
    pub(super) account: Option<&'a str>,
    pub(super) cluster: Option<&'a str>,
    pub(super) subject: LineSubject<'a>,
    pub(super) month: Month,
    pub(super) day: Option<Day>,
    pub(super) correction: Option<&'a str>,
}

impl<'a> LineKey<'a> {
    /// The line of a charge.
    pub(super) fn of(row: &'a AccountCharge) -> Self {
        Self {
            subject: LineSubject::Charge {
                tariff: &row.tariff,
                version: &row.version,
            },
            ..Self::of_energy(&row.usage_key())
        }
    }

    /// The line of energy that no single line charges.
    pub(super) fn of_energy(usage: &UsageKey<'a>) -> Self {
        Self {
            site: usage.site,
            vo: usage.vo,
            account: usage.account,
            cluster: usage.cluster,
            subject: LineSubject::Energy,
            month: usage.month,
            day: usage.day,
            correction: usage.correction,
        }
    }
}

/// What the rows of a line come to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FocusSums {
    pub(super) job_n: i128,
    pub(super) unpriced_job_n: i128,
    pub(super) core_ms: i128,
    pub(super) gpu_s: i128,
    pub(super) charge_e9: i128,
    /// Energy that the line has; `None` where another line has it, or the lake has none.
    pub(super) energy: Option<EnergySums>,
}

/// A line of the export.
pub(super) struct FocusLine<'a> {
    pub(super) key: LineKey<'a>,
    pub(super) sums: FocusSums,
    /// National currency.
    pub(super) currency: String,
    pub(super) zone: &'a Zone,
    pub(super) billing: &'a FocusBilling,
}

/// The charge of a line.
struct LineCharge<'a> {
    tariff: &'a BalanceTariff,
    version: &'a str,
}

impl FocusLine<'_> {
    fn charge(&self) -> Option<LineCharge<'_>> {
        match self.key.subject {
            LineSubject::Charge { tariff, version } => Some(LineCharge { tariff, version }),
            LineSubject::Energy => None,
        }
    }

    /// A cell that only charges have.
    fn of_charge(&self, cell: impl FnOnce(LineCharge<'_>) -> Cell) -> Cell {
        self.charge().map_or(Cell::Empty, cell)
    }

    /// Text of the tariff, which only charges have.
    pub(super) fn tariff(&self, text: impl FnOnce(&BalanceTariff) -> &str) -> Cell {
        self.of_charge(|charge| Cell::word(Some(text(charge.tariff)).filter(|text| !text.is_empty())))
    }

    pub(super) fn version(&self) -> Cell {
        self.of_charge(|charge| Cell::text(charge.version))
    }

    fn is_money(&self) -> bool {
        let is_money = |charge: LineCharge<'_>| is_currency(&charge.tariff.unit.to_uppercase());
        self.charge().is_none_or(is_money)
    }

    /// What it is priced in: money, or what the policy counts in.
    fn unit(&self) -> String {
        match self.charge() {
            Some(charge) if !self.is_money() => unit_name(&charge.tariff.unit),
            _ => self.currency.clone(),
        }
    }

    pub(super) fn pricing_currency(&self) -> Cell {
        Cell::text(self.unit())
    }

    /// The unit of a charge.
    pub(super) fn pricing_unit(&self) -> Cell {
        self.of_charge(|_| Cell::text(self.unit()))
    }

    /// Money that is due.
    pub(super) fn cost(&self) -> Cell {
        decimal_e9(if self.is_money() { self.sums.charge_e9 } else { 0 })
    }

    /// The charge, in what it is priced in.
    pub(super) fn amount(&self) -> Cell {
        decimal_e9(self.sums.charge_e9)
    }

    pub(super) fn pricing_quantity(&self) -> Cell {
        self.of_charge(|_| self.amount())
    }

    /// Price of a unit in money.
    pub(super) fn price(&self) -> Cell {
        self.of_charge(|_| decimal_e9(if self.is_money() { ONE_E9 } else { 0 }))
    }

    /// Price of a unit in what it is priced in.
    pub(super) fn virtual_price(&self) -> Cell {
        self.of_charge(|_| decimal_e9(ONE_E9))
    }

    /// Core seconds, exact.
    pub(super) fn consumed_quantity(&self) -> Cell {
        self.of_charge(|_| decimal_e9(self.sums.core_ms * (ONE_E9 / 1000)))
    }

    /// Text that is the same in every line of a charge.
    pub(super) fn word_of_charge(&self, word: &str) -> Cell {
        self.of_charge(|_| Cell::text(word))
    }

    /// A count that only charges have.
    pub(super) fn count(&self, of: impl FnOnce(&FocusSums) -> i128) -> Cell {
        self.of_charge(|_| Cell::Int(of(&self.sums)))
    }

    pub(super) fn billing_account_id(&self) -> Cell {
        let LineKey { site, vo, .. } = self.key;
        Cell::text(vo.map_or_else(|| format!("site:{site}"), |vo| format!("vo:{vo}")))
    }

    pub(super) fn billing_account_name(&self) -> Cell {
        Cell::text(self.key.vo.unwrap_or(self.key.site))
    }

    pub(super) fn billing_account_type(&self) -> Cell {
        let has_vo = self.key.vo.is_some();
        Cell::text(if has_vo { "Virtual organisation" } else { "Site" })
    }

    pub(super) fn site(&self) -> Cell {
        Cell::text(self.key.site)
    }

    pub(super) fn issuer(&self) -> Cell {
        Cell::text(self.billing.issuer.as_deref().unwrap_or(self.key.site))
    }

    /// Text where the line is of a cluster.
    pub(super) fn of_cluster(&self, word: &str) -> Cell {
        self.key.cluster.map_or(Cell::Empty, |_| Cell::text(word))
    }

    /// Text where the line is of an account.
    pub(super) fn of_account(&self, word: &str) -> Cell {
        self.key.account.map_or(Cell::Empty, |_| Cell::text(word))
    }

    /// Text where the line is an entry of a correction: it corrects an earlier report.
    pub(super) fn of_correction(&self, word: &str) -> Cell {
        self.key.correction.map_or(Cell::Empty, |_| Cell::text(word))
    }

    pub(super) fn category(&self) -> Cell {
        Cell::text(if self.charge().is_some() { "Usage" } else { "Adjustment" })
    }

    pub(super) fn price_id(&self) -> Cell {
        self.of_charge(|LineCharge { tariff, version }| Cell::text(format!("{tariff} {version}")))
    }

    /// What a price hangs on, in keys of our own.
    pub(super) fn price_details(&self) -> Cell {
        self.of_charge(|LineCharge { tariff, version }| {
            let details = serde_json::json!({
                "x_Policy": tariff.policy, "x_PolicyOptions": tariff.options, "x_PolicyVersion": version, "x_Pool": tariff.pool,
            });
            Cell::text(details.to_string())
        })
    }

    fn begins(&self, day: Day) -> Cell {
        Cell::Instant(self.zone.begins_ms(day))
    }

    pub(super) fn billing_period_start(&self) -> Cell {
        self.begins(self.key.month.first_day())
    }

    pub(super) fn billing_period_end(&self) -> Cell {
        self.begins(self.key.month.next().first_day())
    }

    pub(super) fn charge_period_start(&self) -> Cell {
        self.begins(self.key.day.unwrap_or_else(|| self.key.month.first_day()))
    }

    pub(super) fn charge_period_end(&self) -> Cell {
        let until = self.key.day.map(|day| day + 1);
        self.begins(until.unwrap_or_else(|| self.key.month.next().first_day()))
    }

    pub(super) fn description(&self) -> Cell {
        let date = self.key.day.and_then(date_of);
        let period = date.map_or_else(|| self.key.month.to_string(), |date| date.to_string());
        let cluster = absent::phrase(self.key.cluster.map(|cluster| format!(" on {cluster}")));
        let correction = absent::phrase(self.key.correction.map(|id| format!("Correction {id}: ")));
        Cell::text(match self.charge() {
            Some(LineCharge { tariff, version }) => format!(
                "{correction}Batch computing{cluster} in {period} under {tariff} {version}: {} {}",
                decimal::text(self.sums.charge_e9, CHARGE_SCALE),
                self.unit(),
            ),
            None => format!("{correction}Energy of batch computing{cluster} in {period} that no single line charges"),
        })
    }

    /// A whole amount of the energy.
    pub(super) fn energy(&self, of: impl FnOnce(&EnergySums) -> CoveredSum) -> Cell {
        let sum = self.sums.energy.as_ref().and_then(|energy| of(energy).sum);
        sum.map_or(Cell::Empty, Cell::Int)
    }

    /// Kilowatt hours of an amount in joules.
    pub(super) fn kwh(&self, of: impl FnOnce(&EnergySums) -> CoveredSum) -> Cell {
        let sum = self.sums.energy.as_ref().and_then(|energy| of(energy).sum);
        sum.map_or(Cell::Empty, |sum| Cell::ratio(sum, KWH_J, DIGITS))
    }

    /// Grams of an amount in milligrams.
    pub(super) fn grams(&self, of: impl FnOnce(&EnergySums) -> CoveredSum) -> Cell {
        let sum = self.sums.energy.as_ref().and_then(|energy| of(energy).sum);
        sum.map_or(Cell::Empty, |value| Cell::Decimal {
            value,
            scale: GRAM_DIGITS,
        })
    }

    /// The core time that an amount is known of: zero where it is unknown.
    pub(super) fn known_core_s(&self, of: impl FnOnce(&EnergySums) -> CoveredSum) -> Cell {
        self.sums
            .energy
            .as_ref()
            .map_or(Cell::Empty, |energy| Cell::Int(of(energy).core_s))
    }

    /// The core time of the usage whose energy the line has.
    pub(super) fn usage_core_s(&self) -> Cell {
        self.sums
            .energy
            .map_or(Cell::Empty, |energy| Cell::Int(energy.alloc_core_s))
    }

    pub(super) fn class_j(&self, class: EnergyClass) -> Cell {
        self.energy(|energy| energy.of_class(class))
    }

    pub(super) fn class_core_s(&self, class: EnergyClass) -> Cell {
        self.known_core_s(|energy| energy.of_class(class))
    }
}

fn decimal_e9(value: i128) -> Cell {
    Cell::Decimal { value, scale: DIGITS }
}
