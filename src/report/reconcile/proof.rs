//! Differences of a month proven job by job.

use std::collections::BTreeSet;

use super::amount::Amount;
use super::difference_cause::Cause;
use super::job::{JobIdentityJob, JobIdentityNames, JobIdentityPlace, JobIdentityStanding};
use super::loss::{Loss, losses};
use super::pairing::{copies, pairs};
use super::relation::{JobPair, Which};
use super::shares::CauseShares;
use super::steps::{self, Mates};
use super::usage_source::{CellKey, UsageSource};
use crate::time::{Month, Zone};

/// The jobs of a month on both sides, and what makes them differ.
pub struct Proof<'s> {
    sides: [&'s UsageSource; 2],
    /// Names on both sides.
    pub names: JobIdentityNames,
    /// The jobs of either side.
    pub jobs: [Vec<JobIdentityJob>; 2],
    /// What causes make.
    pub shares: CauseShares,
    month: Month,
}

impl<'s> Proof<'s> {
    /// Reads the jobs of a month.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when they cannot be read.
    pub fn read(month: Month, a: &'s UsageSource, b: &'s UsageSource) -> crate::error::Result<Self> {
        let mut names = JobIdentityNames::default();
        names.id("");
        let jobs = [a.month(month, &mut names)?, b.month(month, &mut names)?];
        Ok(Self {
            sides: [a, b],
            names,
            jobs,
            shares: CauseShares::default(),
            month,
        })
    }

    /// The place of a cell.
    pub fn place(&mut self, key: &CellKey) -> JobIdentityPlace {
        JobIdentityPlace {
            site: self.names.id(&key.site),
            vo: self.names.id(&key.vo),
            month: key.month,
        }
    }

    /// Whether a side holds jobs of a cell that summaries replace.
    #[must_use]
    pub fn has_summarised(&self, which: Which, place: JobIdentityPlace) -> bool {
        self.of(which)
            .iter()
            .any(|job| job.place == place && job.standing == JobIdentityStanding::Summarised)
    }

    /// What those jobs come to.
    #[must_use]
    pub fn summarised(&self, which: Which, place: JobIdentityPlace) -> Amount {
        let own = self.of(which).iter().filter(|job| job.place == place);
        own.filter(|job| job.standing == JobIdentityStanding::Summarised)
            .fold(Amount::default(), |sum, job| sum.plus(job.amount()))
    }

    fn of(&self, which: Which) -> &[JobIdentityJob] {
        let [a, b] = &self.jobs;
        match which {
            Which::A => a,
            Which::B => b,
        }
    }

    /// Holds the jobs of both sides against each other.
    pub fn pair(&mut self) {
        let [a, b] = &self.jobs;
        let (mut has_mate_a, mut has_mate_b) = (vec![false; a.len()], vec![false; b.len()]);
        let mut mates = Vec::new();
        for pair in pairs(a, b) {
            let (Some(of_a), Some(of_b)) = (a.get(pair.a), b.get(pair.b)) else {
                continue;
            };
            for (list, at) in [(&mut has_mate_a, pair.a), (&mut has_mate_b, pair.b)] {
                if let Some(has_mate) = list.get_mut(at) {
                    *has_mate = true;
                }
            }
            match (of_a.standing.is_counted(), of_b.standing.is_counted()) {
                (true, true) => mates.push(Mates {
                    jobs: JobPair { a: *of_a, b: *of_b },
                    way: pair.way,
                }),
                (true, false) => one_counts(Which::A, of_a, of_b, &mut self.shares),
                (false, true) => one_counts(Which::B, of_b, of_a, &mut self.shares),
                (false, false) => {}
            }
        }
        steps::add(&mates, self.sides, &self.names, &mut self.shares);
        drop(mates);
        self.alone(Which::A, &has_mate_a);
        self.alone(Which::B, &has_mate_b);
    }

    /// Counted jobs of one side that the other does not hold.
    fn alone(&mut self, which: Which, has_mate: &[bool]) {
        let [a, b] = self.sides;
        let (own, other) = match which {
            Which::A => (a, b),
            Which::B => (b, a),
        };
        let jobs = match (&self.jobs, which) {
            ([jobs, _], Which::A) | ([_, jobs], Which::B) => jobs,
        };
        let others = match (&self.jobs, which) {
            ([_, jobs], Which::A) | ([jobs, _], Which::B) => jobs,
        };
        let known = others.iter().filter(|job| job.standing.is_counted());
        let known: BTreeSet<u32> = known.map(|job| job.place.site).collect();
        let is_copy = copies(jobs, has_mate, |site| known.contains(&site));
        let is_missing: Vec<bool> = has_mate
            .iter()
            .zip(&is_copy)
            .map(|(mate, copy)| !mate && !copy)
            .collect();
        let zones: Vec<Zone> = [Some(Zone::utc()), own.zone()].into_iter().flatten().collect();
        let knows_file = |file: u32| {
            let id = self.names.text(file);
            other.has_read(own.file_hash(id), own.file_name(id))
        };
        let losses = losses(jobs, &is_missing, self.month, &zones, knows_file);
        let lacks = which.other().as_str();
        for (at, job) in jobs.iter().enumerate() {
            let amount = signed(which, job.amount());
            if is_copy.get(at) == Some(&true) {
                let file = own.file_name(self.names.text(job.file));
                let detail = format!("{} counts jobs over again, out of {file}", which.as_str());
                self.shares
                    .add(job.place, Cause::DoubleCounting, detail, amount, which, job);
                continue;
            }
            let (cause, detail) = match losses.get(at).copied().flatten() {
                Some(Loss::Day(day)) => {
                    let date = crate::time::month::date_of(day);
                    // Fallback: never taken, the day of a job can be written.
                    let date = date.map(|date| date.to_string()).unwrap_or_default();
                    let site = self.names.text(job.spelled.0);
                    (Cause::MissingDay, format!("{lacks} lacks all of {date} of {site}"))
                }
                Some(Loss::Part(file)) => (
                    Cause::MissingPart,
                    format!("{lacks} lacks all of file {}", own.file_name(self.names.text(file))),
                ),
                Some(Loss::Rest(file, line)) => (
                    Cause::MissingPart,
                    format!(
                        "{lacks} lacks all of file {} from line {line} on",
                        own.file_name(self.names.text(file))
                    ),
                ),
                Some(Loss::Single) => {
                    let why = if job.level.is_none() && own.has_work() {
                        ", of no known factor"
                    } else {
                        ""
                    };
                    (Cause::MissingJobs, format!("{lacks} lacks jobs{why}"))
                }
                None => continue,
            };
            self.shares.add(job.place, cause, detail, amount, which, job);
        }
    }
}

fn signed(which: Which, amount: Amount) -> Amount {
    match which {
        Which::A => Amount::default().minus(amount),
        Which::B => amount,
    }
}

/// A job that `which` side counts, and that the other holds and does not count.
fn one_counts(which: Which, counted: &JobIdentityJob, held: &JobIdentityJob, into: &mut CauseShares) {
    let (own, other) = (which.as_str(), which.other().as_str());
    let (cause, detail) = match held.standing {
        JobIdentityStanding::Void => (
            Cause::Correction,
            format!("a correction of {other} takes out what {own} counts"),
        ),
        JobIdentityStanding::OtherView => (
            Cause::OtherView,
            format!("{other} holds in another view of the hours what {own} counts"),
        ),
        JobIdentityStanding::Running => (Cause::OtherVersion, format!("{other} has a version without an end")),
        JobIdentityStanding::NeverStarted => (Cause::OtherVersion, format!("{other} has a version that never started")),
        JobIdentityStanding::BeyondSums => (
            Cause::MissingJobs,
            format!("{other} refuses jobs: the sums of their month cannot take them"),
        ),
        JobIdentityStanding::Counted | JobIdentityStanding::Summarised => return,
    };
    into.add(
        counted.place,
        cause,
        detail,
        signed(which, counted.amount()),
        which,
        counted,
    );
}
