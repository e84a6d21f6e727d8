//! Times that formulas round to whole numbers although they are rounded already.

use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section};
use crate::expr::{Formula, SCALE};

/// Inputs that are `seconds` divided by a number, and that number.
const DIVIDED: [(&str, u32); 2] = [("minutes", 60), ("hours", 3600)];

/// Warns of `ceil` and `floor` of a product with a rounded time: 3 cores for 40 seconds are a little more than 2 core minutes by it.
pub(super) fn warn(section: &Section<'_>, sql: &At<String>, formula: &Formula, problems: &mut Problems) {
    for (name, divisor) in DIVIDED {
        if formula.rounded_factors().iter().any(|factor| factor == name) {
            let message = format!(
                "\"{}\" rounds a product with {name}, which has {SCALE} decimals, to a whole number and may be one off: multiply by \
                 seconds and divide by {divisor} last",
                sql.value
            );
            section.warn(sql.line, message, problems);
        }
    }
}
