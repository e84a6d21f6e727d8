//! Why the same jobs are scaled by other values.

use super::difference_cause::Cause;
use super::job::{JobIdentityJob, JobIdentityNames};
use super::level::DifferenceLevel;
use super::usage_source::{InUse, UsageSource};

/// The cause of a difference of values, and the values in words.
#[must_use]
pub fn of_job(
    a: &JobIdentityJob,
    b: &JobIdentityJob,
    sides: [&UsageSource; 2],
    names: &JobIdentityNames,
) -> (Cause, String) {
    let [of_a, of_b] = sides;
    let (was, is) = match (a.level, b.level) {
        (Some(was), Some(is)) => (was, is),
        (Some(was), None) => {
            return (
                Cause::MissingFactor,
                format!("B has none where A has {}", was.in_words()),
            );
        }
        (None, Some(is)) => {
            return (
                Cause::MissingFactor,
                format!("A has none where B has {}", is.in_words()),
            );
        }
        (None, None) => return (Cause::OtherFactor, "neither has a factor".to_owned()),
    };
    let words = format!("A has {}, B {}", was.in_words(), is.in_words());
    if is_by_250(was, is) {
        return (Cause::By250, words);
    }
    if was.kind() != is.kind() {
        return (Cause::OtherBenchmark, words);
    }
    let in_use =
        |side: &UsageSource, job: &JobIdentityJob| in_use(side, names.text(job.place.site), names.text(job.host), is);
    let (own, other) = (in_use(of_a, a), in_use(of_b, b));
    // A has it at another time and not now, and B had it then as well: B did not follow A.
    let is_now = own.iter().any(|span| span.has(a.end_ms));
    let then = own.iter().find(|span| {
        let meets = |held: &InUse| held.from_ms <= span.until_ms && span.from_ms <= held.until_ms;
        other.is_empty() || other.iter().any(meets)
    });
    match then.filter(|_| !is_now) {
        Some(then) => {
            let [from, until] = [then.from_ms, then.until_ms].map(day);
            (
                Cause::StaleFactor,
                format!("{words}, which A has from {from} to {until}"),
            )
        }
        None => (Cause::OtherFactor, words),
    }
}

/// Whether two values are the same but for the 250 between SI00 and HEPSPEC06.
fn is_by_250(a: DifferenceLevel, b: DifferenceLevel) -> bool {
    let near = |more: i128, less: i128| less > 0 && (more - less * 250).abs() * 1000 <= more;
    let (a, b) = (a.work_units(), b.work_units());
    near(a, b) || near(b, a)
}

/// When a value was in use.
fn in_use(account: &UsageSource, site: &str, host: &str, level: DifferenceLevel) -> Vec<InUse> {
    let spans = account
        .levels
        .iter()
        .filter(|(of, _)| of.site == site && of.submit_host == host && of.level == level);
    spans.map(|(_, span)| *span).collect()
}

fn day(at_ms: i64) -> String {
    let day = i32::try_from(at_ms.div_euclid(86_400_000)).ok();
    let date = day.and_then(crate::time::month::date_of);
    date.map_or_else(String::new, |date| date.to_string())
}
