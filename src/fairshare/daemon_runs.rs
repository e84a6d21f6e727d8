//! The runs of a scheduler's daemon: when it calculated, and what a daemon that was killed had not saved.
//!
//! Every start has its own instants of calculation, one period apart from its first. In Slurm (`priority/multifactor`,
//! `assoc_mgr`) two files hold what the next start continues from:
//!
//! * `priority_last_decay_ran` is written at every calculation. The first calculation of a start ages usage by all seconds
//!   since then, and adds what running jobs used since then. A daemon that was stopped for an hour makes up for the hour.
//! * `assoc_usage` is written when the daemon stops, and every 300 seconds. A daemon that is killed has added to usage and aged
//!   it since it wrote the file; the next start reads the older usage, and the newer instant of calculation. What was between
//!   both is lost: usage is not aged for these seconds, and what running jobs used in them is not counted. Of jobs that ended
//!   after the file was written, what they used since the calculation before it is not counted.
//!
//! `scontrol reconfigure` is a start since 23.11, and none before.

use serde::{Deserialize, Serialize};

use super::calculation_times::CalculationTimes;
use super::decay_steps::DecaySteps;
use crate::time::SecondSpan;

/// One run of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonRun {
    /// When it started, Unix seconds.
    pub start_s: i64,
    /// Its first calculation, Unix seconds: when it had read its state.
    pub calculated_s: i64,
    /// How it ended; `None` where that is not known: it was stopped before the next start.
    pub end: Option<RunEnd>,
}

/// How a run of the daemon ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunEnd {
    /// It was stopped and saved all usage.
    Stopped {
        /// Its last second.
        at_s: i64,
    },
    /// It was killed.
    Killed {
        /// Its last second.
        at_s: i64,
        /// When the usage that the next start read was saved; before the run itself where it saved none.
        saved_s: i64,
        /// What the next start read as the last calculation; `None` for the last one of the run.
        calculated_s: Option<i64>,
    },
}

impl DaemonRun {
    /// Seconds from one full save of Slurm's state to the next (`PERIODIC_CHECKPOINT`).
    pub const SAVE_PERIOD_S: i64 = 300;

    /// A run of which its start alone is known.
    #[must_use]
    pub fn started_at(start_s: i64) -> Self {
        Self {
            start_s,
            calculated_s: start_s,
            end: None,
        }
    }

    /// When a run that was killed had last saved its usage, one save period after the other from its start; the second
    /// before its start where it was killed before the first save.
    #[must_use]
    pub fn last_save_s(start_s: i64, killed_s: i64) -> i64 {
        let periods = (killed_s - start_s).div_euclid(Self::SAVE_PERIOD_S);
        if periods > 0 {
            start_s + periods * Self::SAVE_PERIOD_S
        } else {
            start_s - 1
        }
    }

    /// Its last second, where that is known.
    #[must_use]
    pub fn end_s(self) -> Option<i64> {
        match self.end? {
            RunEnd::Stopped { at_s } | RunEnd::Killed { at_s, .. } => Some(at_s),
        }
    }

    /// What contradicts itself in runs in the order of time; the place of the run, and a sentence.
    #[must_use]
    pub fn contradiction(runs: &[Self]) -> Option<(usize, &'static str)> {
        for (at, run) in runs.iter().enumerate() {
            let end_s = run.end_s();
            if end_s.is_some_and(|end_s| end_s < run.start_s) {
                return Some((at, "it ends before it starts"));
            }
            if run.calculated_s < run.start_s {
                return Some((at, "its first calculation is before its start"));
            }
            if let Some(RunEnd::Killed {
                at_s,
                saved_s,
                calculated_s,
            }) = run.end
            {
                if saved_s > at_s {
                    return Some((at, "its usage was saved after its end"));
                }
                if calculated_s.is_some_and(|calculated_s| calculated_s > at_s) {
                    return Some((at, "its last calculation is after its end"));
                }
            }
            let Some(before) = at.checked_sub(1).and_then(|before| runs.get(before)) else {
                continue;
            };
            if run.start_s < before.start_s {
                return Some((at, "it starts before the run that is stated before it"));
            }
            if before.end_s().is_some_and(|end_s| end_s > run.start_s) {
                return Some((at, "it starts while the run before it runs"));
            }
            if before.end.is_none() && before.start_s == run.start_s {
                return Some((at, "it starts with the run before it, of which no end is stated"));
            }
        }
        None
    }
}

/// The calculations of one run, or of the time before the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    times: CalculationTimes,
    /// Its first calculation; `None` before the first run.
    first_s: Option<i64>,
    /// What that took for the calculation before it.
    before_s: i64,
    /// The last second in which it may calculate.
    until_s: i64,
}

impl Stretch {
    /// Its last calculation up to an instant.
    fn last_at(&self, at_s: i64) -> Option<i64> {
        let last_s = self.times.last_at(at_s.min(self.until_s));
        (self.first_s.is_none_or(|first_s| last_s >= first_s)).then_some(last_s)
    }

    /// Its first calculation from an instant on.
    fn next_at(&self, at_s: i64) -> Option<i64> {
        let next_s = self
            .times
            .next_at(self.first_s.map_or(at_s, |first_s| first_s.max(at_s)));
        (next_s <= self.until_s).then_some(next_s)
    }
}

/// What was lost when a run was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "a unit belongs to its name")]
struct Loss {
    /// When the usage was saved that the next start read.
    saved_s: i64,
    /// When the run was killed.
    killed_s: i64,
    /// The start after it: from then on usage is that of the save.
    known_s: i64,
    /// The first calculation after it.
    again_s: i64,
    /// The calculation whose usage was saved.
    kept_s: i64,
    /// What the next start read as the last calculation.
    last_s: i64,
}

impl Loss {
    /// Up to when a job that ended then is not counted after the calculation that was kept; `None` where nothing of it is lost.
    fn until_s(&self, job_end_s: i64) -> Option<i64> {
        let until_s = if job_end_s <= self.killed_s {
            job_end_s
        } else {
            self.last_s
        };
        (job_end_s > self.saved_s && until_s > self.kept_s).then_some(until_s)
    }

    /// Whether the end of a job was in usage that is lost.
    fn has_end(&self, job_end_s: i64) -> bool {
        self.saved_s < job_end_s && job_end_s <= self.killed_s
    }
}

/// What was lost up to one start, in each stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    /// By stretch, the last second whose calculations were kept.
    until_s: Vec<i64>,
    /// By stretch, for how many seconds usage was not aged before it.
    not_aged_s: Vec<i64>,
}

/// All runs of a daemon with their calculations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonRuns {
    stretches: Vec<Stretch>,
    losses: Vec<Loss>,
    /// One more than losses: before any, after the first, and so on.
    kept: Vec<Kept>,
}

impl DaemonRuns {
    /// Runs in the order of time, without contradiction; `before` are the calculations before the first of them, and their
    /// period. `None` without runs, or when they contradict themselves.
    #[must_use]
    pub fn new(before: CalculationTimes, runs: &[DaemonRun]) -> Option<Self> {
        let first = runs.first()?;
        if DaemonRun::contradiction(runs).is_some() {
            return None;
        }
        let mut stretches = vec![Stretch {
            times: before,
            first_s: None,
            before_s: i64::MIN,
            until_s: first.start_s - 1,
        }];
        for (at, run) in runs.iter().enumerate() {
            let until_s = run.end_s().or_else(|| runs.get(at + 1).map(|next| next.start_s - 1));
            stretches.push(Stretch {
                times: before.anchored_at(run.calculated_s),
                first_s: Some(run.calculated_s),
                before_s: before.last_at(first.start_s - 1),
                // Fallback: the last run has no end that is known.
                until_s: until_s.unwrap_or(i64::MAX),
            });
        }
        let n = stretches.len();
        let mut made = Self {
            stretches,
            losses: Vec::new(),
            kept: vec![Kept {
                until_s: vec![i64::MAX; n],
                not_aged_s: vec![0; n],
            }],
        };
        for (at, run) in runs.iter().enumerate() {
            if let Some(next) = runs.get(at + 1) {
                let before_s = made.lose(at + 1, *run, *next)?;
                made.stretches.get_mut(at + 2)?.before_s = before_s;
            }
        }
        Some(made)
    }

    /// Loses what the run of a stretch added after it saved usage, where it was killed. Returns what the next start takes for the last
    /// calculation.
    fn lose(&mut self, stretch: usize, run: DaemonRun, next_run: DaemonRun) -> Option<i64> {
        let of_run = self.stretches.get(stretch)?;
        let last = of_run.last_at(next_run.start_s);
        // Fallback: a run that did not calculate leaves what it had read.
        let real_s = last.unwrap_or(of_run.before_s);
        let Some(RunEnd::Killed {
            at_s,
            saved_s,
            calculated_s,
        }) = run.end
        else {
            return Some(real_s);
        };
        let now = self.kept.last()?.clone();
        let (kept_in, kept_s) = self.calculation(&now, stretch, saved_s)?;
        // Usage is not aged from before the calculation that it is of.
        let last_s = calculated_s.map_or(real_s, |calculated_s| calculated_s.max(kept_s));
        let mut next = now;
        for until_s in next.until_s.iter_mut().take(stretch + 1) {
            *until_s = saved_s.min(*until_s);
        }
        let not_aged_s = last_s - kept_s + next.not_aged_s.get(kept_in)?;
        for of_stretch in next.not_aged_s.iter_mut().skip(stretch + 1) {
            *of_stretch = not_aged_s;
        }
        let later = self.stretches.iter().skip(stretch + 1);
        let again_s = later
            .filter_map(|later| later.first_s.filter(|first_s| *first_s <= later.until_s))
            .min();
        self.kept.push(next);
        self.losses.push(Loss {
            saved_s,
            killed_s: at_s,
            known_s: next_run.start_s,
            // Fallback: no run after it has calculated, as far as is known.
            again_s: again_s.unwrap_or(i64::MAX),
            kept_s,
            last_s,
        });
        Some(last_s)
    }

    /// The last calculation up to an instant, counted or lost.
    #[must_use]
    pub fn last_at(&self, at_s: i64) -> i64 {
        let last = self.stretches.iter().rev().find_map(|stretch| stretch.last_at(at_s));
        // Fallback: never taken, the time before the first run has no beginning.
        last.unwrap_or(i64::MIN)
    }

    /// The first calculation from an instant on; an instant behind the end of the last run is its own.
    pub(super) fn next_at(&self, at_s: i64) -> i64 {
        let next = self.stretches.iter().find_map(|stretch| stretch.next_at(at_s));
        // Fallback: after the end of the last run nothing is calculated that is known.
        next.unwrap_or(at_s)
    }

    /// The last calculation up to an instant whose usage was kept, with its stretch, in a stretch or before it.
    fn calculation(&self, kept: &Kept, stretch: usize, at_s: i64) -> Option<(usize, i64)> {
        let up_to = self.stretches.iter().zip(&kept.until_s).enumerate().take(stretch + 1);
        up_to
            .rev()
            .find_map(|(at, (stretch, until_s))| Some((at, stretch.last_at(at_s.min(*until_s))?)))
    }

    /// What was kept as it is known at an instant.
    fn kept_at(&self, at_s: i64) -> Option<&Kept> {
        self.kept.get(self.known_n(at_s))
    }

    /// How many losses are known at an instant.
    fn known_n(&self, at_s: i64) -> usize {
        self.losses.partition_point(|loss| loss.known_s <= at_s)
    }

    /// By how many seconds usage was aged up to an instant, from any beginning, as usage is known at another instant.
    fn aged_s(&self, kept: &Kept, at_s: i64) -> Option<i128> {
        let (stretch, last_s) = self.calculation(kept, self.stretches.len(), at_s)?;
        Some(i128::from(last_s) - i128::from(*kept.not_aged_s.get(stretch)?))
    }

    /// What is left at `to_s` of usage that is stored at `from_s`.
    pub(super) fn remaining(&self, steps: DecaySteps, from_s: i64, to_s: i64) -> f64 {
        let aged_s = self.kept_at(to_s).and_then(|kept| {
            let (from_s, to_s) = (self.aged_s(kept, from_s)?, self.aged_s(kept, to_s)?);
            Some(to_s - from_s)
        });
        // Fallback: never taken, there is a calculation before any instant.
        steps.factor(aged_s.unwrap_or(0))
    }

    /// The seconds of a job that are added after `after_s` and up to `at_s`, as stored at `at_s`.
    pub(super) fn seconds(&self, steps: DecaySteps, span: SecondSpan, after_s: i64, at_s: i64) -> f64 {
        if span.is_empty() || after_s >= at_s {
            return 0.0;
        }
        self.added(
            steps,
            span,
            SecondSpan {
                start_s: after_s,
                end_s: at_s,
            },
        )
        // Fallback: never taken, there is a calculation before any instant.
        .unwrap_or(0.0)
    }

    fn added(&self, steps: DecaySteps, span: SecondSpan, within: SecondSpan) -> Option<f64> {
        let kept = self.kept_at(within.end_s)?;
        let now_s = self.aged_s(kept, within.end_s)?;
        let begins_s = span.start_s.max(within.start_s);
        let first = self.stretches.partition_point(|stretch| stretch.until_s <= begins_s);
        let mut sum = 0.0;
        for (at, stretch) in self.stretches.iter().enumerate().skip(first) {
            let (until_s, not_aged_s) = (*kept.until_s.get(at)?, *kept.not_aged_s.get(at)?);
            let ends_s = span.end_s.min(within.end_s).min(until_s);
            if stretch
                .first_s
                .is_some_and(|first_s| first_s > span.end_s.min(within.end_s))
            {
                break;
            }
            let first_s = begins_s.checked_add(1).and_then(|from_s| stretch.next_at(from_s));
            let (Some(first_s), Some(last_s)) = (first_s, stretch.last_at(ends_s)) else {
                continue;
            };
            if first_s > last_s {
                continue;
            }
            let since = |calculated_s: i64| now_s - (i128::from(calculated_s) - i128::from(not_aged_s));
            // The first calculation that finds the job running: it began, or the daemon did, within the period.
            let before_s = if stretch.first_s == Some(first_s) {
                stretch.before_s
            } else {
                first_s - stretch.times.period_s()
            };
            sum += steps.piece(first_s - before_s.max(span.start_s)) * steps.factor(since(first_s));
            // The others find it running for a complete period.
            sum += steps.series((last_s - first_s).div_euclid(stretch.times.period_s())) * steps.factor(since(last_s));
        }
        if within.start_s < span.end_s && span.end_s <= within.end_s && !self.is_end_lost(span.end_s, within.end_s) {
            // What is added when it ends.
            let last_s = self.last_for_end(span.end_s, within.end_s);
            sum += steps.piece(span.end_s - last_s.max(span.start_s))
                * steps.factor(now_s - self.aged_s(kept, span.end_s)?);
        }
        Some(sum)
    }

    /// The calculation from which the end of a job is counted, as usage is known at an instant.
    fn last_for_end(&self, end_s: i64, at_s: i64) -> i64 {
        let mut known = self.losses.iter().take(self.known_n(at_s)).rev();
        // Nothing was calculated yet since the daemon was killed.
        let killed = known.find(|loss| loss.killed_s < end_s && end_s < loss.again_s);
        killed.map_or_else(|| self.last_at(end_s), |loss| loss.last_s)
    }

    /// Whether what the end of a job added is lost, as usage is known at an instant.
    fn is_end_lost(&self, end_s: i64, at_s: i64) -> bool {
        let mut known = self.losses.iter().take(self.known_n(at_s));
        known.any(|loss| loss.has_end(end_s))
    }

    /// The seconds of a job within a span, without those that are lost, as usage is known at an instant; nothing decays.
    pub(super) fn whole_seconds(&self, span: SecondSpan, within: SecondSpan, known_at_s: i64) -> i64 {
        let common = span.within(within);
        if common.is_empty() {
            return 0;
        }
        let mut counted_s = common.length_s();
        let mut from_s = common.start_s;
        for loss in self.losses.iter().take(self.known_n(known_at_s)) {
            let Some(until_s) = loss.until_s(span.end_s) else {
                continue;
            };
            let lost = common.within(SecondSpan {
                start_s: loss.kept_s.max(from_s),
                end_s: until_s,
            });
            if !lost.is_empty() {
                counted_s -= lost.length_s();
                // Two losses of the same seconds are one.
                from_s = lost.end_s;
            }
        }
        counted_s
    }

    /// For how many seconds usage was not aged, as it is known at an instant.
    #[must_use]
    pub fn not_aged_s(&self, at_s: i64) -> i64 {
        let of_last = |kept: &Kept| {
            Some(
                *kept
                    .not_aged_s
                    .get(self.calculation(kept, self.stretches.len(), at_s)?.0)?,
            )
        };
        // Fallback: never taken, there is a calculation before any instant.
        self.kept_at(at_s).and_then(of_last).unwrap_or(0)
    }
}
