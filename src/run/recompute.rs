//! When a benchmark turns out wrong: by how much the work of a site and month changes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::outdated::Outdated;
use super::partition_context::PartitionContext;
use super::run_words::signed;
use super::usage::UsagePart;
use crate::error::Result;
use crate::record::SiteMonth;
use crate::reference::benchmark::Benchmark;
use crate::reference::decimal::text as decimal_text;
use crate::schema::batch::{date, decimal, number};
use crate::store::lake;
use crate::summarise::group::UsageGroup;
use crate::summarise::sums::{WORK_COLUMNS, WorkSums};
use crate::time::{Day, Month};

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

impl Recomputed {
    /// A line for people.
    pub(crate) fn text(&self) -> String {
        let new_records = if self.has_new_records {
            ", new records included"
        } else {
            ""
        };
        format!(
            "{} {} {}: CPU {} s becomes {} s ({}), core wall {} s becomes {} s ({}){new_records}",
            self.site,
            self.month,
            self.benchmark,
            self.former.cpu_s,
            self.now.cpu_s,
            signed(&self.change.cpu_s),
            self.former.core_wall_s,
            self.now.core_wall_s,
            signed(&self.change.core_wall_s),
        )
    }
}

/// Work of a site and month of usage, before and now.
#[derive(Default)]
struct MonthWork {
    former: WorkSums,
    now: WorkSums,
    /// Whether records came as well.
    has_new_records: bool,
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
    fresh: impl Fn(&SiteMonth) -> bool,
) -> Result<Vec<Recomputed>> {
    let mut months: BTreeMap<(String, Day), MonthWork> = BTreeMap::new();
    for part in parts {
        let place = SiteMonth::new(part.site.as_str(), part.month);
        if !outdated.jobs.contains(&place) && !outdated.summaries.contains(&place) {
            continue;
        }
        let is_fresh = fresh(&place);
        let mut add = |month: Day, former: &WorkSums, now: &WorkSums| {
            let of = months.entry((part.site.clone(), month)).or_default();
            of.former.add(former);
            of.now.add(now);
            of.has_new_records |= is_fresh;
        };
        for UsageGroup { key, sums } in part.groups.groups()? {
            add(key.month, &WorkSums::default(), &sums.work);
        }
        let path = lake::month_path("usage_part", &part.site, part.month);
        let former = lake::batches(context.publication, &path)?;
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
    for ((site, day), work) in months {
        // Fallback: only whether work changes is compared, and unknown work is none.
        let known = |work: &WorkSums| work.e7().map(Option::unwrap_or_default);
        let (former, now) = (known(&work.former), known(&work.now));
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
                has_new_records: work.has_new_records,
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
