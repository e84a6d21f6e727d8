//! Where the use of an award will end by each method, and how far off the method was in the past.

use crate::award::AwardLimit;
use crate::award::projection::{BackTest, ProjectionMethod, UseOfDays};
use crate::charge::span::times_over;
use crate::error::{Error, Kind, Result};
use crate::numbers::count_i128;
use crate::report::award_use::LakeAwards;
use crate::report::awards::AwardState;
use crate::time::Day;

/// The end of use by one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The method.
    pub method: ProjectionMethod,
    /// Use at the end of the award, in billionths of its unit.
    pub projected_e9: i128,
    /// The same by its past errors; `None` without a past month to test it on.
    pub band: Option<ForecastBand>,
}

/// What use may come to if a method is as wrong as it was in the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForecastBand {
    /// Less by its largest overestimate, in per cent of what was used then; never less than was used so far.
    pub low_e9: i128,
    /// More by its largest underestimate.
    pub high_e9: i128,
    /// Past months it was tested on.
    pub month_n: i128,
    /// Its largest overestimate, over `actual`; 0 where it never projected too much.
    pub over: i128,
    /// Its largest underestimate, over `actual`; 0 where it never projected too little.
    pub under: i128,
    /// What was used, as the award counts it.
    pub actual: i128,
}

/// The forecasts of an award as of the end of a day; empty when it is over, and for stored bytes.
pub(super) fn forecasts(
    lake: &LakeAwards,
    state: &AwardState<'_>,
    used: &UseOfDays<'_>,
    on: Day,
) -> Result<Vec<Forecast>> {
    let misfit = || Error::new(Kind::Data, "a projection is too large to be counted").at("award", &state.award.id);
    let mut found = Vec::new();
    let Some(used_e9) = state.used_e9.filter(|_| state.award.limit == AwardLimit::Average) else {
        return Ok(found);
    };
    let tests = used.back_test(on, lake.plan.window_days);
    for (_, method) in ProjectionMethod::WORDS {
        let projected = used.projected(*method, on, lake.plan.window_days, state.to_limits);
        let Some(projected) = projected else { continue };
        let in_units = |counted: i128| state.measure.in_units_e9(counted).ok_or_else(misfit);
        let own: Vec<&BackTest> = tests.iter().filter(|test| test.method == *method).collect();
        let actual = own.first().map(|test| test.actual).filter(|actual| *actual > 0);
        let band = match actual {
            None => None,
            Some(actual) => {
                let most = |errors: &mut dyn Iterator<Item = i128>| errors.fold(0, i128::max);
                let over = most(&mut own.iter().map(|test| test.error()));
                let under = most(&mut own.iter().map(|test| -test.error()));
                let less = times_over(projected, over, actual).ok_or_else(misfit)?;
                let more = times_over(projected, under, actual).ok_or_else(misfit)?;
                Some(ForecastBand {
                    low_e9: in_units(projected - less)?.max(used_e9),
                    high_e9: in_units(projected + more)?,
                    month_n: count_i128(own.len()),
                    over,
                    under,
                    actual,
                })
            }
        };
        found.push(Forecast {
            method: *method,
            projected_e9: in_units(projected)?,
            band,
        });
    }
    Ok(found)
}
