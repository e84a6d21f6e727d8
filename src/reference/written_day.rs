//! Days as tables people write have them.

use crate::time::Day;
use crate::time::month::day_of;

/// The cells `valid_from` (included) and `valid_to` (not included); an empty one is open.
///
/// # Errors
/// A sentence for people when one is no day, or the second is not after the first.
pub(super) fn written_span(from: &str, until: &str) -> Result<(Option<Day>, Option<Day>), String> {
    let day = |name: &str, text: &str| match text {
        "" => Ok(None),
        text => match text.parse::<crate::time::Date>() {
            Ok(date) if text.len() == 10 && date.year() > 0 => Ok(Some(day_of(date))),
            _ => Err(format!("{name}: \"{text}\" is not a day such as 2026-04-01")),
        },
    };
    let (from, until) = (day("valid_from", from)?, day("valid_to", until)?);
    if from.zip(until).is_some_and(|(from, until)| until <= from) {
        return Err("valid_to is not after valid_from".to_owned());
    }
    Ok((from, until))
}
