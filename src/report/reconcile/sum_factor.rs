//! Why work of the same times differs, where only sums are known.

use std::collections::BTreeMap;

use super::amount::{Amount, WORK_UNITS_PER_S};
use super::difference_cause::Cause;
use super::usage_source::{CellKey, UsageSource};
use crate::time::Month;

/// Work of which a rounded second is more than a thousandth proves nothing.
const SMALL_WORK: i128 = 1000 * WORK_UNITS_PER_S;

/// Two cells whose times agree.
pub struct FactorRule<'s> {
    /// The cell.
    pub key: &'s CellKey,
    /// The first account.
    pub a: &'s UsageSource,
    /// The second account.
    pub b: &'s UsageSource,
}

/// `a / b` in ten-thousandths.
fn ratio_e4(a: i128, b: i128) -> Option<i128> {
    crate::report::table::divide(a.checked_mul(10_000)?, b)
}

/// Work of a second of wall time, in ten-thousandths.
fn mean_e4(amount: Amount) -> Option<i128> {
    ratio_e4(amount.wall_work, amount.wall_s.checked_mul(WORK_UNITS_PER_S)?)
}

fn shown_e4(e4: i128) -> String {
    crate::report::table::Cell::Decimal { value: e4, scale: 4 }.to_string()
}

fn near(x: i128, y: i128) -> bool {
    (x - y).abs() * 1000 <= y.abs().max(1)
}

impl FactorRule<'_> {
    /// The cause, and the mean factors; `None` when it is not a factor.
    #[must_use]
    pub fn named(&self, a: Amount, b: Amount) -> Option<(Cause, String)> {
        for (has, lacks, which) in [(a, b, "B"), (b, a, "A")] {
            if has.wall_work >= SMALL_WORK && !lacks.has_work() {
                return Some((Cause::MissingFactor, format!("{which} has no work of the same times")));
            }
        }
        if a.wall_s == 0 || a.wall_work.min(b.wall_work) < SMALL_WORK {
            return None;
        }
        let wall = ratio_e4(a.wall_work, b.wall_work)?;
        let (factor_a, factor_b) = (mean_e4(a)?, mean_e4(b)?);
        let words = format!("mean factor of A {}, of B {}", shown_e4(factor_a), shown_e4(factor_b));
        if near(wall, 2_500_000) || near(ratio_e4(b.wall_work, a.wall_work)?, 2_500_000) {
            return Some((Cause::By250, words));
        }
        // Both kinds of work must differ by the same factor, or it is not a factor. A few seconds of CPU round to anything.
        let few = 10 * SMALL_WORK;
        let is_alike = a.cpu_work < few
            || b.cpu_work < few
            || ratio_e4(a.cpu_work, b.cpu_work).is_some_and(|cpu| (cpu - wall).abs() * 100 <= wall.abs());
        if !is_alike {
            return None;
        }
        Some(match self.month_of(factor_b) {
            Some(at) => (Cause::StaleFactor, format!("{words}: B has the one of {at}")),
            None => (Cause::OtherFactor, words),
        })
    }

    /// The other month in which both sides have the factor that B has now, and A has no longer.
    fn month_of(&self, factor_e4: i128) -> Option<Month> {
        let CellKey { site, month, .. } = self.key;
        let (means_a, means_b) = (means(self.a, site), means(self.b, site));
        let is_it = |mean: &i128| (mean - factor_e4).abs() * 2000 <= mean.abs();
        let levels = |side: &UsageSource, at: Month| {
            let own = side.levels.keys().filter(|of| of.site == *site);
            let mut values = own.filter(|of| of.month == at).map(|of| of.level.work_units() / 25);
            values.any(|value| near(factor_e4, value))
        };
        let has = |side: &UsageSource, means: &BTreeMap<Month, i128>, at: Month| {
            means.get(&at).is_some_and(is_it) || levels(side, at)
        };
        if has(self.a, &means_a, *month) {
            return None;
        }
        let mut months = means_a.keys().filter(|at| *at != month);
        let is_then = |at: &&Month| {
            let is_known = means_b.contains_key(*at);
            has(self.a, &means_a, **at) && (!is_known || has(self.b, &means_b, **at))
        };
        months.find(is_then).copied()
    }
}

/// Mean factors of a site by month, in ten-thousandths.
fn means(account: &UsageSource, site: &str) -> BTreeMap<Month, i128> {
    let mut sums: BTreeMap<Month, Amount> = BTreeMap::new();
    for (of, cell) in &account.cells {
        if of.site == site {
            let sum = sums.entry(of.month).or_default();
            *sum = sum.plus(cell.amount());
        }
    }
    sums.into_iter()
        .filter_map(|(at, sum)| Some((at, mean_e4(sum)?)))
        .collect()
}
