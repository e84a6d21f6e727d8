//! The joules of a reading by day.

use crate::error::{Error, Kind, Result};
use crate::reference::energy::meter_readings::MeterReading;
use crate::summarise::apportion::apportion;
use crate::time::calendar::Period;
use crate::time::{Calendar, MsSpan};

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
    let span = MsSpan {
        from_ms: reading.from_ms,
        until_ms: reading.until_ms,
    };
    let parts = calendar.parts(span).ok_or_else(outside)?;
    let weights: Vec<i64> = parts.iter().map(|part| part.length_ms).collect();
    let mut shares = Vec::new();
    apportion(reading.energy_j, &weights, &mut shares);
    let days = parts.into_iter().zip(shares).map(|(part, energy_j)| MeterDay {
        period: part.period,
        energy_j,
        metered_ms: part.length_ms,
    });
    Ok(days.collect())
}
