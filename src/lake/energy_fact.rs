//! The fact that records by which tables of energy a place was rated.

use crate::config::fingerprint;
use crate::config::plan::Plan;
use crate::record::SiteMonth;
use crate::reference::benchmark::AskedSpan;

/// The value of the fact of a place: the instants that looked up in the tables, if any, and what they hold there. `None` where
/// the pipeline has no `[energy]`.
pub(crate) fn of_place(plan: &Plan, place: &SiteMonth, asked: Option<AskedSpan>) -> Option<String> {
    let energy = plan.energy.as_deref()?;
    let hash = fingerprint::of_energy(energy, &place.site, asked);
    let between = asked.map_or_else(
        || "- -".to_owned(),
        |asked| format!("{} {}", asked.first_ms, asked.last_ms),
    );
    Some(format!("{between} {hash}"))
}

/// The instants of a fact.
pub(crate) fn asked_of(fact: &str) -> Option<AskedSpan> {
    let mut words = fact.splitn(3, ' ').map(str::parse::<i64>);
    match (words.next(), words.next()) {
        (Some(Ok(first_ms)), Some(Ok(last_ms))) => Some(AskedSpan { first_ms, last_ms }),
        _ => None,
    }
}
