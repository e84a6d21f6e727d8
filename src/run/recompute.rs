//! When a benchmark turns out wrong: which sites and months it concerns, and by how much their work changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::partition::PartitionContext;
use super::usage::UsagePart;
use crate::config::plan::Plan;
use crate::error::Result;
use crate::lake::benchmark_fact::{ScaledData, fact};
use crate::lake::state::State;
use crate::lake::views::ViewPlace;
use crate::reference::benchmark::Benchmark;
use crate::reference::decimal::text as decimal_text;
use crate::schema::batch::{date, decimal, number};
use crate::store::lake;
use crate::summarise::sums::{WORK_COLUMNS, WorkSums};
use crate::time::{Day, Month};

/// Places whose work was computed from other benchmarks than those of now.
#[derive(Debug, Default)]
pub(crate) struct Outdated {
    /// Of jobs.
    pub(crate) jobs: BTreeSet<ViewPlace>,
    /// Of summaries.
    pub(crate) summaries: BTreeSet<ViewPlace>,
}

impl Outdated {
    /// Compares what was written down with what the table says now, between the same instants.
    pub(crate) fn find(state: &State, plan: &Plan) -> Self {
        let is_outdated = |scaled: ScaledData, place: &&ViewPlace| {
            let was = state.fact(&scaled.fact(place)).unwrap_or_default();
            let mut words = was.splitn(3, ' ').map(str::parse::<i64>);
            let asked = match (words.next(), words.next()) {
                (Some(Ok(from_ms)), Some(Ok(until_ms))) => Some((from_ms, until_ms)),
                _ => None,
            };
            fact(plan, scaled, place, asked).1 != was
        };
        let of = |scaled: ScaledData, places: &[ViewPlace]| {
            let outdated = places.iter().filter(|place| is_outdated(scaled, place));
            outdated.cloned().collect()
        };
        Self {
            jobs: of(ScaledData::Jobs, state.partitions()),
            summaries: of(ScaledData::Summaries, state.summaries()),
        }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.summaries.is_empty()
    }
}

/// Work as decimals of seconds times score.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecomputedAmounts {
    /// CPU time, scaled.
    pub cpu_s: String,
    /// Wall time, scaled, not times cores.
    pub wall_s: String,
    /// Wall time times cores, scaled.
    pub core_wall_s: String,
}

/// What other benchmarks made of one site and month of usage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recomputed {
    /// Site.
    pub site: String,
    /// Month of usage, `YYYY-MM`.
    pub month: String,
    /// `hs06`, `hs23` or `si00`.
    pub benchmark: String,
    /// Before.
    pub former: RecomputedAmounts,
    /// After.
    pub now: RecomputedAmounts,
    /// After less before.
    pub change: RecomputedAmounts,
    /// Records came as well in this run: not all of the change is due to benchmarks.
    pub has_new_records: bool,
}

/// What each outdated place contributed before and contributes now, by site, month of usage and benchmark. Rows that did
/// not change are left out; unknown work counts as none.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read.
pub(crate) fn compare(
    context: &PartitionContext<'_>,
    outdated: &Outdated,
    parts: &[UsagePart],
    fresh: impl Fn(&ViewPlace) -> bool,
) -> Result<Vec<Recomputed>> {
    let mut months: BTreeMap<(String, Day), (WorkSums, WorkSums, bool)> = BTreeMap::new();
    for part in parts {
        let place = (part.site.clone(), part.month);
        if !outdated.jobs.contains(&place) && !outdated.summaries.contains(&place) {
            continue;
        }
        let is_fresh = fresh(&place);
        let mut add = |month: Day, former: &WorkSums, now: &WorkSums| {
            let of = months.entry((part.site.clone(), month)).or_default();
            of.0 = of.0.plus(former);
            of.1 = of.1.plus(now);
            of.2 |= is_fresh;
        };
        for (key, sums) in &part.rows {
            add(key.month, &WorkSums::default(), &sums.work);
        }
        let path = lake::month_path("usage_part", &part.site, part.month);
        let former = lake::batches(context.store, context.publication, &path)?;
        for batch in former.into_iter().flatten() {
            let batch = batch?;
            let month = date(&batch, "month")?;
            let columns: Vec<_> = WORK_COLUMNS
                .iter()
                .map(|name| decimal(&batch, name))
                .collect::<Result<_>>()?;
            for row in 0..batch.num_rows() {
                let mut e7 = [None; 9];
                for (value, column) in e7.iter_mut().zip(&columns) {
                    *value = number(column, row);
                }
                add(month.value(row), &WorkSums::from_e7(e7), &WorkSums::default());
            }
        }
    }
    let mut rows = Vec::new();
    for ((site, day), (former, now, has_new_records)) in months {
        let known = |work: &WorkSums| work.e7().map(Option::unwrap_or_default);
        let (former, now) = (known(&former), known(&now));
        let of_kinds = former.as_chunks::<3>().0.iter().zip(now.as_chunks::<3>().0);
        for (kind, (former, now)) in Benchmark::ALL.into_iter().zip(of_kinds) {
            if former == now {
                continue;
            }
            let mut change = *now;
            change.iter_mut().zip(former).for_each(|(now, was)| *now -= was);
            rows.push(Recomputed {
                site: site.clone(),
                month: Month::of_day(day).map_or_else(String::new, |month| month.to_string()),
                benchmark: kind.as_str().to_owned(),
                former: amounts(*former),
                now: amounts(*now),
                change: amounts(change),
                has_new_records,
            });
        }
    }
    Ok(rows)
}

fn amounts([cpu, wall, core_wall]: [i128; 3]) -> RecomputedAmounts {
    let [cpu_s, wall_s, core_wall_s] = [cpu, wall, core_wall].map(|e7| decimal_text(e7, 7));
    RecomputedAmounts {
        cpu_s,
        wall_s,
        core_wall_s,
    }
}
