//! Why durations of the same jobs differ, where only sums are known.

use super::amount::Amount;
use super::difference_cause::Cause;
use crate::amounts::finer;

/// Two sums of the same number of jobs: of A, with what it lacks, and of B.
#[derive(Clone, Copy, Debug)]
pub struct Durations {
    /// Of A.
    pub p: Amount,
    /// Of B.
    pub b: Amount,
    /// How many durations may have been rounded.
    pub rounded_n: i128,
}

/// What a difference of durations is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationNamed {
    /// Cause.
    pub cause: Cause,
    /// A sentence with the numbers.
    pub words: String,
    /// The unit that one side counts in, where that is why.
    unit: Option<DurationUnit>,
}

/// Whole numbers of a unit in place of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DurationUnit {
    seconds: i128,
    cause: Cause,
    word: &'static str,
    /// Whether B has it, and not A.
    is_b: bool,
}

/// Whether durations differ, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurationFinding {
    /// They do not.
    Same,
    /// For this reason.
    Named(DurationNamed),
    /// No rule explains it.
    Unproven,
}

impl DurationFinding {
    fn named(cause: Cause, words: String) -> Self {
        Self::Named(DurationNamed {
            cause,
            words,
            unit: None,
        })
    }
}

const UNITS: [(i128, Cause, &str); 2] = [
    (3600, Cause::HoursOrSeconds, "hours"),
    (60, Cause::MinutesOrSeconds, "minutes"),
];

impl Durations {
    /// Both directions: what is plain, what is odd, and whether B is the odd one.
    fn both(self) -> [(Amount, Amount, bool); 2] {
        [(self.p, self.b, true), (self.b, self.p, false)]
    }

    /// How far whole numbers of a unit may be off.
    fn off_by(self, seconds: i128) -> i128 {
        finer(seconds, self.rounded_n.max(self.p.job_n).max(1))
    }

    /// Why wall time differs.
    #[must_use]
    pub fn wall(self) -> DurationFinding {
        if self.p.wall_s == self.b.wall_s {
            return DurationFinding::Same;
        }
        for (plain, odd, is_b) in self.both() {
            let which = if is_b { "B" } else { "A" };
            for (seconds, cause, word) in UNITS {
                let off = (plain.wall_s - odd.wall_s * seconds).abs();
                // A few of a unit could be anything.
                if plain.wall_s > seconds * 4 && odd.wall_s * 1000 < plain.wall_s * 20 && off <= self.off_by(seconds) {
                    let words = format!(
                        "wall time of {which} is {} {word} where the other has {} s",
                        odd.wall_s, plain.wall_s
                    );
                    let unit = Some(DurationUnit {
                        seconds,
                        cause,
                        word,
                        is_b,
                    });
                    return DurationFinding::Named(DurationNamed { cause, words, unit });
                }
            }
            if plain.wall_s > 0 && odd.wall_s == plain.wall_s * 1000 {
                let words = format!("wall time of {which} is {} ms", odd.wall_s);
                return DurationFinding::named(Cause::MillisecondsOrSeconds, words);
            }
        }
        for (plain, odd, is_b) in self.both() {
            if plain.core_wall_s == odd.wall_s {
                let which = if is_b { "B" } else { "A" };
                let words = format!(
                    "wall time of {which} is {}: the other's {} s times its cores",
                    odd.wall_s, plain.wall_s
                );
                return DurationFinding::named(Cause::WallTimesCores, words);
            }
        }
        DurationFinding::Unproven
    }

    /// Why CPU time differs, after what was found of wall time.
    #[must_use]
    pub fn cpu(self, wall: &DurationFinding) -> DurationFinding {
        let slack = finer(self.rounded_n, 500);
        let is_near = |x: i128, y: i128| (x - y).abs() <= slack;
        if is_near(self.p.cpu_ms, self.b.cpu_ms) {
            return DurationFinding::Same;
        }
        if let DurationFinding::Named(DurationNamed { unit: Some(unit), .. }) = wall {
            let (many, few) = if unit.is_b {
                (self.p.cpu_ms, self.b.cpu_ms)
            } else {
                (self.b.cpu_ms, self.p.cpu_ms)
            };
            if (many - few * unit.seconds).abs() <= self.off_by(unit.seconds) * 1000 {
                let which = if unit.is_b { "B" } else { "A" };
                let words = format!("CPU time of {which} is {} {} as well", few / 1000, unit.word);
                return DurationFinding::named(unit.cause, words);
            }
        }
        for (plain, odd, is_b) in self.both() {
            let [which, other] = if is_b { ["B", "A"] } else { ["A", "B"] };
            if is_near(odd.cpu_ms, plain.core_cpu_ms) {
                return if odd.cpu_ms * 10 > odd.core_wall_s * 11_000 {
                    let words =
                        format!("CPU time of {which} is that of {other} times cores, more than the cores can do");
                    DurationFinding::named(Cause::CpuTimesCores, words)
                } else {
                    let words = format!("CPU time of {other} is that of {which} divided by cores");
                    DurationFinding::named(Cause::CpuPerCore, words)
                };
            }
        }
        for (plain, odd, is_b) in self.both() {
            let [which, other] = if is_b { ["B", "A"] } else { ["A", "B"] };
            if is_near(odd.cpu_ms, odd.core_wall_s * 1000) && odd.cpu_ms > 0 {
                let words = format!("CPU time of {which} is its wall time times cores");
                return DurationFinding::named(Cause::CpuFromWall, words);
            }
            if odd.cpu_ms == 0 {
                return DurationFinding::named(Cause::CpuUnknown, format!("{which} has no CPU time"));
            }
            for (seconds, cause, word) in UNITS {
                let off = (plain.cpu_ms - odd.cpu_ms * seconds).abs();
                let is_some = plain.cpu_ms > seconds * 10_000 && odd.cpu_ms > 0 && off * 10 < plain.cpu_ms;
                if is_some && off <= self.off_by(seconds) * 1000 {
                    let words = format!("CPU time of {which} is the number of {word} of {other}");
                    return DurationFinding::named(cause, words);
                }
            }
            if plain.cpu_ms > 0 && is_near(odd.cpu_ms, plain.cpu_ms * 1000) {
                let words = format!("CPU time of {which} is the number of milliseconds of {other}");
                return DurationFinding::named(Cause::MillisecondsOrSeconds, words);
            }
        }
        DurationFinding::Unproven
    }
}
