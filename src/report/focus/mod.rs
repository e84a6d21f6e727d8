//! Charges in the columns of FOCUS, the `FinOps` Open Cost and Usage Specification, version 1.3.
//!
//! FOCUS wants costs in a national currency and knows virtual ones. A policy counted in a currency is billed in it; one
//! counted in anything else (service units, core hours) is priced in that as in a virtual currency, and no money is
//! due: its costs are zero. Only the policy itself gives a price of a unit, so a unit costs one of what
//! the policy counts in. The provider is the site, the billing account a VO (the site itself where the VO is unknown),
//! the sub account the account. `ConsumedQuantity` is exact to the millisecond; `x_GpuSeconds` are whole seconds, as the
//! lake keeps them.
//!
//! Energy and carbon are those of `usage`. Usage and charges share their keys but for the policy, so that the line that
//! charges all usage under a key has the energy of that key; where no line does, or several policies charge parts of it, it is in a
//! line of its own without a cost ([`bearing_lines`]). Each joule of usage is in one line of an export, whatever the policies.

mod bearing_lines;
mod billing;
mod columns;
mod line;
mod unit_name;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use self::bearing_lines::bearing_lines;
use self::columns::COLUMNS;
use self::line::{FocusLine, FocusSums, LineKey, LineSubject};
use super::charges::AccountCharge;
use super::energy_sums::EnergySums;
use super::shown::hours;
use super::table::Table;
use super::usage_energy::UsageEnergy;
use crate::error::{Error, Kind, Result};
use crate::reference::currency::is_currency;
use crate::time::Zone;

pub use self::billing::FocusBilling;
pub use self::unit_name::unit_name;

/// The version of the specification.
pub const FOCUS_VERSION: &str = "1.3";

/// What is not in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unpriced {
    /// Sums of which no charge is known: of jobs, of parts of jobs that end in another period or under another version of the policy,
    /// and of corrections.
    pub sum_n: usize,
    /// Jobs of them that ended in the period.
    pub job_n: i64,
    /// Core milliseconds of them.
    pub core_ms: i128,
    /// GPU seconds of them.
    pub gpu_s: i128,
}

impl Unpriced {
    fn of(charged: &[AccountCharge]) -> Self {
        let mut unpriced = Self::default();
        for row in charged.iter().filter(|row| row.charge_e9.is_none()) {
            unpriced.sum_n += 1;
            unpriced.job_n += row.unpriced_job_n;
            unpriced.core_ms += row.alloc_core_ms;
            unpriced.gpu_s += i128::from(row.alloc_gpu_s);
        }
        unpriced
    }
}

impl Display for Unpriced {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the charge of {} core hours and {} GPU hours is unknown, in {} sums with {} jobs that ended",
            hours(self.core_ms),
            hours(self.gpu_s * 1000),
            self.sum_n,
            self.job_n
        )
    }
}

/// The table, and what is not in it: charges, with the energy of the usage of the same selection.
///
/// # Errors
/// [`Kind::Usage`] when a currency is missing or none; [`Kind::Data`] when charges are unknown and not to be left out, or a sum is
/// too large.
pub fn report(
    charged: &[AccountCharge],
    usage: &[UsageEnergy],
    zone: &Zone,
    billing: &FocusBilling,
) -> Result<(Table, Unpriced)> {
    let unpriced = Unpriced::of(charged);
    if unpriced.sum_n > 0 && !billing.is_leaving_out {
        let message =
            format!("{unpriced}, and FOCUS has no unknown costs; --leave-out reports the others and counts these");
        return Err(Error::new(Kind::Data, message));
    }
    if let Some(currency) = billing.currency.as_deref().filter(|code| !is_currency(code)) {
        let message = format!("{currency:?} is not a currency of ISO 4217, such as EUR");
        return Err(Error::new(Kind::Usage, message));
    }
    let mut groups: BTreeMap<LineKey<'_>, FocusSums> = BTreeMap::new();
    for row in charged {
        let Some(charge_e9) = row.charge_e9 else { continue };
        let sums = groups.entry(LineKey::of(row)).or_default();
        sums.job_n += i128::from(row.job_n);
        sums.core_ms += row.alloc_core_ms;
        sums.gpu_s += i128::from(row.alloc_gpu_s);
        // Within the bound of all charges that were read.
        sums.charge_e9 += charge_e9;
    }
    for row in charged.iter().filter(|row| row.charge_e9.is_none()) {
        if let Some(sums) = groups.get_mut(&LineKey::of(row)) {
            sums.unpriced_job_n += i128::from(row.unpriced_job_n);
        }
    }
    add_energy(&mut groups, charged, usage)?;
    let mut currencies = BTreeSet::new();
    for key in groups.keys() {
        if let LineSubject::Charge { tariff, .. } = key.subject {
            currencies.insert(billing.currency_of(tariff)?);
        }
    }
    let uncharged_currency = billing.currency.clone().or_else(|| match currencies.len() {
        1 => currencies.pop_first(),
        _ => None,
    });
    let columns: Vec<_> = COLUMNS.iter().map(|column| (column.name, "", column.kind)).collect();
    let mut table = Table::new(format!("FOCUS {FOCUS_VERSION}"), &columns);
    for (key, sums) in &groups {
        let currency = match key.subject {
            LineSubject::Charge { tariff, .. } => Some(billing.currency_of(tariff)?),
            LineSubject::Energy => uncharged_currency.clone(),
        };
        let currency = currency.ok_or_else(|| {
            let message =
                "no single line charges some usage, whose energy needs a line: name the billing currency by --currency";
            Error::new(Kind::Usage, message)
        })?;
        let line = FocusLine {
            key: *key,
            sums: *sums,
            currency,
            zone,
            billing,
        };
        table.push(COLUMNS.iter().map(|column| (column.cell)(&line)).collect());
    }
    Ok((table, unpriced))
}

/// Adds the energy of usage to the lines that bear it.
fn add_energy<'a>(
    groups: &mut BTreeMap<LineKey<'a>, FocusSums>,
    charged: &'a [AccountCharge],
    usage: &'a [UsageEnergy],
) -> Result<()> {
    let bearing = bearing_lines(charged, usage)?;
    for row in usage {
        let key = row.key();
        let line = bearing.get(&key).copied().unwrap_or_else(|| LineKey::of_energy(&key));
        // Jobs that never ran have nothing to be reported.
        if line.subject == LineSubject::Energy && row.alloc_core_ms == 0 && row.energy == EnergySums::default() {
            continue;
        }
        let sums = groups.entry(line).or_default();
        sums.energy.get_or_insert_default().plus(&row.energy)?;
    }
    Ok(())
}
