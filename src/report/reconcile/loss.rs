//! Of what jobs that one side lacks are all: of a day, of a file, or of nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::job::{JobIdentityJob, UNKNOWN};
use crate::numbers::tally;
use crate::time::{Month, Zone};

/// Of what a job is that is missing on the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Every job of this day is missing, in days since 1970.
    Day(i32),
    /// Every job of this file is missing.
    Part(u32),
    /// Every job of this file from this line on is missing, and none before it.
    Rest(u32, i64),
    /// Others like it are there.
    Single,
}

/// The instant, zone and scope that define days.
struct DayRule<'z> {
    zone: &'z Zone,
    of: fn(&JobIdentityJob) -> i64,
    is_by_cluster: bool,
}

/// Where days are looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LossScope {
    site: u32,
    source: u32,
    cluster: u32,
}

impl DayRule<'_> {
    fn scope(&self, job: &JobIdentityJob) -> LossScope {
        if self.is_by_cluster {
            LossScope {
                site: job.place.site,
                source: job.source,
                cluster: job.cluster,
            }
        } else {
            LossScope {
                site: job.place.site,
                source: 0,
                cluster: 0,
            }
        }
    }

    fn day(&self, job: &JobIdentityJob) -> Option<i32> {
        let at_ms = (self.of)(job);
        if at_ms == UNKNOWN {
            return None;
        }
        let unix_s = at_ms.div_euclid(1000);
        i32::try_from((unix_s + self.zone.offset_at(unix_s)).div_euclid(86_400)).ok()
    }
}

/// A job that counts.
struct CountedJob<'j> {
    /// Its place among the jobs of its side.
    at: usize,
    job: &'j JobIdentityJob,
    is_missing: bool,
}

/// Jobs, and how many of them are missing.
#[derive(Clone, Copy, Default)]
struct Count {
    all: usize,
    missing: usize,
}

impl Count {
    fn add(&mut self, is_missing: bool) {
        self.all += 1;
        self.missing += usize::from(is_missing);
    }

    fn is_gone(self) -> bool {
        self.all == self.missing
    }
}

/// The loss of each job of a side; those that are not missing, or of another month, have none. `knows_file` is whether
/// the other side has read a file.
#[must_use]
pub fn losses(
    jobs: &[JobIdentityJob],
    is_missing: &[bool],
    month: Month,
    zones: &[Zone],
    knows_file: impl Fn(u32) -> Option<bool>,
) -> Vec<Option<Loss>> {
    let counted: Vec<CountedJob<'_>> = jobs
        .iter()
        .zip(is_missing)
        .enumerate()
        .filter(|(_, (job, _))| job.standing.is_counted() && job.place.month == month)
        .map(|(at, (job, is_missing))| CountedJob {
            at,
            job,
            is_missing: *is_missing,
        })
        .collect();
    let mut found: Vec<Option<Loss>> = vec![None; jobs.len()];
    let days = days(&counted, zones);
    let files = files(&counted, &knows_file);
    let rests = rests(&counted);
    for CountedJob { at, job, .. } in counted.iter().filter(|counted| counted.is_missing) {
        let day = days.get(at).copied();
        let file = files.get(&job.file);
        let loss = match (day, file) {
            // A file of a day or two is the day.
            (Some(day), Some(span)) if span.len() <= 2 => Loss::Day(day),
            (_, Some(_)) => Loss::Part(job.file),
            (day, None) => match (rests.get(&job.file), day) {
                (Some(line), _) => Loss::Rest(job.file, *line),
                (None, Some(day)) => Loss::Day(day),
                (None, None) => Loss::Single,
            },
        };
        if let Some(known) = found.get_mut(*at) {
            *known = Some(loss);
        }
    }
    found
}

/// The day of each missing job of a day that is gone, by the rule that explains most.
fn days(counted: &[CountedJob<'_>], zones: &[Zone]) -> BTreeMap<usize, i32> {
    let instants: [fn(&JobIdentityJob) -> i64; 3] = [|job| job.end_ms, |job| job.start_ms, |job| job.submit_ms];
    let mut best = BTreeMap::new();
    for is_by_cluster in [true, false] {
        for of in instants {
            for zone in zones {
                let found = days_by(
                    counted,
                    &DayRule {
                        zone,
                        of,
                        is_by_cluster,
                    },
                );
                if found.len() > best.len() {
                    best = found;
                }
            }
        }
    }
    best
}

fn days_by(counted: &[CountedJob<'_>], rule: &DayRule<'_>) -> BTreeMap<usize, i32> {
    let mut by_day: BTreeMap<(LossScope, i32), Count> = BTreeMap::new();
    let mut by_scope: BTreeMap<LossScope, Count> = BTreeMap::new();
    for CountedJob { job, is_missing, .. } in counted {
        let Some(day) = rule.day(job) else { continue };
        let scope = rule.scope(job);
        by_day.entry((scope, day)).or_default().add(*is_missing);
        by_scope.entry(scope).or_default().add(*is_missing);
    }
    // One job is not a day, and a scope with no jobs left has lost more than days.
    let is_gone = |count: &Count| count.is_gone() && count.all > 1;
    let mut gone: BTreeMap<LossScope, usize> = BTreeMap::new();
    for ((scope, _), count) in by_day.iter().filter(|(_, count)| is_gone(count)) {
        *gone.entry(*scope).or_default() += count.missing;
    }
    let is_by_days = |scope: &LossScope| {
        let all = tally(by_scope.get(scope).copied());
        let gone = tally(gone.get(scope).copied());
        !all.is_gone() && gone * 3 >= all.missing * 2
    };
    let missing = counted.iter().filter(|counted| counted.is_missing);
    let of_days = missing.filter_map(|CountedJob { at, job, .. }| {
        let (scope, day) = (rule.scope(job), rule.day(job)?);
        let is_it = is_by_days(&scope) && by_day.get(&(scope, day)).is_some_and(is_gone);
        is_it.then_some((*at, day))
    });
    of_days.collect()
}

/// Files of which every job is missing, with the UTC days on which their jobs ended.
fn files(counted: &[CountedJob<'_>], knows_file: &impl Fn(u32) -> Option<bool>) -> BTreeMap<u32, BTreeSet<i64>> {
    let mut by_file: BTreeMap<u32, (Count, BTreeSet<i64>)> = BTreeMap::new();
    for CountedJob { job, is_missing, .. } in counted {
        let (count, days) = by_file.entry(job.file).or_default();
        count.add(*is_missing);
        days.insert(job.end_ms.div_euclid(86_400_000));
    }
    let file_n = by_file.len();
    let gone = by_file.into_iter().filter(|(file, (count, _))| {
        let is_unread = knows_file(*file) == Some(false);
        // Without a word of the other side's inputs, two jobs of one file among others are as few as prove something.
        count.is_gone()
            && if is_unread {
                true
            } else {
                count.all > 1 && file_n > 1 && knows_file(*file).is_none()
            }
    });
    gone.map(|(file, (_, days))| (file, days)).collect()
}

/// Files cut off: from which line on every job is missing, where that is no whole days.
fn rests(counted: &[CountedJob<'_>]) -> BTreeMap<u32, i64> {
    // Fewer could be the last by chance.
    const FEWEST: usize = 3;
    let mut by_file: BTreeMap<u32, Vec<(i64, bool, i64)>> = BTreeMap::new();
    for CountedJob { job, is_missing, .. } in counted.iter().filter(|counted| counted.job.line > 0) {
        let day = job.end_ms.div_euclid(86_400_000);
        by_file.entry(job.file).or_default().push((job.line, *is_missing, day));
    }
    let cut = by_file.into_iter().filter_map(|(file, mut rows)| {
        rows.sort_unstable();
        let from = rows.iter().position(|(_, is_missing, _)| *is_missing)?;
        let (kept, lost) = rows.split_at_checked(from)?;
        let (line, _, first_day) = *lost.first()?;
        let is_cut = lost.len() >= FEWEST && !kept.is_empty() && lost.iter().all(|(_, is_missing, _)| *is_missing);
        // Where the cut is between two days, days are missing.
        let is_inside = kept.iter().any(|(.., day)| *day == first_day);
        (is_cut && is_inside).then_some((file, line))
    });
    cut.collect()
}
