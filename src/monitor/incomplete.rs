//! Days that look incomplete, as reports of runs and of lakes have them.

use crate::report::completeness::Incomplete;
use crate::run::incomplete_days::IncompleteDays;
use crate::time::month::date_of;

/// A finding as a report has it.
#[must_use]
pub fn incomplete_days(found: Incomplete) -> IncompleteDays {
    let day = |day| date_of(day).map_or_else(String::new, |date| date.to_string());
    IncompleteDays {
        site: found.site,
        ce: found.ce,
        finding: found.finding.as_str(),
        from: day(found.from),
        to: day(found.to),
        usual: found.usual,
        observed: found.observed,
    }
}
