//! Something of each site and month of usage.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::record::SiteMonth;
use crate::time::{Day, Month};

/// Values by site and month of usage, which are collected in two passes: the first adds months, the second leaves out what is
/// of others.
pub(super) struct UsageMonths<T> {
    pub(super) months: BTreeMap<SiteMonth, T>,
    is_open: bool,
}

impl<T: Default> UsageMonths<T> {
    /// None yet; months are added.
    pub(super) fn open() -> Self {
        Self {
            months: BTreeMap::new(),
            is_open: true,
        }
    }

    /// Keeps the months that are wanted, and adds none from now on.
    pub(super) fn close(&mut self, is_wanted: impl Fn(&T) -> bool) {
        self.months.retain(|_, value| is_wanted(value));
        self.is_open = false;
    }

    /// The value of the month that contains a day; `None` where it is not one of those.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a day beyond those that have a month.
    pub(super) fn of(&mut self, site: &str, day: Day) -> Result<Option<&mut T>> {
        let month = Month::of_day(day).ok_or_else(|| Error::internal("usage of a month that has no name"))?;
        let place = SiteMonth::new(site, month);
        if self.is_open {
            return Ok(Some(self.months.entry(place).or_default()));
        }
        Ok(self.months.get_mut(&place))
    }

    /// The sites that have months.
    pub(super) fn sites(&self) -> BTreeSet<&str> {
        self.months.keys().map(|place| place.site.as_str()).collect()
    }
}
