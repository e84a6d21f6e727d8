//! Rows without an end that are of one job with another row: a dump was printed while the job ran, and the next one in
//! another zone, under another name of the cluster, or without it.
//!
//! How long such a job takes is not known yet. Both rows have the same number and were submitted and started as far apart, by
//! the same user on as many cores as far as both state them, and their times differ by one constant that zones can differ by.
//! Another run of a requeued job was submitted again and waited as long only by accident.

use std::collections::HashSet;
use std::sync::Arc;

use ahash::RandomState;

use super::{Copied, Copies, CopyExtent, Looked, SeenJob, is_in_sample, is_zone_shift};

/// Rows of one number that are compared at most: a job that comes back more often is requeued again and again.
const ROWS_MOST: usize = 8;

/// Where a row is among those of two days.
#[derive(Clone, Copy)]
struct RowPlace {
    number: u64,
    is_today: bool,
    at: usize,
}

impl RowPlace {
    fn job<'j>(&self, before: &'j mut Looked, today: &'j mut Looked) -> Option<&'j mut SeenJob> {
        let day = if self.is_today { today } else { before };
        day.jobs.get_mut(self.at)
    }
}

/// What two rows of one number are to each other.
struct OpenPair {
    level: u32,
    /// Core seconds of the row without an end.
    core_s: u64,
    /// `None` where they are of two jobs, or of two runs of one.
    copied: Option<Copied>,
}

impl Copies<'_> {
    /// Compares the rows without an end of a day and of the day before with all others, one of each two being of the day.
    pub(super) fn compare_open(&mut self, before: &mut Looked, today: &mut Looked) {
        let places = same_numbers(before, today);
        for group in places.chunk_by(|a, b| a.number == b.number) {
            if (2..=ROWS_MOST).contains(&group.len()) {
                self.compare_open_rows(group, before, today);
            }
        }
    }

    /// Counts the rows of one number that are copies of earlier ones, and all that were compared with such.
    fn compare_open_rows(&mut self, group: &[RowPlace], before: &mut Looked, today: &mut Looked) {
        let levels = (today.level, before.level.max(today.level));
        for copy in group {
            let mut best: Option<OpenPair> = None;
            for of in group {
                let Some(one) = copy.job(before, today).map(|job| *job) else {
                    continue;
                };
                let Some(other) = of.job(before, today) else { continue };
                let level = if copy.is_today && of.is_today {
                    levels.0
                } else {
                    levels.1
                };
                let is_of_today = copy.is_today || of.is_today;
                if is_of_today && is_in_sample(&one, level) && is_in_sample(other, level) && !one.is_copy {
                    let pair = self.open_pair(&one, other, level);
                    if best.as_ref().is_none_or(|best| best.copied.is_none()) {
                        best = pair.or(best);
                    }
                }
            }
            let Some(pair) = best else { continue };
            let Some(job) = copy.job(before, today) else { continue };
            let Some(file) = self.files.get(job.file) else { continue };
            let extent = CopyExtent::of_level(pair.level, pair.core_s);
            let compared = self.found.open_n.entry(Arc::clone(&file.file_id));
            compared.or_default().add(extent);
            if let Some(copied) = pair.copied {
                job.is_copy = true;
                self.found.copied.entry(copied).or_default().add(extent);
            }
        }
    }

    /// A row of a file read in this run and an earlier row of another file, where one of both has no end; `None` where they
    /// are not compared.
    fn open_pair(&self, copy: &SeenJob, of: &SeenJob, level: u32) -> Option<OpenPair> {
        let (file, of_file) = (self.files.get(copy.file)?, self.files.get(of.file)?);
        let is_compared = file.is_fresh
            && (file.is_fresh, file.rank) > (of_file.is_fresh, of_file.rank)
            && (copy.is_open || of.is_open)
            && !(copy.is_displayed && of.is_displayed)
            && copy.dialect.has_job_numbers()
            && of.dialect.has_job_numbers()
            && copy.facts.agree_in_user_and_cores(of.facts);
        if !is_compared {
            return None;
        }
        let shift_ms = copy.start_ms - of.start_ms;
        let is_copy = copy.facts.have_one_wait(of.facts)
            && is_zone_shift(shift_ms)
            && (shift_ms != 0 || copy.cluster != of.cluster || copy.is_displayed != of.is_displayed);
        let copied = is_copy.then(|| self.copied(copy, of)).flatten();
        Some(OpenPair {
            level,
            core_s: if of.is_open { of.core_s } else { copy.core_s },
            copied: copied.map(|copied| Copied {
                is_open: true,
                ..copied
            }),
        })
    }
}

/// The rows of all numbers that a row without an end has, sorted by number; none where every row of both days has an end.
fn same_numbers(before: &Looked, today: &Looked) -> Vec<RowPlace> {
    let open = before.jobs.iter().chain(&today.jobs).filter(|job| job.is_open);
    let numbers: HashSet<u64, RandomState> = open.map(|job| job.number).collect();
    if numbers.is_empty() {
        return Vec::new();
    }
    let mut places = Vec::new();
    for (day, is_today) in [(before, false), (today, true)] {
        let rows = day.jobs.iter().enumerate();
        let wanted = rows.filter(|(_, job)| numbers.contains(&job.number));
        places.extend(wanted.map(|(at, job)| RowPlace {
            number: job.number,
            is_today,
            at,
        }));
    }
    places.sort_unstable_by_key(|place| (place.number, place.is_today, place.at));
    places
}
