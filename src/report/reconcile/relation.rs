//! How durations of the same jobs on both sides are related.

use super::job::{JobIdentityJob, UNKNOWN};
use crate::numbers::Comparand;

/// One side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Which {
    /// The first account.
    A,
    /// The second account.
    B,
}

impl Which {
    /// Its name in sentences.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// What one side has where the other has the plain duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// It is not known.
    Unknown,
    /// Wall time times cores (of CPU time).
    CoreWall,
    /// Wall time (of CPU time).
    PlainWall,
    /// User time alone (of CPU time).
    UserOnly,
    /// Times cores.
    TimesCores,
    /// The number of hours.
    Hours,
    /// The number of minutes.
    Minutes,
    /// The number of milliseconds.
    Milliseconds,
    /// It differs by less than a second that was rounded.
    Rounded,
    /// Nothing that has a name.
    Other,
}

/// Which of two durations is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationMeasure {
    /// Wall time.
    Wall,
    /// CPU time.
    Cpu,
}

impl RelationMeasure {
    /// Its value, milliseconds.
    fn of(self, job: &JobIdentityJob) -> i64 {
        match self {
            Self::Wall => job.wall_s.product_to_compare(1000),
            Self::Cpu => job.cpu_ms,
        }
    }

    /// Whether two jobs differ in it.
    #[must_use]
    pub fn differs(self, a: &JobIdentityJob, b: &JobIdentityJob) -> bool {
        self.of(a) != self.of(b)
    }
}

/// How sure it is that one job shows a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    /// It may be chance, or rounding.
    Weak,
    Strong,
}

const RELATIONS: [Relation; 9] = [
    Relation::Unknown,
    Relation::Rounded,
    Relation::CoreWall,
    Relation::TimesCores,
    Relation::PlainWall,
    Relation::UserOnly,
    Relation::Hours,
    Relation::Minutes,
    Relation::Milliseconds,
];

/// Two statements of one job.
#[derive(Clone, Copy, Debug)]
pub struct JobPair {
    /// Of A.
    pub a: JobIdentityJob,
    /// Of B.
    pub b: JobIdentityJob,
}

/// What one statement is to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Related {
    /// The relation.
    pub relation: Relation,
    /// Which side has it.
    pub which: Which,
}

/// The relation of each pair, and which side has it: first the one that most pairs show, then that of most of the others.
#[must_use]
pub fn relations(pairs: &[JobPair], measure: RelationMeasure) -> Vec<Related> {
    let other = Related {
        relation: Relation::Other,
        which: Which::B,
    };
    let mut found = vec![other; pairs.len()];
    let mut open: Vec<usize> = (0..pairs.len()).collect();
    while !open.is_empty() {
        let mut best: Option<(usize, Relation, Which)> = None;
        for relation in RELATIONS {
            for which in [Which::B, Which::A] {
                let fits = open
                    .iter()
                    .filter_map(|at| pairs.get(*at))
                    .map(|pair| fit(pair, measure, relation, which));
                let (mut strong_n, mut fit_n) = (0_usize, 0_usize);
                for fit in fits {
                    strong_n += usize::from(fit == Fit::Strong);
                    fit_n += usize::from(fit >= Fit::Weak);
                }
                let is_proven = strong_n > 0 && strong_n * 10 >= fit_n;
                if is_proven && best.is_none_or(|(most, ..)| fit_n > most) {
                    best = Some((fit_n, relation, which));
                }
            }
        }
        let Some((_, relation, which)) = best else { break };
        open.retain(|at| {
            let is_it = pairs
                .get(*at)
                .is_some_and(|pair| fit(pair, measure, relation, which) >= Fit::Weak);
            if let Some(known) = found.get_mut(*at).filter(|_| is_it) {
                *known = Related { relation, which };
            }
            !is_it
        });
    }
    found
}

/// Whether `which` side of a pair has `relation` to the other.
fn fit(JobPair { a, b }: &JobPair, measure: RelationMeasure, relation: Relation, which: Which) -> Fit {
    let (plain, odd) = match which {
        Which::A => (b, a),
        Which::B => (a, b),
    };
    let (x, y) = (measure.of(plain), measure.of(odd));
    let strong = |is_it: bool| if is_it { Fit::Strong } else { Fit::No };
    if relation == Relation::Unknown {
        return strong(y == UNKNOWN && x != UNKNOWN);
    }
    if x == UNKNOWN || y == UNKNOWN {
        return Fit::No;
    }
    let is_cpu = measure == RelationMeasure::Cpu;
    let (x, y) = (i128::from(x), i128::from(y));
    let cores = i128::from(plain.core_n.max(1));
    let wall = |job: &JobIdentityJob| i128::from(job.wall_s) * 1000;
    let core_wall = |job: &JobIdentityJob| wall(job) * i128::from(job.core_n.max(1));
    match relation {
        Relation::Rounded => strong((x - y).abs() < 1000 && y % 1000 == 0 && x % 1000 != 0),
        Relation::CoreWall => strong(is_cpu && y == core_wall(odd) && x != core_wall(plain) && y > 0),
        Relation::PlainWall => strong(is_cpu && odd.core_n > 1 && y == wall(odd) && x != wall(plain) && y > 0),
        Relation::UserOnly => {
            let user = i128::from(plain.cpu_user_ms);
            strong(is_cpu && plain.cpu_user_ms != UNKNOWN && y == user && x != user)
        }
        Relation::TimesCores if cores > 1 && x > 0 => {
            // A part of a second for each core may have been rounded off.
            let off = (y - x * cores).abs();
            match off {
                0 => Fit::Strong,
                _ if off <= cores * 1000 && y > cores * 60_000 => Fit::Strong,
                _ if off <= cores * 1000 => Fit::Weak,
                _ => Fit::No,
            }
        }
        Relation::Hours => unit(x, y, 3600),
        Relation::Minutes => unit(x, y, 60),
        Relation::Milliseconds => unit(y, x, 1000),
        Relation::TimesCores | Relation::Unknown | Relation::Other => Fit::No,
    }
}

/// Whether `few` is `many` in a unit so much larger, rounded to a whole one.
fn unit(many: i128, few: i128, ratio: i128) -> Fit {
    let off = (many - few * ratio).abs();
    match off {
        _ if off > ratio * 1000 || many == few => Fit::No,
        _ if many >= ratio * 10_000 => Fit::Strong,
        _ => Fit::Weak,
    }
}
