//! Use of an award as a period rule sees it: by day, and in units once days were added up.

use std::collections::BTreeMap;
use std::ops::Range;

use super::unit::AwardMeasure;
use crate::time::Day;

/// Use by day, as it is counted.
#[derive(Clone, Copy, Debug)]
pub struct RuleUse<'a> {
    /// What was used on each day.
    pub by_day: &'a BTreeMap<Day, i128>,
    /// How that becomes units; `None` where it is in billionths of the unit.
    pub measure: Option<&'a AwardMeasure>,
}

impl<'a> RuleUse<'a> {
    /// Use that is stated in billionths of the unit.
    #[must_use]
    pub fn in_units(by_day: &'a BTreeMap<Day, i128>) -> Self {
        Self { by_day, measure: None }
    }

    /// What was used on some days, in billionths of the unit: what was used before they end, less what was before they
    /// begin. Days are not rounded one by one, and periods that adjoin add up to the use of both. `None` when it does not fit.
    pub(super) fn of_days(&self, days: Range<Day>) -> Option<i128> {
        let to_end = self.before(days.end)?;
        to_end.checked_sub(self.before(days.start)?)
    }

    fn before(&self, day: Day) -> Option<i128> {
        let counted: i128 = self.by_day.range(..day).map(|(_, used)| used).sum();
        match self.measure {
            Some(measure) => measure.in_units_e9(counted),
            None => Some(counted),
        }
    }
}
