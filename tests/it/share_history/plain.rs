//! Usage by plain loops: over seconds, or over the calculations of a scheduler.

use super::{DAY_S, DumpJob, real};

/// How the usage of the past counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PlainRule {
    None,
    Continuous {
        half_life_s: i64,
    },
    Steps {
        half_life_s: i64,
        period_s: i64,
        anchor_s: i64,
    },
    HalvingDays {
        half_life_day: i64,
    },
}

/// A rule with the instants of its resets.
#[derive(Clone, Debug)]
pub(super) struct PlainUsage {
    pub(super) rule: PlainRule,
    pub(super) resets_s: Vec<i64>,
}

impl PlainUsage {
    /// Usage at the end of each day, before a reset that is due then; `edges_s` are the midnights.
    pub(super) fn days(&self, jobs: &[&DumpJob], edges_s: &[i64]) -> Vec<f64> {
        let ends = edges_s[1..].iter();
        ends.map(|end_s| self.at(jobs, *end_s, |reset_s| reset_s < *end_s))
            .collect()
    }

    /// Usage at an instant, a reset at it included.
    pub(super) fn instant(&self, jobs: &[&DumpJob], at_s: i64) -> f64 {
        self.at(jobs, at_s, |reset_s| reset_s <= at_s)
    }

    fn last_reset_s(&self, is_done: impl Fn(i64) -> bool) -> Option<i64> {
        self.resets_s.iter().copied().filter(|reset_s| is_done(*reset_s)).max()
    }

    fn at(&self, jobs: &[&DumpJob], at_s: i64, is_done: impl Fn(i64) -> bool) -> f64 {
        match self.rule {
            PlainRule::None => Self::seconds(jobs, at_s, self.last_reset_s(is_done), |_| 1.0),
            PlainRule::Continuous { half_life_s } => {
                // The middle of the second.
                let weight = |age_s: i64| (-(real(age_s) - 0.5) / real(half_life_s)).exp2();
                Self::seconds(jobs, at_s, self.last_reset_s(is_done), weight)
            }
            PlainRule::Steps {
                half_life_s,
                period_s,
                anchor_s,
            } => {
                let resets_s: Vec<i64> = self
                    .resets_s
                    .iter()
                    .copied()
                    .filter(|reset_s| is_done(*reset_s))
                    .collect();
                let factor = 1.0 - 0.693 / real(half_life_s);
                jobs.iter()
                    .map(|job| {
                        steps(
                            job,
                            at_s,
                            &Daemon {
                                factor,
                                period_s,
                                anchor_s,
                            },
                            &resets_s,
                        )
                    })
                    .sum()
            }
            PlainRule::HalvingDays { half_life_day } => {
                // A second of age a, from 1 on, has the weight 2^-(ceil(a / H) - 1), whatever hours local days have.
                let half_life_s = half_life_day * DAY_S;
                let weight =
                    |age_s: i64| 0.5_f64.powi(i32::try_from((age_s + half_life_s - 1) / half_life_s - 1).unwrap());
                Self::seconds(jobs, at_s, self.last_reset_s(is_done), weight)
            }
        }
    }

    /// Adds up second by second; `weight` is of the age of a second at `at_s`, from 1 on.
    fn seconds(jobs: &[&DumpJob], at_s: i64, since_s: Option<i64>, weight: impl Fn(i64) -> f64) -> f64 {
        let mut sum = 0.0;
        for job in jobs {
            let begin_s = since_s.map_or(job.start_s, |since_s| since_s.max(job.start_s));
            let mut of_job = 0.0;
            for second_s in begin_s..end_s(job).min(at_s) {
                of_job += weight(at_s - second_s);
            }
            sum += of_job * real(job.billing);
        }
        sum
    }
}

fn end_s(job: &DumpJob) -> i64 {
    job.end_s.unwrap_or(job.start_s + job.wall_s)
}

/// A scheduler that calculates priorities.
struct Daemon {
    factor: f64,
    period_s: i64,
    anchor_s: i64,
}

/// One job under a scheduler: at every calculation usage decays, is reset where a reset is due since the last one, and the
/// running job adds its seconds since then.
fn steps(job: &DumpJob, at_s: i64, daemon: &Daemon, resets_s: &[i64]) -> f64 {
    let mut usage = 0.0;
    let piece = |ran_s: i64| real(ran_s) * daemon.factor.powf(real(ran_s));
    let since = (job.start_s - daemon.anchor_s).rem_euclid(daemon.period_s);
    let mut last_s = job.start_s - since;
    loop {
        let now_s = last_s + daemon.period_s;
        let ends_s = end_s(job);
        let begins_s = job.start_s.max(last_s);
        if ends_s < now_s && ends_s > last_s && ends_s <= at_s {
            usage += piece(ends_s - begins_s);
        }
        if now_s > at_s {
            return usage * real(job.billing);
        }
        usage *= daemon.factor.powf(real(daemon.period_s));
        if resets_s.iter().any(|reset_s| (last_s + 1..=now_s).contains(reset_s)) {
            usage = 0.0;
        }
        if ends_s >= now_s {
            usage += piece(now_s - begins_s);
        }
        last_s = now_s;
    }
}
