//! Which sites and months were scaled by other benchmarks, or rated by other tables of energy, than those of now.

use std::collections::BTreeSet;

use crate::config::Plan;
use crate::lake::benchmark_fact::{ScaledData, of_place};
use crate::lake::energy_fact;
use crate::lake::state::State;
use crate::record::SiteMonth;
use crate::reference::benchmark::AskedSpan;
use crate::store::Fact;

/// Places whose work was computed from other benchmarks than those of now.
#[derive(Debug, Default)]
pub(crate) struct Outdated {
    /// Of jobs.
    pub(crate) jobs: BTreeSet<SiteMonth>,
    /// Of summaries.
    pub(crate) summaries: BTreeSet<SiteMonth>,
    /// Of jobs whose energy and carbon were computed from other tables than those of now.
    pub(crate) energy: BTreeSet<SiteMonth>,
}

impl Outdated {
    /// Compares the recorded rows of the table with its present ones, between the same instants.
    pub(crate) fn find(state: &State, plan: &Plan) -> Self {
        let is_outdated = |scaled: ScaledData, place: &&SiteMonth| {
            // Fallback: a place that was never scaled has an empty fact, which differs.
            let was = state.fact(scaled.fact(place)).unwrap_or_default();
            let mut words = was.splitn(3, ' ').map(str::parse::<i64>);
            let asked = match (words.next(), words.next()) {
                (Some(Ok(first_ms)), Some(Ok(last_ms))) => Some(AskedSpan { first_ms, last_ms }),
                _ => None,
            };
            of_place(plan, place, asked) != was
        };
        let of = |scaled: ScaledData, places: &[SiteMonth]| {
            let outdated = places.iter().filter(|place| is_outdated(scaled, place));
            outdated.cloned().collect()
        };
        let is_rated_otherwise = |place: &&SiteMonth| {
            let was = state.fact(Fact::JobEnergy(&place.site, place.month));
            energy_fact::of_place(plan, place, was.and_then(energy_fact::asked_of)).as_deref() != was
        };
        Self {
            energy: state.partitions().iter().filter(is_rated_otherwise).cloned().collect(),
            jobs: of(ScaledData::Jobs, state.partitions()),
            summaries: of(ScaledData::Summaries, state.summaries()),
        }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.summaries.is_empty() && self.energy.is_empty()
    }
}
