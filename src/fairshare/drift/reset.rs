//! Usage since one instant: a reset that the rule of usage does not have.

use super::facts::{AmountPair, DriftFacts, billing_s};
use crate::error::Result;
use crate::fairshare::{CalculationTimes, UsageReset};
use crate::time::instant::instant_text_s;

/// The instants at one of which usage may have been set to zero, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ResetRange {
    from_s: i64,
    to_s: i64,
}

impl ResetRange {
    /// The instants of both; `None` where they have none in common.
    fn common(self, other: Self) -> Option<Self> {
        let both = Self {
            from_s: self.from_s.max(other.from_s),
            to_s: self.to_s.min(other.to_s),
        };
        (both.from_s <= both.to_s).then_some(both)
    }

    fn text(self) -> String {
        let text = |at_s: i64| instant_text_s(at_s).unwrap_or_else(|| at_s.to_string());
        if self.from_s == self.to_s {
            return format!("at {}", text(self.from_s));
        }
        format!("between {} and {}", text(self.from_s), text(self.to_s))
    }
}

/// An association that was reset, with the words about it.
pub(super) struct ResetFinding {
    pub(super) pair: AmountPair,
    pub(super) evidence: String,
}

/// Those of `less`, in which the scheduler has less than what is computed, that hold what was used since a reset.
pub(super) fn resets(facts: &DriftFacts<'_>, less: &[AmountPair]) -> Result<Vec<ResetFinding>> {
    let mut ranges = Vec::new();
    for pair in less {
        if let Some(range) = range_of(facts, *pair)? {
            ranges.push((*pair, range));
        }
    }
    // One instant for several associations: each alone would fit some instant.
    let joint = ranges
        .iter()
        .map(|(_, range)| Some(*range))
        .reduce(|one, other| one.zip(other).and_then(|(one, other)| one.common(other)))
        .flatten();
    if let Some(joint) = joint.filter(|_| ranges.len() >= 2 && ranges.len() == less.len()) {
        let evidence = format!(
            "the counters of {} associations are what was used since a reset {}",
            less.len(),
            joint.text()
        );
        let found = less.iter().map(|pair| ResetFinding {
            pair: *pair,
            evidence: evidence.clone(),
        });
        return Ok(found.collect());
    }
    let mut found = Vec::new();
    for (pair, range) in ranges {
        if let Some(why) = alone(facts, pair, range)? {
            found.push(ResetFinding {
                pair,
                evidence: format!("{why}; the counter is what was used since a reset {}", range.text()),
            });
        }
    }
    Ok(found)
}

/// Why one association alone shows a reset.
fn alone(facts: &DriftFacts<'_>, pair: AmountPair, range: ResetRange) -> Result<Option<String>> {
    if let Some(earlier) = facts.earlier_pair(pair.id)?
        && earlier.agrees()
        && earlier.has_usage()
    {
        return Ok(Some("the listing before agrees".to_owned()));
    }
    if pair.stated <= pair.tolerance {
        return Ok(Some("the counter is zero".to_owned()));
    }
    let zone = &facts.rule.zone;
    let of_period = UsageReset::WORDS.iter().find(|(_, reset)| {
        let last_s = reset.last_s(zone, facts.at_s);
        last_s.is_some_and(|last_s| range.from_s - period_s(facts) <= last_s && last_s <= range.to_s)
    });
    Ok(of_period.map(|(word, _)| format!("a reset of period {word} falls on it")))
}

fn period_s(facts: &DriftFacts<'_>) -> i64 {
    let times = facts.rule.calculation_times();
    times.map_or(0, CalculationTimes::period_s)
}

/// The instants since which the jobs of an association come to what the scheduler states. A listing before that agrees
/// rules out those up to it.
fn range_of(facts: &DriftFacts<'_>, pair: AmountPair) -> Result<Option<ResetRange>> {
    let starts = facts.segments(pair.id).iter().map(|segment| segment.span.start_s);
    let Some(first_s) = starts.min() else {
        return Ok(None);
    };
    let begins_s = match facts.earlier.zip(facts.earlier_pair(pair.id)?) {
        Some((earlier, of_earlier)) if of_earlier.agrees() && of_earlier.has_usage() => earlier.at_s.max(first_s),
        _ => first_s,
    };
    if begins_s >= facts.at_s {
        return Ok(None);
    }
    let enough = |since_s: i64| Ok(usage_since(facts, pair, since_s)? <= pair.stated + pair.tolerance);
    let too_little = |since_s: i64| Ok(usage_since(facts, pair, since_s)? < pair.stated - pair.tolerance);
    let from_s = first_that(begins_s, facts.at_s, enough)?;
    // The last instant that does not leave too little.
    let to_s = if too_little(facts.at_s)? {
        first_that(begins_s, facts.at_s, too_little)? - 1
    } else {
        facts.at_s
    };
    let is_met = from_s <= to_s && enough(from_s)?;
    Ok(is_met.then_some(ResetRange { from_s, to_s }))
}

/// What was used after an instant, billing seconds. It does not grow with the instant.
fn usage_since(facts: &DriftFacts<'_>, pair: AmountPair, since_s: i64) -> Result<f64> {
    let mut sum = 0_i128;
    for segment in facts.segments(pair.id) {
        sum += facts.rule.added_e6(segment, since_s, facts.at_s)?;
    }
    Ok(billing_s(sum))
}

/// The first instant from which on a condition holds, at the latest `last_s`.
fn first_that(first_s: i64, last_s: i64, holds: impl Fn(i64) -> Result<bool>) -> Result<i64> {
    let (mut low, mut high) = (first_s, last_s);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}
