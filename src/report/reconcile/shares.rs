//! What causes make, cell by cell, while jobs are gone through.

use crate::absent;
use std::collections::BTreeMap;

use super::amount::Amount;
use super::difference_cause::{Cause, CauseShare};
use super::job::{JobIdentityJob, JobIdentityNames, JobIdentityPlace};
use super::relation::Which;
use super::usage_source::UsageSource;

/// So many details of a cause are written out.
const DETAILS: usize = 4;

/// Jobs of one cause and detail.
#[derive(Clone, Copy, Debug, Default)]
struct ShareTally {
    job_n: i128,
    amount: Amount,
    /// Side, file and line of the first.
    first: Option<(Which, u32, i64)>,
}

/// What causes make, by cell.
#[derive(Default)]
pub struct CauseShares {
    by_place: BTreeMap<JobIdentityPlace, BTreeMap<(Cause, String), ShareTally>>,
}

impl CauseShares {
    /// Adds one job: B is more than A by so much because of it.
    pub fn add(
        &mut self,
        place: JobIdentityPlace,
        cause: Cause,
        detail: String,
        amount: Amount,
        which: Which,
        job: &JobIdentityJob,
    ) {
        let tally = self.tally(place, cause, detail);
        tally.job_n += 1;
        tally.amount = tally.amount.plus(amount);
        tally.first.get_or_insert((which, job.file, job.line));
    }

    /// Adds a sum.
    pub fn add_sum(&mut self, place: JobIdentityPlace, cause: Cause, detail: String, amount: Amount) {
        let tally = self.tally(place, cause, detail);
        tally.job_n += amount.job_n.abs();
        tally.amount = tally.amount.plus(amount);
    }

    fn tally(&mut self, place: JobIdentityPlace, cause: Cause, detail: String) -> &mut ShareTally {
        self.by_place
            .entry(place)
            .or_default()
            .entry((cause, detail))
            .or_default()
    }

    /// One share for each cause of a cell, in the order of causes.
    #[must_use]
    pub fn of(&self, place: JobIdentityPlace, sides: [&UsageSource; 2], names: &JobIdentityNames) -> Vec<CauseShare> {
        let mut by_cause: BTreeMap<Cause, Vec<(&str, ShareTally)>> = BTreeMap::new();
        for ((cause, detail), tally) in self.by_place.get(&place).into_iter().flatten() {
            by_cause.entry(*cause).or_default().push((detail, *tally));
        }
        let shares = by_cause.into_iter().map(|(cause, mut details)| {
            details.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.job_n));
            let sum = details
                .iter()
                .fold((0, Amount::default()), |(job_n, amount), (_, tally)| {
                    (job_n + tally.job_n, amount.plus(tally.amount))
                });
            let mut reported: Vec<String> = details
                .iter()
                .take(DETAILS)
                .map(|(detail, tally)| in_words(detail, tally, sides, names))
                .collect();
            if let Some(more) = details.len().checked_sub(DETAILS).filter(|more| *more > 0) {
                reported.push(format!("and {more} more of the kind"));
            }
            CauseShare {
                cause,
                job_n: sum.0,
                amount: sum.1,
                evidence: reported.join("; "),
            }
        });
        shares.collect()
    }
}

fn in_words(detail: &str, tally: &ShareTally, [a, b]: [&UsageSource; 2], names: &JobIdentityNames) -> String {
    let hours = Amount {
        job_n: tally.job_n,
        ..tally.amount
    };
    let what = if tally.amount.core_wall_s == 0 {
        format!("{} jobs", tally.job_n)
    } else {
        hours.in_words()
    };
    let first = tally.first.and_then(|(which, file, line)| {
        let side = match which {
            Which::A => a,
            Which::B => b,
        };
        let name = side.file_name(names.text(file));
        let place = if line > 0 {
            format!("{name}:{line}")
        } else {
            name.to_owned()
        };
        (!name.is_empty()).then(|| format!(" (the first: {place} of {})", which.as_str()))
    });
    format!("{detail}: {what}{}", absent::phrase(first))
}
