//! When a benchmark turns out wrong: by how much the work of a site and month changes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::outdated::Outdated;
use super::partition_context::PartitionContext;
use super::run_words::signed;
use super::unbuilt_parts::unbuilt_parts;
use super::usage::UsagePart;
use super::usage_months::UsageMonths;
use crate::error::Result;
use crate::record::SiteMonth;
use crate::reference::benchmark::Benchmark;
use crate::reference::decimal::text as decimal_text;
use crate::schema::batch::{date, decimal, number};
use crate::store::lake;
use crate::summarise::group::UsageGroup;
use crate::summarise::sums::{WORK_COLUMNS, WorkSums};

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

impl MonthWork {
    /// Whether the work is other work now.
    fn is_changed(&self) -> bool {
        known(&self.former) != known(&self.now)
    }
}

/// Work by site and month of usage.
type WorkMonths = UsageMonths<MonthWork>;

impl WorkMonths {
    /// Adds what a place that this run has built contributed before and contributes now.
    fn add_built(&mut self, context: &PartitionContext<'_>, part: &UsagePart, is_fresh: bool) -> Result<()> {
        for UsageGroup { key, sums } in part.groups.groups()? {
            if let Some(of) = self.of(&part.site, key.month)? {
                of.now.add(&sums.work);
                of.has_new_records |= is_fresh;
            }
        }
        self.add_published(context, &SiteMonth::new(part.site.as_str(), part.month), |of, work| {
            of.former.add(work);
            of.has_new_records |= is_fresh;
        })
    }

    /// Adds what is published of a place.
    fn add_published(
        &mut self,
        context: &PartitionContext<'_>,
        place: &SiteMonth,
        add: impl Fn(&mut MonthWork, &WorkSums),
    ) -> Result<()> {
        let path = lake::month_path("usage_part", &place.site, place.month);
        for batch in lake::batches(context.publication, &path)?.into_iter().flatten() {
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
                if let Some(of) = self.of(&place.site, month.value(row))? {
                    add(of, &WorkSums::from_e7(e7));
                }
            }
        }
        Ok(())
    }
}

/// The work of each site and month of usage that other benchmarks changed, before and now, by benchmark, with what other places
/// contribute to the month. Rows that did not change are left out; unknown work counts as none.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read.
pub(crate) fn compare(
    context: &PartitionContext<'_>,
    outdated: &Outdated,
    parts: &[UsagePart],
    fresh: impl Fn(&SiteMonth) -> bool,
) -> Result<Vec<Recomputed>> {
    let place = |part: &UsagePart| SiteMonth::new(part.site.as_str(), part.month);
    let is_outdated = |part: &&UsagePart| {
        let place = place(part);
        outdated.jobs.contains(&place) || outdated.summaries.contains(&place)
    };
    let (scaled, others): (Vec<_>, Vec<_>) = parts.iter().partition(is_outdated);
    let mut found = WorkMonths::open();
    for part in scaled {
        found.add_built(context, part, fresh(&place(part)))?;
    }
    found.close(MonthWork::is_changed);
    if found.months.is_empty() {
        return Ok(Vec::new());
    }
    for part in others {
        found.add_built(context, part, fresh(&place(part)))?;
    }
    let unbuilt = unbuilt_parts(context, parts, &found.sites());
    for place in unbuilt {
        found.add_published(context, &place, |of, work| {
            of.former.add(work);
            of.now.add(work);
        })?;
    }
    Ok(rows(found.months))
}

/// The rows of what changed, by benchmark.
fn rows(months: BTreeMap<SiteMonth, MonthWork>) -> Vec<Recomputed> {
    let mut rows = Vec::new();
    for (SiteMonth { site, month }, work) in months {
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
                month: month.to_string(),
                benchmark: kind.as_str().to_owned(),
                former: amounts(*former),
                now: amounts(*now),
                change: amounts(change),
                has_new_records: work.has_new_records,
            });
        }
    }
    rows
}

/// Work with nothing in the place of what is unknown.
fn known(work: &WorkSums) -> [i128; 9] {
    // Fallback: only whether work changes is compared, and unknown work is none.
    work.e7().map(Option::unwrap_or_default)
}

fn amounts([cpu, wall, core_wall]: [i128; 3]) -> RecomputedAmounts {
    let [cpu_s, wall_s, core_wall_s] = [cpu, wall, core_wall].map(|e7| decimal_text(e7, 7));
    RecomputedAmounts {
        cpu_s,
        wall_s,
        core_wall_s,
    }
}
