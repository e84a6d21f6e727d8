//! Days that are missing, judged by a site's own history: gaps, probes that fell silent, months that end early, levels
//! that shift.

mod history;

use std::collections::BTreeSet;

use super::lake::{Lake, Selection};
use super::table::{Cell, ColumnKind, Table};
use crate::amounts::add;
use crate::error::Result;
use crate::store::lake::parse_run_path;
use crate::time::month::date_of;
use crate::time::{Day, Month, Zone};

use history::history_since;
pub use history::{CompletenessHistory, Days, EndedOnDay, SiteCe, history, local_day};

/// Days before and after a day from which the usual number of jobs is taken.
const WINDOW_DAYS: i32 = 28;
/// A day without a job is not a surprise where fewer are usual: at 3 a day it happens one day in twenty.
const USUAL_JOBS: i64 = 3;
/// Days with jobs from which it is known how long pauses get where fewer are usual.
const KNOWN_DAYS: usize = 10;
/// A level is one of so many days.
const LEVEL_DAYS: i32 = 14;
/// Of which so many must have jobs.
const LEVEL_ACTIVE_DAYS: usize = 10;
/// Of the days before and after a shift, so many may look like those on the other side of it.
const LEVEL_MISFITS: usize = 2;
/// A level that changes by less is weather.
const LEVEL_FACTOR: i64 = 3;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletenessFinding {
    /// Days without a job where jobs are usual.
    Gap,
    /// The same, up to the end of a month.
    MonthEndsEarly,
    /// No job for longer than ever before, while others still report.
    Silent,
    /// Core time per day changed at once, by a factor of three or more.
    LevelShift,
}

impl CompletenessFinding {
    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::MonthEndsEarly => "month_ends_early",
            Self::Silent => "silent",
            Self::LevelShift => "level_shift",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Incomplete {
    /// Site.
    pub site: String,
    /// CE, or cluster where jobs do not name one.
    pub ce: String,
    /// What.
    pub finding: CompletenessFinding,
    /// First day.
    pub from: Day,
    /// Last day.
    pub to: Day,
    /// What is usual: jobs a day, or core hours a day for a level.
    pub usual: i64,
    /// What there is instead.
    pub observed: i64,
}

/// What is found in the last months of a lake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastMonths {
    /// Days that look incomplete.
    pub incomplete: Vec<Incomplete>,
    /// Jobs that ended later than tomorrow.
    pub future_job_n: i64,
    /// The last day on which one ended.
    pub last_future_day: Option<Day>,
    /// Months with summaries that begin later than tomorrow.
    pub future_summary_months: BTreeSet<Month>,
}

impl LastMonths {
    /// Takes the days of the future out of a history.
    fn take_future(&mut self, history: &mut CompletenessHistory, tomorrow: Day) -> Result<()> {
        for days in history.values_mut() {
            for (day, ended) in days.split_off(&later(tomorrow, 1)) {
                add(&mut self.future_job_n, ended.job_n, "job_n")?;
                self.last_future_day = self.last_future_day.max(Some(day));
            }
        }
        history.retain(|_, days| !days.is_empty());
        Ok(())
    }
}

/// Days that look incomplete at the end of a lake, in the last two months with records: cheap enough for every day.
/// Where the lake is live, silence until yesterday counts. Jobs of the future are counted, and no end of the lake.
///
/// # Errors
/// As [`history`].
pub fn of_last_months(lake: &Lake, now_ms: i64) -> Result<LastMonths> {
    let mut found = LastMonths::default();
    let zone = lake.zone()?;
    let today = local_day(&zone, now_ms);
    let (yesterday, tomorrow) = (later(today, -1), later(today, 1));
    let summary_months = lake.months("summary")?.into_iter().map(|(_, month, _)| month);
    found.future_summary_months = summary_months.filter(|month| month.first_day() > tomorrow).collect();
    let months: BTreeSet<Month> = lake.months("records")?.into_iter().map(|(_, month, _)| month).collect();
    let so_far = months.iter().rev().find(|month| month.first_day() <= tomorrow);
    let Some(last) = so_far.or(months.first()).copied() else {
        return Ok(found);
    };
    let selection = Selection::default();
    let since = Month::of_day(later(last.first_day(), -1)).unwrap_or(last);
    let mut history = history_since(lake, &selection, Some(since))?;
    found.take_future(&mut history, tomorrow)?;
    let last_day = history
        .values()
        .filter_map(|days| days.keys().next_back())
        .max()
        .copied();
    let is_live = match last_day {
        Some(last_day) => is_live(lake, &zone, last_day, yesterday)?,
        None => false,
    };
    found.incomplete = find(&history, &selection, is_live.then_some(yesterday));
    Ok(found)
}

/// Whether jobs are expected until yesterday: the last day with jobs was one of the last fortnight, or was at the time of a
/// run that changed the lake. Then the lake was filled as jobs ended, and what came after is missing, however long that is; a
/// lake that was only filled with old dumps never was live. After a year of silence it is one of the past.
fn is_live(lake: &Lake, zone: &Zone, last_day: Day, yesterday: Day) -> Result<bool> {
    const FORTNIGHT: Day = 14;
    const YEAR: Day = 366;
    if last_day > later(yesterday, -FORTNIGHT) {
        return Ok(true);
    }
    if last_day <= later(yesterday, -YEAR) {
        return Ok(false);
    }
    let runs = lake.store.list("runs")?;
    let mut run_days = (runs.iter().filter_map(|page| parse_run_path(&page.path))).map(|ms| local_day(zone, ms));
    Ok(run_days.any(|day| (last_day..=later(last_day, FORTNIGHT)).contains(&day)))
}

/// Everything that looks incomplete in the days selected, sorted. Jobs are expected until the day `until`; where none is
/// given, until the last day anybody has jobs.
#[must_use]
pub fn find(history: &CompletenessHistory, selection: &Selection, until: Option<Day>) -> Vec<Incomplete> {
    let last_day = history
        .values()
        .filter_map(|days| days.keys().next_back())
        .max()
        .copied();
    let Some(last_day) = until.or(last_day) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (SiteCe { site, ce }, days) in history {
        let mut add = |finding: CompletenessFinding, from: Day, to: Day, usual: i64, observed: i64| {
            found.push(Incomplete {
                site: site.clone(),
                ce: ce.clone(),
                finding,
                from,
                to,
                usual,
                observed,
            });
        };
        pauses(days, last_day, until.is_some(), &mut add);
        shifts(days, &mut add);
    }
    found.retain(|one| selection.days.overlaps(one.from, one.to));
    found.sort();
    found
}

fn median(mut values: Vec<i64>) -> i64 {
    values.sort_unstable();
    // Fallback: of no values the middle is none, and nothing is compared with it.
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// Jobs of a usual day around a pause: the median of the days with jobs, of the window before it and after.
fn usual(days: &Days, from: Day, to: Day) -> i64 {
    let before = days.range(later(from, -WINDOW_DAYS)..from);
    let after = days.range(later(to, 1)..=later(to, WINDOW_DAYS));
    median(before.chain(after).map(|(_, ended)| ended.job_n).collect())
}

fn pauses(
    days: &Days,
    last_day: Day,
    is_expected: bool,
    add: &mut impl FnMut(CompletenessFinding, Day, Day, i64, i64),
) {
    let active: Vec<Day> = days.keys().copied().collect();
    let pauses: Vec<(Day, Day)> = active
        .windows(2)
        .filter_map(|pair| match pair {
            [a, b] if b - a > 1 => Some((a + 1, b - 1)),
            _ => None,
        })
        .collect();
    let lengths: Vec<i64> = active
        .iter()
        .zip(active.iter().skip(1))
        .map(|(a, b)| i64::from(b - a))
        .collect();
    let usual_pause = median(lengths.clone());
    for (from, to) in pauses {
        let jobs = usual(days, from, to);
        let length = i64::from(to - from) + 1;
        // Where a job ends every few days, a pause of a few days is usual.
        if jobs < USUAL_JOBS || length < (2 * usual_pause - 1) {
            continue;
        }
        let month_end = Month::of_day(from).map_or(to, |month| month.next().first_day() - 1);
        let finding = if month_end <= to && length > 1 {
            CompletenessFinding::MonthEndsEarly
        } else {
            CompletenessFinding::Gap
        };
        add(finding, from, to, jobs, 0);
    }
    if let (Some(last), Some(longest)) = (active.last(), lengths.iter().max()) {
        let silence = i64::from(last_day) - i64::from(*last);
        let jobs = usual(days, last + 1, last_day);
        let is_longer_than_ever = silence > 2 * longest && silence >= 2;
        // Where jobs are expected, a silence at the end is an open gap; where few are usual, one that is longer than ever.
        let is_silent = match (is_expected, jobs >= USUAL_JOBS) {
            (true, true) => silence >= (2 * usual_pause - 1).max(1),
            (true, false) => is_longer_than_ever && active.len() >= KNOWN_DAYS,
            (false, has_usual_jobs) => is_longer_than_ever && has_usual_jobs,
        };
        if is_silent {
            add(CompletenessFinding::Silent, last + 1, last_day, jobs, 0);
        }
    }
}

/// The days at which the level before and after differ most, one for each shift.
fn shifts(days: &Days, add: &mut impl FnMut(CompletenessFinding, Day, Day, i64, i64)) {
    /// A day, and the levels before and after.
    #[derive(Clone, Copy)]
    struct LevelShift {
        misfit_n: usize,
        day: Day,
        before: i64,
        after: i64,
    }
    let mut best: Option<LevelShift> = None;
    let mut settle = |best: &mut Option<LevelShift>| {
        if let Some(LevelShift { day, before, after, .. }) = best.take() {
            add(CompletenessFinding::LevelShift, day, day, before / 3600, after / 3600);
        }
    };
    let (Some(first), Some(last)) = (days.keys().next(), days.keys().next_back()) else {
        return;
    };
    for day in *first..=*last {
        let level = |from: Day, to: Day| {
            let values: Vec<i64> = days.range(from..to).map(|(_, ended)| ended.core_s).collect();
            (values.len() >= LEVEL_ACTIVE_DAYS).then(|| median(values))
        };
        let pair = level(later(day, -LEVEL_DAYS), day).zip(level(day, later(day, LEVEL_DAYS)));
        let shifted = pair.filter(|(before, after)| {
            let (less, more) = (before.min(after), before.max(after));
            *less > 0 && more / less >= LEVEL_FACTOR
        });
        let Some((before, after)) = shifted else {
            settle(&mut best);
            continue;
        };
        // Of the days around a shift, the one with the fewest days on the wrong side of it.
        let wrong = |from: Day, to: Day, own: i64, other: i64| {
            let values = days.range(from..to).map(|(_, ended)| ended.core_s);
            values
                .filter(|value| value.abs_diff(own) > value.abs_diff(other))
                .count()
        };
        let misfit_n =
            wrong(later(day, -LEVEL_DAYS), day, before, after) + wrong(day, later(day, LEVEL_DAYS), after, before);
        if misfit_n <= LEVEL_MISFITS && best.is_none_or(|known| misfit_n < known.misfit_n) {
            best = Some(LevelShift {
                misfit_n,
                day,
                before,
                after,
            });
        }
    }
    settle(&mut best);
}

/// The findings.
#[must_use]
pub fn table(found: &[Incomplete]) -> Table {
    let mut table = Table::new(
        "What looks incomplete",
        &[
            ("site", "", ColumnKind::Text),
            ("ce", "", ColumnKind::Text),
            ("finding", "", ColumnKind::Text),
            ("from", "", ColumnKind::Text),
            ("to", "", ColumnKind::Text),
            ("days", "1", ColumnKind::Number),
            ("usual", "a day", ColumnKind::Number),
            ("observed", "a day", ColumnKind::Number),
            ("of", "", ColumnKind::Text),
        ],
    );
    for one in found {
        let day = |day: Day| date_of(day).map_or(Cell::Empty, |date| Cell::text(date.to_string()));
        let of = if one.finding == CompletenessFinding::LevelShift {
            "core hours"
        } else {
            "jobs"
        };
        table.push(vec![
            Cell::text(&one.site),
            Cell::text(&one.ce),
            Cell::text(one.finding.as_str()),
            day(one.from),
            day(one.to),
            Cell::int(one.to - one.from + 1),
            Cell::int(one.usual),
            Cell::int(one.observed),
            Cell::text(of),
        ]);
    }
    table
}

/// A day so many days later.
fn later(day: Day, by: Day) -> Day {
    // Fallback: the days of jobs are before 2200, and no day is compared past the ends of the type.
    day.saturating_add(by)
}
