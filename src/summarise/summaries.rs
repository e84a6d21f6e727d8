//! From summaries to groups of usage: rows of their own, under views of their own.

use std::borrow::Cow;

use super::budget::{self, LoadClass, MonthBudget, VAST_SUMMARY};
use super::group::{Groups, KeyRef, UsageGroup};
use super::settings::Settings;
use super::sums::{Sums, WorkSums};
use crate::normalise::{Normaliser, Scale, StatedBenchmark};
use crate::record::{Summary, SummaryKind};
use crate::reference::benchmark::{AskedSpan, Benchmark, BenchmarkPlace, Each, Factors, WorkDone};
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
        let is_stated = row
            .number("normalised_wall_s")
            .or(row.number("normalised_cpu_s"))
            .is_some();
        if row.kind == SummaryKind::NormalisedSummary && is_stated {
            return Scale::Known(Factors::default());
        }
        let stated = row.word("benchmark").zip(row.number("benchmark_per_core"));
        let stated = stated.map(|(name, e3)| StatedBenchmark { name, e3 });
        let last_ms = i64::from(row.month.next().first_day()) * 86_400_000 - 1;
        let at_ms = row
            .number("latest_end_utc")
            .map_or(last_ms, |end_ms| end_ms.min(last_ms));
        let place = BenchmarkPlace {
            submit_host: row.word("submit_host"),
            ..BenchmarkPlace::default()
        };
        self.normaliser.scale(place, at_ms, stated)
    }

    /// Whether the sums of the month can take one more; its load is counted then. Asked of every summary that would
    /// count, in the order of `summary`.
    #[must_use]
    pub fn has_room(&mut self, row: &Summary) -> bool {
        let number = |name: &str| row.number(name).unwrap_or(0);
        let (wall_s, core_n) = (number("wall_s"), number("alloc_core_n"));
        let fraction_ms = number("wall_fraction_ms");
        let load = budget::load([
            number("job_n"),
            wall_s,
            fraction_ms,
            wall_s.saturating_mul(core_n),
            fraction_ms.saturating_mul(core_n),
            wall_s.saturating_mul(number("alloc_gpu_n")),
            wall_s.saturating_mul(number("alloc_node_n")),
            number("cpu_ms"),
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
        let number = |name: &str| row.number(name).unwrap_or(0);
        let (job_n, wall_s, core_n) = (number("job_n"), number("wall_s"), number("alloc_core_n"));
        let core_s = wall_s.saturating_mul(core_n);
        let exact_ms = wall_s.saturating_mul(1000).saturating_add(number("wall_fraction_ms"));
        let count = |flag: bool| if flag { job_n } else { 0 };
        let cpu_ms = row.number("cpu_ms");
        let part = Sums {
            counted: [
                job_n,
                wall_s,
                number("wall_fraction_ms"),
                core_s,
                number("wall_fraction_ms").saturating_mul(core_n),
                wall_s.saturating_mul(number("alloc_gpu_n")),
                wall_s.saturating_mul(number("alloc_node_n")),
                0,
                count(cpu_ms.is_none()),
                count(row.number("alloc_core_n").is_none()),
                0,
                count(scale == Scale::Missing),
                count(matches!(scale, Scale::Fallback(_))),
            ],
            cpu_ms,
            work: work(row, scale, cpu_ms, exact_ms, core_n),
            earliest_end_ms: row.number("earliest_end_utc"),
            latest_end_ms: row.number("latest_end_utc"),
        };
        let view = usage_view(row.word("view").unwrap_or_default());
        // In the order of `DIMENSIONS`: source, cluster, account, view, partition, qos, wckey, vo_group, vo_role, submit_host.
        let dimensions = [
            Some(row.source.as_str()),
            row.word("cluster"),
            row.word("account"),
            Some(&*view),
            None,
            None,
            None,
            row.word("vo_group"),
            row.word("vo_role"),
            row.word("submit_host"),
        ];
        let key = KeyRef {
            correction_id: None,
            vo: row.word("vo"),
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
    let mut work = WorkSums {
        cpu: cpu_ms.map_or_else(Each::default, |cpu_ms| per_core.over_ms(cpu_ms)),
        wall: per_core.over_ms(wall_ms),
        core_wall: per_core.over_ms(wall_ms.saturating_mul(core_n)),
    };
    if row.kind == SummaryKind::NormalisedSummary {
        let named = row.word("benchmark").and_then(Benchmark::parse).unwrap_or(UNNAMED);
        let arrived = |name: &str, times: i64| {
            let e7 = row
                .number(name)
                .map(|score_s| i128::from(score_s) * i128::from(times) * E7);
            e7.map_or_else(Each::default, |e7| Each::<WorkDone>::only(named, e7))
        };
        work.cpu = work.cpu.or(arrived("normalised_cpu_s", 1));
        work.wall = work.wall.or(arrived("normalised_wall_s", 1));
        work.core_wall = work.core_wall.or(arrived("normalised_wall_s", core_n));
    }
    work
}
