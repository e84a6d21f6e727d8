//! Runs of a scheduler's daemon: starts, stops and kills, worked out by hand and by a plain loop over seconds.

use std::sync::Arc;

use gridtally::fairshare::{
    CalculationTimes, ChainedDecay, DaemonRun, DaemonRuns, DecaySteps, HalfLife, RunEnd, UsageDecay, UsageRule,
    UsageSegment,
};
use gridtally::time::SecondSpan;
use proptest::collection::vec;
use proptest::prelude::*;

/// A half-life for which a second leaves .999 of usage.
const HALF_LIFE_S: u32 = 693;
const PERIOD_S: u32 = 60;
const E6: f64 = 1e6;

fn times() -> CalculationTimes {
    CalculationTimes::new(PERIOD_S, 0).unwrap()
}

fn rule(runs: &[DaemonRun]) -> UsageRule {
    let half_life = HalfLife::of_seconds(HALF_LIFE_S).unwrap();
    UsageRule {
        runs: DaemonRuns::new(times(), runs).map(Arc::new),
        ..UsageRule::of_decay(UsageDecay::steps(DecaySteps::at(half_life, times())))
    }
}

fn job(start_s: i64, end_s: i64) -> UsageSegment {
    UsageSegment {
        span: SecondSpan { start_s, end_s },
        rate_e9: 1_000_000_000,
        factor_e9: 1_000_000_000,
    }
}

fn usage(rule: &UsageRule, job: &UsageSegment, at_s: i64) -> f64 {
    let usage_e6 = rule.usage_e6(job, at_s).unwrap();
    usage_e6.to_string().parse::<f64>().unwrap() / E6
}

/// What is left after so many seconds.
fn left(seconds: i32) -> f64 {
    0.999_f64.powi(seconds)
}

/// So many seconds of a job, as they are added at once.
fn piece(seconds: i32) -> f64 {
    f64::from(seconds) * left(seconds)
}

#[track_caller]
fn assert_is(found: f64, expected: f64) {
    assert!((found - expected).abs() < 2e-6, "{found} is not {expected}");
}

fn started(start_s: i64) -> DaemonRun {
    DaemonRun::started_at(start_s)
}

fn killed(start_s: i64, at_s: i64) -> DaemonRun {
    DaemonRun {
        end: Some(RunEnd::Killed {
            at_s,
            saved_s: DaemonRun::last_save_s(start_s, at_s),
            calculated_s: None,
        }),
        ..started(start_s)
    }
}

/// Calculations at 0, 60, then at the start at 100, and at 160.
#[test]
fn a_start_has_calculations_of_its_own_and_makes_up_for_the_time_since_the_last_one() {
    let rule = rule(&[started(0), started(100)]);
    assert_is(usage(&rule, &job(0, 1000), 99), piece(60));
    assert_is(usage(&rule, &job(0, 1000), 100), piece(60) * left(40) + piece(40));
    let at_170 = (piece(60) * left(40) + piece(40)) * left(60) + piece(60);
    assert_is(usage(&rule, &job(0, 1000), 170), at_170);
    // A job that ended when the daemon did not run is counted in full when it is up again.
    let stopped = DaemonRun {
        end: Some(RunEnd::Stopped { at_s: 70 }),
        ..started(0)
    };
    let rule = self::rule(&[stopped, started(100)]);
    assert_is(usage(&rule, &job(0, 90), 100), (piece(60) + piece(30)) * left(40));
    let no_decay = UsageRule {
        decay: UsageDecay::Chained(ChainedDecay::None),
        ..rule
    };
    assert_is(usage(&no_decay, &job(0, 90), 100), 90.0);
}

/// Killed at 130 before it saved anything, and started again at 150: the calculations at 0, 60 and 120 are lost, and the last of
/// them is what the next start ages usage from.
#[test]
fn what_a_killed_daemon_had_not_saved_is_neither_aged_nor_counted() {
    let rule = rule(&[killed(0, 130), started(150)]);
    let (running, ended, later, idle) = (job(0, 1000), job(0, 125), job(0, 140), job(-100, -70));
    // Until then it is as it was.
    assert_is(usage(&rule, &ended, 130), piece(60) * left(60) + piece(60) + piece(5));
    assert_is(usage(&rule, &idle, 130), piece(30) * left(240));
    // From the next start on it is not.
    assert_is(usage(&rule, &running, 155), piece(30));
    assert_is(usage(&rule, &ended, 155), 0.0);
    assert_is(usage(&rule, &later, 155), piece(20) * left(30));
    assert_is(usage(&rule, &idle, 155), piece(30) * left(60) * left(30));
    assert_eq!(rule.runs.as_ref().unwrap().not_aged_s(155), 180);
    assert_eq!(rule.runs.as_ref().unwrap().not_aged_s(149), 0);
    assert_is(usage(&rule, &running, 215), piece(30) * left(60) + piece(60));
    let aged = rule.aged_e6(1_000_000_000, 155, 215).unwrap().unwrap();
    assert_is(aged.to_string().parse::<f64>().unwrap() / E6, 1000.0 * left(60));
    // Nothing decays: the same seconds are lost.
    let no_decay = UsageRule {
        decay: UsageDecay::Chained(ChainedDecay::None),
        ..rule
    };
    assert_is(usage(&no_decay, &running, 155), 35.0);
    assert_is(usage(&no_decay, &ended, 155), 0.0);
    assert_is(usage(&no_decay, &later, 155), 20.0);
    assert_is(usage(&no_decay, &ended, 140), 125.0);
}

/// Killed at 700: Slurm saved usage at 600, in the second of a calculation.
#[test]
fn a_daemon_that_ran_for_longer_loses_what_came_after_its_last_save() {
    assert_eq!(DaemonRun::last_save_s(0, 700), 600);
    assert_eq!(DaemonRun::last_save_s(50, 349), 49);
    let rule = rule(&[killed(0, 700), started(800)]);
    // The calculation at 660 is lost, with 60 seconds of decay; the one at 800 ages by the 140 since then.
    assert_is(usage(&rule, &job(540, 600), 800), piece(60) * left(140));
    assert_is(usage(&rule, &job(600, 10_000), 800), piece(140));
    assert_is(usage(&rule, &job(540, 650), 800), piece(60) * left(140));
}

/// The state of before the run is restored: the next start takes the calculation before it for the last one.
#[test]
fn a_restored_state_makes_up_for_all_that_was_lost() {
    let restored = DaemonRun {
        end: Some(RunEnd::Killed {
            at_s: 130,
            saved_s: -1,
            calculated_s: Some(-60),
        }),
        ..started(0)
    };
    let rule = rule(&[restored, started(150)]);
    assert_is(
        usage(&rule, &job(-70, 1000), 140),
        piece(10) * left(180) + piece(60) * (left(120) + left(60) + 1.0),
    );
    assert_is(usage(&rule, &job(-70, 1000), 155), piece(10) * left(210) + piece(210));
    assert_is(usage(&rule, &job(-100, -70), 155), piece(30) * left(60) * left(210));
    // It ended after the kill.
    assert_is(usage(&rule, &job(100, 140), 155), piece(40) * left(210));
    assert_eq!(rule.runs.as_ref().unwrap().not_aged_s(155), 0);
}

#[test]
fn runs_that_contradict_themselves_are_none() {
    let why = |runs: &[DaemonRun]| DaemonRun::contradiction(runs).map(|(at, why)| format!("{at} {why}"));
    assert_eq!(why(&[started(0), killed(10, 20), started(20)]), None);
    for (runs, expected) in [
        (vec![started(10), started(0)], "1 it starts before"),
        (vec![killed(0, 30), started(20)], "1 it starts while"),
        (vec![started(0), started(0)], "1 it starts with"),
        (vec![killed(30, 20)], "0 it ends before"),
        (
            vec![DaemonRun {
                calculated_s: -1,
                ..started(0)
            }],
            "0 its first calculation",
        ),
    ] {
        let found = why(&runs).unwrap_or_default();
        assert!(found.starts_with(expected), "{found}");
        assert_eq!(DaemonRuns::new(times(), &runs), None);
    }
    assert_eq!(DaemonRuns::new(times(), &[]), None);
}

/// A daemon, second by second: usage in memory and in its file, and the file of the last calculation.
struct PlainDaemon {
    usage: f64,
    saved: f64,
    last_s: i64,
}

impl PlainDaemon {
    fn calculate(&mut self, job: SecondSpan, at_s: i64) {
        self.usage *= left(i32::try_from(at_s - self.last_s).unwrap());
        if job.start_s < at_s && at_s <= job.end_s {
            self.usage += piece(i32::try_from(at_s - self.last_s.max(job.start_s)).unwrap());
        }
        self.last_s = at_s;
    }

    /// Usage of a job that starts at 0 or later, at an instant.
    fn usage(runs: &[DaemonRun], job: SecondSpan, at_s: i64) -> f64 {
        let mut daemon = Self {
            usage: 0.0,
            saved: 0.0,
            last_s: runs[0].calculated_s - i64::from(PERIOD_S),
        };
        let is_up = |run: &DaemonRun, second: i64, next: Option<&DaemonRun>| {
            let until_s = run.end_s().or(next.map(|next| next.start_s - 1)).unwrap_or(i64::MAX);
            (run.start_s..=until_s).contains(&second)
        };
        for second in 0..=at_s {
            let up: Vec<usize> = (0..runs.len())
                .filter(|at| is_up(&runs[*at], second, runs.get(at + 1)))
                .collect();
            for (nth, at) in up.iter().enumerate() {
                let run = &runs[*at];
                let since = second - run.calculated_s;
                if since >= 0 && since % i64::from(PERIOD_S) == 0 {
                    daemon.calculate(job, second);
                }
                if nth == 0 {
                    daemon.end(job, second);
                }
                match run.end {
                    Some(RunEnd::Killed {
                        at_s,
                        saved_s,
                        calculated_s,
                    }) => {
                        if saved_s == second {
                            daemon.saved = daemon.usage;
                        }
                        if at_s == second {
                            daemon.usage = daemon.saved;
                            daemon.last_s = calculated_s.unwrap_or(daemon.last_s);
                        }
                    }
                    _ => daemon.saved = daemon.usage,
                }
            }
            if up.is_empty() {
                daemon.end(job, second);
                daemon.saved = daemon.usage;
            }
        }
        daemon.usage
    }

    fn end(&mut self, job: SecondSpan, second: i64) {
        if job.end_s == second {
            self.usage += piece(i32::try_from(second - self.last_s.max(job.start_s)).unwrap());
        }
    }
}

/// Runs one after the other: how long each is up, how long nothing runs after it, and what its first calculation takes.
fn any_runs() -> impl Strategy<Value = Vec<DaemonRun>> {
    vec((1_i64..900, 1_i64..200, 0_i64..4, 0..3), 1..5).prop_map(|of_runs| {
        let mut start_s = 0;
        let mut runs = Vec::new();
        for (up_s, down_s, delay_s, ended) in of_runs {
            let at_s = start_s + up_s;
            let saved_s = DaemonRun::last_save_s(start_s, at_s);
            runs.push(DaemonRun {
                start_s,
                calculated_s: start_s + delay_s,
                end: Some(match ended {
                    0 => RunEnd::Stopped { at_s },
                    // Both files of one time, or that of the last calculation newer.
                    ended => RunEnd::Killed {
                        at_s,
                        saved_s,
                        calculated_s: (ended == 1).then_some(saved_s),
                    },
                }),
            });
            start_s = at_s + down_s;
        }
        runs.push(started(start_s));
        runs
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn usage_is_that_of_a_daemon_that_is_followed_second_by_second(
        runs in any_runs(), start_s in 0_i64..4000, length_s in 1_i64..3000, more_s in 0_i64..2000,
    ) {
        let last = runs.last().unwrap().start_s;
        let at_s = last + more_s;
        let span = SecondSpan { start_s, end_s: start_s + length_s };
        let before = times().anchored_at(runs[0].calculated_s);
        let rule = UsageRule {
            runs: DaemonRuns::new(before, &runs).map(Arc::new),
            ..rule(&[])
        };
        let found = usage(&rule, &job(span.start_s, span.end_s), at_s);
        let expected = PlainDaemon::usage(&runs, span, at_s);
        prop_assert!((found - expected).abs() < 1e-5, "{found} is not {expected}: {runs:?} {span:?} {at_s}");
    }

    /// Starts at instants of the grid change nothing, and neither does a list without runs.
    #[test]
    fn starts_on_the_grid_are_the_grid(
        starts in vec(0_i64..100, 1..6), start_s in -1000_i64..4000, length_s in 1_i64..3000, at_s in 0_i64..8000,
    ) {
        let mut starts = starts;
        starts.sort_unstable();
        starts.dedup();
        let runs: Vec<DaemonRun> = starts.iter().map(|start| started(start * i64::from(PERIOD_S))).collect();
        let job = job(start_s, start_s + length_s);
        let (plain, of_runs) = (rule(&[]), rule(&runs));
        prop_assert!(plain.runs.is_none() && of_runs.runs.is_some());
        prop_assert!((usage(&plain, &job, at_s) - usage(&of_runs, &job, at_s)).abs() < 2e-6);
        let aged = |rule: &UsageRule| rule.aged_e6(1_000_000_000, at_s - 700, at_s).unwrap().unwrap();
        prop_assert!((aged(&plain) - aged(&of_runs)).abs() <= 1);
    }

    /// Usage of an instant follows from that of an earlier one, and what was added since, wherever none of both is lost.
    #[test]
    fn usage_continues_from_an_earlier_instant(
        runs in any_runs(), start_s in 0_i64..4000, length_s in 1_i64..3000, from_s in 0_i64..1000, more_s in 0_i64..1000,
    ) {
        let last = runs.last().unwrap().start_s;
        let (from_s, at_s) = (last + from_s, last + from_s + more_s);
        let (rule, job) = (rule(&runs), job(start_s, start_s + length_s));
        let before_e6 = rule.usage_e6(&job, from_s).unwrap();
        let continued_e6 = rule.aged_e6(before_e6, from_s, at_s).unwrap().unwrap() + rule.added_e6(&job, from_s, at_s).unwrap();
        prop_assert!((continued_e6 - rule.usage_e6(&job, at_s).unwrap()).abs() <= 2);
    }
}
