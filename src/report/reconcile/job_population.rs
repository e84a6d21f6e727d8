//! Which usage one side has beyond the other, where one side knows single jobs and the other only sums.

use std::collections::BTreeMap;

use super::amount::Amount;
use super::difference_cause::Cause;
use super::job::{JobIdentityJob, JobIdentityNames, JobIdentityPlace};
use super::population::Population;
use super::relation::Which;
use super::usage_source::{CellKey, SourceCell, UsageSource};
use crate::numbers::Comparand;
use crate::time::Month;

/// The jobs of one side near a cell.
pub struct KnownJobs<'j> {
    /// Which side knows them.
    pub which: Which,
    /// That side.
    pub side: &'j UsageSource,
    /// The one that does not.
    pub other: &'j UsageSource,
    /// The jobs of the month and its edges.
    pub jobs: &'j [JobIdentityJob],
    /// Their names.
    pub names: &'j JobIdentityNames,
    /// The cell.
    pub place: JobIdentityPlace,
}

impl KnownJobs<'_> {
    /// A day, a file or a job that is missing or twice.
    #[must_use]
    pub fn parts(&self, of_a: Amount, of_b: Amount) -> Vec<Population> {
        let mut found = Vec::new();
        let (mut days, mut files) = (BTreeMap::new(), BTreeMap::new());
        for job in self.own().filter(|job| job.place == self.place) {
            let day = job.end_ms.div_euclid(86_400_000);
            let sum: &mut Amount = days.entry(day).or_default();
            *sum = sum.plus(job.amount());
            let sum: &mut Amount = files.entry(job.file).or_default();
            *sum = sum.plus(job.amount());
            if (of_a.job_n - of_b.job_n).abs() == 1 {
                let label = format!("one job of {} s wall", job.wall_s);
                self.part(Cause::MissingJobs, &label, job.amount(), of_a, of_b, &mut found);
            }
        }
        for (day, sum) in days {
            let date = i32::try_from(day).ok().and_then(crate::time::month::date_of);
            let label = format!("all of {}", date.map_or_else(String::new, |date| date.to_string()));
            self.part(Cause::MissingDay, &label, sum, of_a, of_b, &mut found);
        }
        for (file, sum) in files {
            let label = format!("all of file {}", self.side.file_name(self.names.text(file)));
            self.part(Cause::MissingPart, &label, sum, of_a, of_b, &mut found);
        }
        found
    }

    fn own(&self) -> impl Iterator<Item = &JobIdentityJob> {
        let (site, vo) = (self.place.site, self.place.vo);
        let own = self
            .jobs
            .iter()
            .filter(move |job| job.place.site == site && job.place.vo == vo);
        own.filter(|job| job.standing.is_counted())
    }

    /// A part that the other side lacks, or that one of them has twice, where the number of jobs shows it.
    fn part(&self, cause: Cause, label: &str, part: Amount, of_a: Amount, of_b: Amount, into: &mut Vec<Population>) {
        let (knows, other) = (self.which.as_str(), self.which.other().as_str());
        let less = Amount::default().minus(part);
        // What B is more than A by when the other side lacks it, and when the other side has it twice.
        let (lacks, twice) = match self.which {
            Which::A => (less, part),
            Which::B => (part, less),
        };
        for (cause, change, words) in [
            (cause, lacks, format!("{other} lacks {label}, {}", part.in_words())),
            (
                Cause::DoubleCounting,
                twice,
                format!("{other} has {label} of {knows} twice, {}", part.in_words()),
            ),
        ] {
            if of_a.job_n + change.job_n == of_b.job_n && part.job_n > 0 {
                into.push(Population {
                    cause: Some(cause),
                    evidence: words,
                    job_n: part.job_n,
                    amount: of_a.plus(change),
                });
            }
        }
    }

    /// Whether the months to and from which another zone moves jobs differ as well, where both sides have them.
    fn neighbours_differ(&self, quarters: i64) -> bool {
        let here = self.place.month;
        self.own().all(|job| {
            let Some(shifted) = Month::of_ms(job.end_ms.sum_to_compare(quarters * 900_000)) else {
                return true;
            };
            let neighbour = match (job.place.month == here, shifted == here) {
                (true, false) => shifted,
                (false, true) => job.place.month,
                _ => return true,
            };
            let [site, vo] = [self.place.site, self.place.vo].map(|id| self.names.text(id).to_owned());
            let key = CellKey {
                site,
                vo,
                month: neighbour,
            };
            let of = |side: &UsageSource| side.cells.get(&key).map(SourceCell::amount);
            match (of(self.side), of(self.other)) {
                (Some(own), Some(other)) => !own.has_same_time(other, 0),
                _ => true,
            }
        })
    }

    /// Jobs near the edges of the month, cut in another zone, make the difference. A cell with few jobs near the edge fits
    /// several zones: all of them are named.
    #[must_use]
    pub fn zones(&self, of_a: Amount, of_b: Amount) -> Option<Population> {
        let (cut, other, cut_other) = match self.which {
            Which::A => (of_a, of_b, Which::B),
            Which::B => (of_b, of_a, Which::A),
        };
        let moved = |quarters: i64| {
            let mut moved = Amount::default();
            for job in self.own() {
                let shifted = Month::of_ms(job.end_ms.sum_to_compare(quarters * 900_000));
                match (job.place.month == self.place.month, shifted == Some(self.place.month)) {
                    (true, false) => moved = moved.minus(job.amount()),
                    (false, true) => moved = moved.plus(job.amount()),
                    _ => {}
                }
            }
            moved
        };
        let fits = |quarters: &i64| {
            let change = moved(*quarters);
            let is_it = change != Amount::default() && cut.plus(change).has_same_time(other, cut.job_n);
            is_it && self.neighbours_differ(*quarters)
        };
        let zones: Vec<i64> = (-56..=56_i64).filter(|quarters| *quarters != 0).filter(fits).collect();
        let runs = zones.chunk_by(|a, b| b - a == 1).filter_map(|run| {
            let (first, last) = (zone(*run.first()?), zone(*run.last()?));
            Some(if first == last {
                first
            } else {
                format!("{first} to {last}")
            })
        });
        let words = runs.collect::<Vec<_>>().join(", or ");
        let change = moved(*zones.first()?);
        let change = match self.which {
            Which::A => change,
            Which::B => Amount::default().minus(change),
        };
        Some(Population {
            cause: Some(Cause::MonthBoundary),
            evidence: format!("{} is exact when months are cut at {words}", cut_other.as_str()),
            job_n: change.job_n.abs(),
            amount: of_a.plus(change),
        })
    }
}

/// `UTC+05:30` of 22 quarters of an hour.
fn zone(quarters: i64) -> String {
    let sign = if quarters < 0 { '-' } else { '+' };
    format!("UTC{sign}{:02}:{:02}", quarters.abs() / 4, quarters.abs() % 4 * 15)
}
