//! From summaries to groups of usage: rows of their own, under views of their own.

use std::borrow::Cow;

use super::budget::{self, LoadClass, MonthBudget, VAST_SUMMARY};
use super::group::{Groups, KeyRef, UsageGroup};
use super::settings::Settings;
use super::sums::{CountedSums, MeasuredSums, Sums, WorkSums, WorkTimes, time_held};
use crate::normalise::{Normaliser, Scale, StatedBenchmark};
use crate::record::{Summary, SummaryKind};
use crate::reference::benchmark::{AskedSpan, Benchmark, BenchmarkPlace, Each, Factors, WorkDone};
use crate::schema::batch::addend;
use crate::time::grain::Grain;
use crate::time::{Calendar, Zone};

/// The view in `usage` of summaries of this view: those of batch jobs, which most are, are plain `summary`.
#[must_use]
pub fn usage_view(view: &str) -> Cow<'static, str> {
    match view {
        "batch" => Cow::Borrowed("summary"),
        "payload" => Cow::Borrowed("summary_payload"),
        view => Cow::Owned(format!("summary_{view}")),
    }
}

/// The benchmark of a normalised summary without one: APEL's server adds such work up as HEPSPEC06.
const UNNAMED: Benchmark = Benchmark::Hs06;

/// Adds up the summaries of one site and month.
pub struct SummaryUsage<'a> {
    calendar: Calendar,
    normaliser: Normaliser<'a>,
    groups: Groups,
    budget: MonthBudget,
}

impl<'a> SummaryUsage<'a> {
    /// Nothing yet.
    #[must_use]
    pub fn new(settings: Settings<'a>, site: &'a str) -> Self {
        Self {
            // A summary states its month and no instant: the zone decides nothing, and it has no day.
            calendar: Calendar::new(Zone::utc(), Grain::Month, settings.allocation_year_start),
            normaliser: Normaliser::new(settings.normalise, site),
            groups: Groups::default(),
            budget: MonthBudget::default(),
        }
    }

    /// What scales a summary: the benchmark it states, else that of its CE or site at its last end. Work that arrives
    /// normalised is taken as it is.
    #[must_use]
    pub fn scale(&mut self, row: &Summary) -> Scale {
        let is_stated = row.numbers.normalised_wall_s.or(row.numbers.normalised_cpu_s).is_some();
        if row.kind == SummaryKind::NormalisedSummary && is_stated {
            return Scale::Known(Factors::default());
        }
        let stated = row.words.benchmark.as_deref().zip(row.numbers.benchmark_per_core);
        let stated = stated.map(|(name, e3)| StatedBenchmark { name, e3 });
        let last_ms = i64::from(row.month.next().first_day()) * 86_400_000 - 1;
        let at_ms = row.numbers.latest_end_utc.map_or(last_ms, |end_ms| end_ms.min(last_ms));
        let place = BenchmarkPlace {
            submit_host: row.words.submit_host.as_deref(),
            ..BenchmarkPlace::default()
        };
        self.normaliser.scale(place, at_ms, stated)
    }

    /// Whether the sums of the month can take one more; its load is counted then. Asked of every summary that would
    /// count, in the order of `summary`.
    #[must_use]
    pub fn has_room(&mut self, row: &Summary) -> bool {
        let (wall_s, core_n) = (addend(row.numbers.wall_s), addend(row.numbers.alloc_core_n));
        let fraction_ms = addend(row.numbers.wall_fraction_ms);
        let load = budget::load([
            addend(row.numbers.job_n),
            wall_s,
            fraction_ms,
            time_held(wall_s, core_n),
            time_held(fraction_ms, core_n),
            time_held(wall_s, addend(row.numbers.alloc_gpu_n)),
            time_held(wall_s, addend(row.numbers.alloc_node_n)),
            addend(row.numbers.cpu_ms),
        ]);
        self.budget.admit(LoadClass::near(load, VAST_SUMMARY), load)
    }

    /// Adds one that counts.
    pub fn add(&mut self, row: &Summary) {
        let first_ms = i64::from(row.month.first_day()) * 86_400_000;
        let Some(period) = self.calendar.period(first_ms).filter(|_| row.is_usage()) else {
            return;
        };
        let scale = self.scale(row);
        let (job_n, wall_s, core_n) = (
            addend(row.numbers.job_n),
            addend(row.numbers.wall_s),
            addend(row.numbers.alloc_core_n),
        );
        let wall_fraction_ms = addend(row.numbers.wall_fraction_ms);
        let exact_ms = super::sums::exact_ms(wall_s, wall_fraction_ms);
        let count = |flag: bool| if flag { job_n } else { 0 };
        let cpu_ms = row.numbers.cpu_ms;
        let part = Sums {
            counted: CountedSums {
                job_n,
                wall_s,
                wall_fraction_ms,
                alloc_core_s: time_held(wall_s, core_n),
                alloc_core_fraction_ms: time_held(wall_fraction_ms, core_n),
                alloc_gpu_s: time_held(wall_s, addend(row.numbers.alloc_gpu_n)),
                alloc_node_s: time_held(wall_s, addend(row.numbers.alloc_node_n)),
                cpu_unknown_job_n: count(cpu_ms.is_none()),
                core_unknown_job_n: count(row.numbers.alloc_core_n.is_none()),
                gpu_unknown_job_n: count(row.numbers.alloc_gpu_n.is_none()),
                node_unknown_job_n: count(row.numbers.alloc_node_n.is_none()),
                // No summary states any.
                billing_unknown_job_n: job_n,
                benchmark_missing_job_n: count(scale == Scale::Missing),
                benchmark_fallback_job_n: count(matches!(scale, Scale::Fallback(_))),
                ..CountedSums::default()
            },
            cpu_ms,
            measured: MeasuredSums::default(),
            work: work(row, scale, cpu_ms, exact_ms, core_n),
            earliest_end_ms: row.numbers.earliest_end_utc,
            latest_end_ms: row.numbers.latest_end_utc,
        };
        // Fallback: a summary that states no view is of the view without a name.
        let view = usage_view(row.words.view.as_deref().unwrap_or_default());
        // In the order of `DIMENSIONS`: source, cluster, account, view, partition, qos, wckey, vo_group, vo_role, submit_host.
        let dimensions = [
            Some(row.source.as_str()),
            row.words.cluster.as_deref(),
            row.words.account.as_deref(),
            Some(&*view),
            None,
            None,
            None,
            row.words.vo_group.as_deref(),
            row.words.vo_role.as_deref(),
            row.words.submit_host.as_deref(),
        ];
        let key = KeyRef {
            correction_id: None,
            vo: row.words.vo.as_deref(),
            allocation_year: period.allocation_year,
            month: row.month.first_day(),
            day: None,
            dimensions,
        };
        self.groups.sums(key).add(&part);
    }

    /// Between which instants, both included, the benchmark table was asked.
    #[must_use]
    pub fn asked(&self) -> Option<AskedSpan> {
        self.normaliser.asked()
    }

    /// The groups, sorted.
    #[must_use]
    pub fn into_sorted(self) -> Vec<UsageGroup> {
        self.groups.into_sorted()
    }
}

/// The work of a summary: as it arrives, where it arrives normalised.
fn work(row: &Summary, scale: Scale, cpu_ms: Option<i64>, wall_ms: i64, core_n: i64) -> WorkSums {
    const E7: i128 = 10_000_000;
    if matches!(scale, Scale::Missing | Scale::Rejected) {
        return WorkSums::default();
    }
    let per_core = scale.factors().per_core;
    let mut work = WorkSums::of(per_core, &WorkTimes::new(cpu_ms, wall_ms, core_n));
    if row.kind == SummaryKind::NormalisedSummary {
        let named = row
            .words
            .benchmark
            .as_deref()
            .and_then(Benchmark::parse)
            .unwrap_or(UNNAMED);
        let arrived = |score_s: Option<i64>, times: i64| {
            let e7 = score_s.map(|score_s| i128::from(score_s) * i128::from(times) * E7);
            e7.map_or_else(Each::default, |e7| Each::<WorkDone>::only(named, e7))
        };
        work.cpu = work.cpu.or(arrived(row.numbers.normalised_cpu_s, 1));
        work.wall = work.wall.or(arrived(row.numbers.normalised_wall_s, 1));
        work.core_wall = work.core_wall.or(arrived(row.numbers.normalised_wall_s, core_n));
    }
    work
}
