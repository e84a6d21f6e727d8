//! Measures of a schedule: use of each kind of resource, wait, slowdown; whole and by class.

use super::demand::KIND_N;
use super::job::{Job, JobEnd};
use super::jobs::JobList;
use super::machine::Machine;
use super::schedule::{Schedule, StartedJob};

/// Runs shorter than this are taken for this long in the bounded slowdown, seconds.
pub const BOUND_S: i64 = 10;
/// Half a month, seconds: what is left out at each end of a long trace.
pub const HALF_MONTH_S: i64 = 15 * 86_400;
/// Traces shorter than this many seconds are not trimmed by half months.
pub const TRIMMED_FROM_S: i64 = 45 * 86_400;

/// The time that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// First second.
    pub from_s: i64,
    /// The second after the last.
    pub until_s: i64,
}

impl Interval {
    /// From the first submission to the last end.
    #[must_use]
    pub fn whole<'a>(jobs: impl Into<JobList<'a>>, schedule: &'a Schedule) -> Self {
        let jobs = jobs.into();
        let mut from_s = None;
        jobs.each(|_, job| from_s = Some(from_s.map_or(job.submit_s, |first: i64| first.min(job.submit_s))));
        let until_s = schedule.started(jobs).map(|started| started.end_s()).max();
        match (from_s, until_s) {
            (Some(from_s), Some(until_s)) => Self { from_s, until_s },
            _ => Self { from_s: 0, until_s: 0 },
        }
    }

    /// From the first submission to the last, without the first and the last half month; none where the submissions span less
    /// than 45 days, for which that would leave too little.
    #[must_use]
    pub fn without_half_months<'a>(jobs: impl Into<JobList<'a>>) -> Option<Self> {
        let mut submitted: Option<Self> = None;
        jobs.into().each(|_, job| {
            let at_s = job.submit_s;
            submitted = Some(submitted.map_or(
                Self {
                    from_s: at_s,
                    until_s: at_s,
                },
                |all| Self {
                    from_s: all.from_s.min(at_s),
                    until_s: all.until_s.max(at_s),
                },
            ));
        });
        let Self { from_s, until_s } = submitted?;
        (until_s - from_s >= TRIMMED_FROM_S).then_some(Self {
            from_s: from_s + HALF_MONTH_S,
            until_s: until_s - HALF_MONTH_S,
        })
    }

    /// Its length.
    #[must_use]
    pub fn length_s(&self) -> i64 {
        (self.until_s - self.from_s).max(0)
    }

    fn has(&self, time_s: i64) -> bool {
        (self.from_s..self.until_s).contains(&time_s)
    }

    fn overlap_s(&self, from_s: i64, until_s: i64) -> i64 {
        (self.until_s.min(until_s) - self.from_s.max(from_s)).max(0)
    }
}

/// Which jobs are abnormal: failed or cancelled after less than this many seconds. They do not count in the mean slowdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbnormalRule {
    /// Runs shorter than this.
    pub shorter_than_s: i64,
    /// Whether completed jobs count as abnormal as well if they are that short.
    pub completed_too: CompletedJobs,
}

/// Whether jobs that completed can be abnormal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompletedJobs {
    /// They are not.
    #[default]
    Normal,
    /// Short ones are.
    AbnormalIfShort,
}

impl Default for AbnormalRule {
    fn default() -> Self {
        Self {
            shorter_than_s: 60,
            completed_too: CompletedJobs::AbnormalIfShort,
        }
    }
}

impl AbnormalRule {
    /// Whether a job is abnormal.
    #[must_use]
    pub fn is_abnormal(&self, job: &Job) -> bool {
        let may_be = match self.completed_too {
            CompletedJobs::AbnormalIfShort => true,
            CompletedJobs::Normal => matches!(job.ended, JobEnd::Failed | JobEnd::Cancelled),
        };
        may_be && job.run_s < self.shorter_than_s
    }
}

/// Sums over jobs that were submitted in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobMeasures {
    /// Jobs.
    pub job_n: u64,
    /// Sum of their waits, seconds.
    pub wait_s: i128,
    /// The longest wait, seconds.
    pub longest_wait_s: i64,
    /// Jobs that are not abnormal and ran.
    pub normal_n: u64,
    /// Sum of the slowdowns of those, in millionths, each rounded half up.
    pub slowdown_e6: i128,
    /// Sum of the bounded slowdowns of all jobs, in millionths, each rounded half up.
    pub bounded_e6: i128,
    /// Sum of amounts of the first kind times seconds.
    pub first_s: i128,
}

impl JobMeasures {
    /// Adds a job.
    pub fn add(&mut self, started: &StartedJob, rule: &AbnormalRule) {
        let (wait_s, run_s) = (started.wait_s(), started.job.run_s);
        self.job_n += 1;
        self.wait_s += i128::from(wait_s);
        self.longest_wait_s = self.longest_wait_s.max(wait_s);
        self.first_s += i128::from(started.job.need.first()) * i128::from(run_s);
        if run_s > 0 && !rule.is_abnormal(&started.job) {
            self.normal_n += 1;
            self.slowdown_e6 += millionths(wait_s + run_s, run_s);
        }
        // A response shorter than the bound is no slowdown.
        self.bounded_e6 += millionths(wait_s + run_s, run_s.max(BOUND_S)).max(1_000_000);
    }
}

/// A ratio in millionths, rounded half up.
fn millionths(part: i64, of: i64) -> i128 {
    let of = i128::from(of);
    (i128::from(part) * 2_000_000 + of) / (2 * of)
}

/// What is measured of a whole schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measures {
    /// The time that is measured.
    pub interval: Interval,
    /// For each kind of resource, amount times seconds within the interval.
    pub used_s: [i128; KIND_N],
    /// Gigabytes of local storage times seconds within the interval that jobs requested on their nodes.
    pub ssd_used_gb_s: i128,
    /// Gigabytes of local storage times seconds within the interval that jobs had and did not request.
    pub ssd_wasted_gb_s: i128,
    /// The jobs submitted in the interval.
    pub jobs: JobMeasures,
}

/// Measures a schedule.
#[must_use]
pub fn measure<'a>(
    jobs: impl Into<JobList<'a>>,
    machine: &Machine,
    schedule: &'a Schedule,
    interval: Interval,
    rule: &AbnormalRule,
) -> Measures {
    let mut measures = Measures {
        interval,
        used_s: [0; KIND_N],
        ssd_used_gb_s: 0,
        ssd_wasted_gb_s: 0,
        jobs: JobMeasures::default(),
    };
    for started in schedule.started(jobs) {
        let (job, start) = (&started.job, started.start);
        let within_s = i128::from(interval.overlap_s(start.start_s, started.end_s()));
        for (sum, amount) in measures.used_s.iter_mut().zip(job.need.amounts()) {
            *sum += i128::from(amount) * within_s;
        }
        if let Some(ssd) = machine.ssd() {
            let small_n = job.need.first() - start.large_node_n;
            let given_gb = ssd.small_gb * small_n + ssd.large_gb * start.large_node_n;
            let used_gb = job.ssd_gb * job.need.first();
            measures.ssd_used_gb_s += i128::from(used_gb) * within_s;
            measures.ssd_wasted_gb_s += i128::from(given_gb - used_gb) * within_s;
        }
        if interval.has(job.submit_s) {
            measures.jobs.add(&started, rule);
        }
    }
    measures
}

/// By what jobs are put into classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassBy {
    /// By the amount of a kind of resource.
    Amount(usize),
    /// By run time, seconds.
    RunTime,
}

/// Measures of the jobs of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassMeasures {
    /// The least of what it is by.
    pub from: i64,
    /// The most, included; none in the last class.
    pub to: Option<i64>,
    /// Its jobs.
    pub jobs: JobMeasures,
}

/// Measures by class: `upper` are the most of each class but the last, in order. Classes without jobs stay.
#[must_use]
pub fn by_class<'a>(
    jobs: impl Into<JobList<'a>>,
    schedule: &'a Schedule,
    interval: Interval,
    by: ClassBy,
    upper: &[i64],
    rule: &AbnormalRule,
) -> Vec<ClassMeasures> {
    let froms = std::iter::once(0).chain(upper.iter().map(|most| most + 1));
    let tos = upper.iter().map(|most| Some(*most)).chain(std::iter::once(None));
    let mut classes: Vec<ClassMeasures> = (froms.zip(tos))
        .map(|(from, to)| ClassMeasures {
            from,
            to,
            jobs: JobMeasures::default(),
        })
        .collect();
    for started in schedule
        .started(jobs)
        .filter(|started| interval.has(started.job.submit_s))
    {
        let value = match by {
            ClassBy::Amount(kind) => started.job.need.get(kind),
            ClassBy::RunTime => started.job.run_s,
        };
        let at = upper.partition_point(|most| *most < value);
        if let Some(class) = classes.get_mut(at) {
            class.jobs.add(&started, rule);
        }
    }
    classes
}

/// The most of each class but the last of a machine with so much: powers of two below it.
#[must_use]
pub fn power_classes(capacity: i64) -> Vec<i64> {
    let powers = std::iter::successors(Some(1_i64), |last| last.checked_mul(2));
    powers.take_while(|most| *most < capacity).collect()
}
