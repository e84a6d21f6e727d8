//! Between integers and doubles.

use crate::error::{Error, Kind, Result};

/// The largest double that is still an `i128`, exclusive: 2^127.
const END: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

/// The double nearest to an integer.
#[expect(clippy::cast_precision_loss, reason = "factors are doubles, as in Slurm")]
pub(crate) fn of_integer(number: i128) -> f64 {
    number as f64
}

/// The integer nearest to a double, a tie to the even one.
///
/// # Errors
/// [`Kind::Data`] when it does not fit.
#[expect(clippy::cast_possible_truncation, reason = "it is a whole number between the limits")]
pub(crate) fn to_integer(number: f64) -> Result<i128> {
    if number.is_finite() && number.abs() < END {
        Ok(number.round_ties_even() as i128)
    } else {
        Err(too_large())
    }
}

/// What does not fit is an error, never a wrong number.
pub(crate) fn too_large() -> Error {
    Error::new(Kind::Data, "usage for fair share is too large to add up")
}

/// A fraction as an integer of 10^-9, the nearest one, a tie to the even one.
///
/// # Errors
/// [`Kind::Data`] when it does not fit.
pub(crate) fn e9(fraction: f64) -> Result<i128> {
    to_integer(fraction * 1e9)
}
