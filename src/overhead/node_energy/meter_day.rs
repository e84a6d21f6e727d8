//! The joules of a reading by day.

use crate::error::{Error, Kind, Result};
use crate::reference::energy::meter_readings::MeterReading;
use crate::summarise::apportion::apportion;
use crate::time::Calendar;
use crate::time::calendar::Period;

/// What a meter counted on a day.
#[derive(Clone, Copy, Debug)]
pub struct MeterDay {
    /// The day.
    pub period: Period,
    /// Joules.
    pub energy_j: i64,
    /// How long it counted, milliseconds.
    pub metered_ms: i64,
}

/// The joules of a reading by day, in a calendar of days: spread evenly over its time, whole numbers that add up to the reading.
///
/// # Errors
/// [`Kind::Data`] when it is of a year without days.
pub fn by_day(reading: &MeterReading, calendar: &mut Calendar) -> Result<Vec<MeterDay>> {
    let outside = || {
        let message = format!("line {} of the meters is of a year without days", reading.line);
        Error::new(Kind::Data, message)
    };
    let mut days: Vec<MeterDay> = Vec::new();
    let mut at_ms = reading.from_ms;
    while at_ms < reading.until_ms {
        let period = calendar.period(at_ms).ok_or_else(outside)?;
        days.push(MeterDay {
            period,
            energy_j: 0,
            metered_ms: period.until_ms.min(reading.until_ms) - at_ms,
        });
        at_ms = period.until_ms;
    }
    let weights: Vec<i64> = days.iter().map(|day| day.metered_ms).collect();
    let mut shares = Vec::new();
    apportion(reading.energy_j, &weights, &mut shares);
    for (day, share) in days.iter_mut().zip(shares) {
        day.energy_j = share;
    }
    Ok(days)
}
