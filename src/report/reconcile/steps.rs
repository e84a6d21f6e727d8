//! What two statements of one job differ in, step by step from A to B: the name, the month, wall time, cores, CPU time, the
//! factor. The steps add up to the difference.

use crate::numbers::Comparand;

use std::collections::BTreeMap;

use super::amount::Amount;
use super::difference_cause::Cause;
use super::factor;
use super::job::{JobIdentityJob, JobIdentityNames, JobIdentityPlace};
use super::pairing::Way;
use super::relation::{JobPair, Related, Relation, RelationMeasure, Which, relations};
use super::shares::CauseShares;
use super::usage_source::UsageSource;

/// Two counted statements of one job.
#[derive(Clone, Copy, Debug)]
pub struct Mates {
    /// Theirs.
    pub jobs: JobPair,
    /// By what they were found.
    pub way: Way,
}

/// Adds what the pairs differ in.
pub fn add(mates: &[Mates], sides: [&UsageSource; 2], names: &JobIdentityNames, into: &mut CauseShares) {
    let mut by_place: BTreeMap<JobIdentityPlace, Vec<JobPair>> = BTreeMap::new();
    for mates in mates {
        let JobPair { a, b } = &mates.jobs;
        moved(a, b, names, into);
        let moved = JobIdentityJob { place: b.place, ..*a };
        // Both times apart by the same are those of another zone; an id that differs is no evidence about versions.
        let apart =
            [(a.start_ms, b.start_ms), (a.end_ms, b.end_ms)].map(|(of_a, of_b)| of_b.difference_to_compare(of_a));
        let is_version = mates.way != Way::Renumbered && apart[0] != apart[1];
        if is_version && a.amount().without_work() != b.amount().without_work() {
            version(&moved, b, into);
            let same = JobIdentityJob {
                wall_s: b.wall_s,
                core_n: b.core_n,
                cpu_ms: b.cpu_ms,
                ..moved
            };
            by_place.entry(b.place).or_default().push(JobPair { a: same, b: *b });
        } else {
            by_place.entry(b.place).or_default().push(JobPair { a: moved, b: *b });
        }
    }
    for (place, pairs) in by_place {
        values(place, pairs, sides, names, into);
    }
}

/// Another site, VO or month.
fn moved(a: &JobIdentityJob, b: &JobIdentityJob, names: &JobIdentityNames, into: &mut CauseShares) {
    let amount = a.amount();
    let less = Amount::default().minus(amount);
    let between = JobIdentityPlace {
        month: a.place.month,
        ..b.place
    };
    let called = |job: &JobIdentityJob| {
        let (site, vo) = (names.text(job.spelled.0), names.text(job.spelled.1));
        format!("{site}/{}", if vo.is_empty() { "(no VO)" } else { vo })
    };
    if a.place != between {
        let is_corrected = a.place.site == b.place.site && a.own_vo == b.own_vo;
        let (cause, what) = if is_corrected {
            (Cause::Correction, "a correction moves")
        } else {
            (Cause::OtherName, "the name is another:")
        };
        let detail = format!("{what} {} of A is {} of B", called(a), called(b));
        into.add(a.place, cause, detail.clone(), less, Which::A, a);
        into.add(between, cause, detail, amount, Which::B, b);
    } else if a.spelled != b.spelled && called(a) != called(b) {
        let detail = format!("A writes {}, B {}", called(a), called(b));
        into.add(b.place, Cause::CaseOfNames, detail, Amount::default(), Which::B, b);
    }
    if b.place != between {
        let minutes = b.end_ms.difference_to_compare(a.end_ms) / 60_000;
        let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
        let how = if minutes < 0 { "earlier" } else { "later" };
        let detail = format!(
            "times of B are {hours:02}:{rest:02} h {how}, months {} and {}",
            between.month, b.place.month
        );
        into.add(between, Cause::MonthBoundary, detail.clone(), less, Which::A, a);
        into.add(b.place, Cause::MonthBoundary, detail, amount, Which::B, b);
    }
}

fn version(a: &JobIdentityJob, b: &JobIdentityJob, into: &mut CauseShares) {
    let then = JobIdentityJob { level: a.level, ..*b };
    let detail = if b.end_ms < a.end_ms || b.start_ms > a.start_ms {
        "B has a version that ran shorter"
    } else {
        "B has a version that ran longer"
    };
    let amount = then.amount().minus(a.amount());
    into.add(b.place, Cause::OtherVersion, detail.to_owned(), amount, Which::B, b);
}

/// Wall time, cores, CPU time and factor of pairs at one place.
fn values(
    place: JobIdentityPlace,
    mut pairs: Vec<JobPair>,
    sides: [&UsageSource; 2],
    names: &JobIdentityNames,
    into: &mut CauseShares,
) {
    durations(place, &mut pairs, RelationMeasure::Wall, into);
    cores(place, &mut pairs, into);
    durations(place, &mut pairs, RelationMeasure::Cpu, into);
    for JobPair { a, b } in pairs.iter().filter(|pair| pair.a.level != pair.b.level) {
        let amount = b.amount().minus(a.amount());
        if amount != Amount::default() {
            let (cause, detail) = factor::of_job(a, b, sides, names);
            into.add(place, cause, detail, amount, Which::B, b);
        }
    }
}

/// Steps from one duration to the other; afterwards the pairs agree in it.
fn durations(place: JobIdentityPlace, pairs: &mut [JobPair], measure: RelationMeasure, into: &mut CauseShares) {
    let differing: Vec<JobPair> = pairs
        .iter()
        .filter(|pair| measure.differs(&pair.a, &pair.b))
        .copied()
        .collect();
    let related = relations(&differing, measure);
    let is_too_much = |which: Which| is_above_wall(&differing, &related, which);
    let too_much = [Which::A, Which::B].map(|which| (which, is_too_much(which)));
    let ratio = common_ratio(&differing, &related, measure);
    for (JobPair { a, b }, Related { relation, which }) in differing.iter().zip(&related) {
        let then = match measure {
            RelationMeasure::Wall => JobIdentityJob { wall_s: b.wall_s, ..*a },
            RelationMeasure::Cpu => JobIdentityJob { cpu_ms: b.cpu_ms, ..*a },
        };
        let has = too_much.iter().any(|(of, is_it)| of == which && *is_it);
        let (cause, detail) = named(*relation, *which, measure, has, ratio.as_deref());
        into.add(place, cause, detail, then.amount().minus(a.amount()), Which::B, b);
    }
    for JobPair { a, b } in pairs {
        match measure {
            RelationMeasure::Wall => a.wall_s = b.wall_s,
            RelationMeasure::Cpu => a.cpu_ms = b.cpu_ms,
        }
    }
}

fn cores(place: JobIdentityPlace, pairs: &mut [JobPair], into: &mut CauseShares) {
    for JobPair { a, b } in pairs {
        if a.core_n != b.core_n {
            let then = JobIdentityJob { core_n: b.core_n, ..*a };
            let known = |n: i64| if n > 0 { n.to_string() } else { "unknown".to_owned() };
            let detail = format!("cores are {} in A, {} in B", known(a.core_n), known(b.core_n));
            let amount = then.amount().minus(a.amount());
            into.add(place, Cause::OtherCores, detail, amount, Which::B, b);
            a.core_n = b.core_n;
        }
    }
}

/// Whether the CPU times that are times cores on one side are more than cores can do there.
fn is_above_wall(pairs: &[JobPair], related: &[Related], which: Which) -> bool {
    let (mut cpu_ms, mut core_wall_ms) = (0_i128, 0_i128);
    for (pair, related) in pairs.iter().zip(related) {
        if related.relation == Relation::TimesCores && related.which == which {
            let job = if which == Which::A { &pair.a } else { &pair.b };
            cpu_ms += i128::from(job.cpu_ms.max(0));
            core_wall_ms += i128::from(job.wall_s) * 1000 * i128::from(job.core_n.max(1));
        }
    }
    cpu_ms * 10 > core_wall_ms * 11
}

/// The one share of A that B has in all pairs that no relation names, if there is one.
fn common_ratio(pairs: &[JobPair], related: &[Related], measure: RelationMeasure) -> Option<String> {
    let of = |job: &JobIdentityJob| {
        i128::from(if measure == RelationMeasure::Wall {
            job.wall_s
        } else {
            job.cpu_ms / 1000
        })
    };
    let others = pairs
        .iter()
        .zip(related)
        .filter(|(_, related)| related.relation == Relation::Other);
    let (mut sum_a, mut sum_b) = (0, 0);
    for (pair, _) in others.clone() {
        sum_a += of(&pair.a);
        sum_b += of(&pair.b);
    }
    if sum_a <= 0 {
        return None;
    }
    let mut each = others.map(|(pair, _)| (of(&pair.b) * sum_a - of(&pair.a) * sum_b).abs() <= 2 * sum_a.max(sum_b));
    let ratio = crate::report::table::Cell::ratio(sum_b, sum_a, 4);
    each.all(|is_near| is_near).then(|| ratio.to_string())
}

fn named(
    relation: Relation,
    which: Which,
    measure: RelationMeasure,
    is_above_wall: bool,
    ratio: Option<&str>,
) -> (Cause, String) {
    let (odd, plain) = (which.as_str(), which.other().as_str());
    let what = match measure {
        RelationMeasure::Wall => "wall time",
        RelationMeasure::Cpu => "CPU time",
    };
    match (relation, measure) {
        (Relation::Unknown, _) => (Cause::CpuUnknown, format!("{odd} does not know the {what}")),
        (Relation::CoreWall, _) => (
            Cause::CpuFromWall,
            format!("CPU time of {odd} is its wall time times cores"),
        ),
        (Relation::PlainWall, _) => (Cause::CpuFromWall, format!("CPU time of {odd} is its wall time")),
        (Relation::UserOnly, _) => (Cause::CpuUserOnly, format!("CPU time of {odd} is user time alone")),
        (Relation::TimesCores, RelationMeasure::Wall) => (
            Cause::WallTimesCores,
            format!("wall time of {odd} is that of {plain} times cores"),
        ),
        (Relation::TimesCores, RelationMeasure::Cpu) if is_above_wall => (
            Cause::CpuTimesCores,
            format!("CPU time of {odd} is that of {plain} times cores, more than the cores can do"),
        ),
        (Relation::TimesCores, RelationMeasure::Cpu) => (
            Cause::CpuPerCore,
            format!("CPU time of {plain} is that of {odd} divided by cores"),
        ),
        (Relation::Hours, _) => (
            Cause::HoursOrSeconds,
            format!("{what} of {odd} is the number of hours of {plain}"),
        ),
        (Relation::Minutes, _) => (
            Cause::MinutesOrSeconds,
            format!("{what} of {odd} is the number of minutes of {plain}"),
        ),
        (Relation::Milliseconds, _) => (
            Cause::MillisecondsOrSeconds,
            format!("{what} of {odd} is the number of milliseconds of {plain}"),
        ),
        (Relation::Rounded, _) => (Cause::Rounding, format!("{what} of {odd} is rounded to seconds")),
        (Relation::Other, _) => {
            let how = ratio.map_or_else(|| "differs".to_owned(), |ratio| format!("of B is {ratio} of A's"));
            let cause = if measure == RelationMeasure::Wall {
                Cause::OtherWall
            } else {
                Cause::OtherCpu
            };
            (cause, format!("{what} {how}"))
        }
    }
}
