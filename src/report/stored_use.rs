//! The use of awards of storage: what a table of stored bytes states of their accounts.

use std::collections::BTreeMap;

use crate::award::Award;
use crate::award::unit::{AwardMeasure, bytes_of};
use crate::charge::span::times_over;
use crate::error::{Error, Kind, Result};
use crate::reference::stored::StoredTable;
use crate::time::Day;

/// Billionths of one.
const ONE_E9: i128 = 1_000_000_000;

/// What was stored of a maximum, in billionths of its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredUse {
    /// On the last day that is stated.
    pub(super) latest_e9: i128,
    /// On the day with the most.
    pub(super) peak_e9: i128,
}

/// Of an award, within its days and up to a day; `None` where the table states no such day: unknown, and not nothing.
///
/// # Errors
/// [`Kind::Usage`] when the unit of the award is not one of bytes; [`Kind::Data`] when an amount does not fit.
pub(super) fn stored_use(
    table: &StoredTable,
    award: &Award,
    measure: &AwardMeasure,
    on: Day,
) -> Result<Option<StoredUse>> {
    let is_at = |site: &Option<String>| site.is_none() || award.site.is_none() || *site == award.site;
    let is_within = |day: Day| day <= on && award.is_good_on(day);
    let mut by_day: BTreeMap<Day, i128> = BTreeMap::new();
    for row in &table.rows {
        if row.account == award.account && is_at(&row.site) && is_within(row.day) {
            *by_day.entry(row.day).or_default() += row.stored_byte;
        }
    }
    let (Some(latest), Some(peak)) = (by_day.values().next_back(), by_day.values().max()) else {
        return Ok(None);
    };
    let unit_byte = bytes_of(&measure.unit).ok_or_else(|| {
        let message = format!(
            "stored bytes are not counted in {}: it is not a unit such as TB or TiB",
            measure.unit
        );
        Error::new(Kind::Usage, message).at("award", &award.id)
    })?;
    let misfit = || Error::new(Kind::Data, "what is stored is too large to be counted").at("award", &award.id);
    let in_units = |bytes: i128| times_over(bytes, ONE_E9, unit_byte).ok_or_else(misfit);
    Ok(Some(StoredUse {
        latest_e9: in_units(*latest)?,
        peak_e9: in_units(*peak)?,
    }))
}
