//! Which job of one side is which of the other.
//!
//! From what leaves no doubt to what is left: the identity of a lake, id and times, id and one of the times, times moved by
//! a zone, the id alone, times alone. Each rule looks only at jobs that no rule before it found. Counted jobs find each
//! other before those find a mate that one side holds and does not count.

use super::job::{JobIdentityJob, UNKNOWN};
use crate::numbers::Comparand;

/// How two jobs are known to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Identity, or id and both times.
    Same,
    /// Id and one of the times: another version of it.
    Version,
    /// Id and duration, at times moved by a multiple of a quarter of an hour.
    Shifted,
    /// The id alone, which no other job of the month has.
    Number,
    /// Times and durations: its id is another.
    Renumbered,
}

/// Two jobs that are one: their places on either side.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// In A.
    pub a: usize,
    /// In B.
    pub b: usize,
    /// How that is known.
    pub way: Way,
}

/// Zones differ by no more, and are apart by multiples of a quarter of an hour.
const ZONES_MS: i64 = 27 * 3_600_000;
const QUARTER_MS: i64 = 900_000;

type PairingKey = [i128; 4];

struct PairingRule {
    way: Way,
    key: fn(&JobIdentityJob) -> Option<PairingKey>,
    accept: fn(&JobIdentityJob, &JobIdentityJob) -> bool,
    is_alone: bool,
}

fn any(_: &JobIdentityJob, _: &JobIdentityJob) -> bool {
    true
}

fn number(job: &JobIdentityJob) -> Option<i128> {
    (job.number != 0).then_some(i128::from(job.number))
}

fn known(instant: i64) -> Option<i128> {
    (instant != UNKNOWN).then_some(i128::from(instant))
}

fn site(job: &JobIdentityJob) -> i128 {
    i128::from(job.place.site)
}

/// Whether both times of two jobs are apart by one offset that a zone can make.
fn is_shifted(a: &JobIdentityJob, b: &JobIdentityJob) -> bool {
    let by = b.end_ms.difference_to_compare(a.end_ms);
    let is_same = a.start_ms == UNKNOWN || b.start_ms == UNKNOWN || b.start_ms.difference_to_compare(a.start_ms) == by;
    by != 0 && by % QUARTER_MS == 0 && by.abs() <= ZONES_MS && is_same
}

/// By how much times are moved, without which they are the same.
fn shifted(job: &JobIdentityJob) -> Option<PairingKey> {
    let end = known(job.end_ms)?;
    let start = known(job.start_ms).map_or(-1, |start| start.rem_euclid(i128::from(QUARTER_MS)));
    Some([
        number(job)?,
        i128::from(job.wall_s),
        end.rem_euclid(i128::from(QUARTER_MS)),
        start,
    ])
}

fn at_times(job: &JobIdentityJob) -> Option<PairingKey> {
    Some([number(job)?, known(job.start_ms)?, known(job.end_ms)?, 0])
}

/// Site and VO, times and durations.
fn alike(job: &JobIdentityJob) -> Option<PairingKey> {
    let ran = job.wall_s > 0 && job.cpu_ms != UNKNOWN;
    let times = known(job.start_ms).zip(known(job.end_ms)).filter(|_| ran);
    let who = (site(job) << 32) + i128::from(job.place.vo);
    let spent = (i128::from(job.wall_s) << 64) + i128::from(job.cpu_ms);
    times.map(|(start, end)| [who, start, end, spent])
}

const RULES: [PairingRule; 14] = [
    PairingRule {
        way: Way::Same,
        key: |job| {
            let halves = [job.record >> 64, job.record & u128::from(u64::MAX)];
            let [high, low] = halves.map(u128::cast_signed);
            (job.record != 0).then_some([high, low, 0, 0])
        },
        accept: any,
        is_alone: false,
    },
    PairingRule {
        way: Way::Same,
        key: |job| at_times(job).map(|[number, start, end, _]| [number, start, end, site(job)]),
        accept: any,
        is_alone: false,
    },
    PairingRule {
        way: Way::Same,
        key: |job| (job.global != 0).then(|| Some([i128::from(job.global), known(job.end_ms)?, 0, 0]))?,
        accept: any,
        is_alone: false,
    },
    PairingRule {
        way: Way::Same,
        key: at_times,
        accept: any,
        is_alone: false,
    },
    PairingRule {
        way: Way::Shifted,
        key: |job| shifted(job).map(|[number, wall, end, start]| [number, wall, end + start * 1_000_000, site(job)]),
        accept: is_shifted,
        is_alone: false,
    },
    PairingRule {
        way: Way::Shifted,
        key: shifted,
        accept: is_shifted,
        is_alone: false,
    },
    PairingRule {
        way: Way::Version,
        key: |job| Some([number(job)?, known(job.start_ms)?, site(job), 1]),
        accept: any,
        is_alone: false,
    },
    PairingRule {
        way: Way::Version,
        key: |job| Some([number(job)?, known(job.end_ms)?, site(job), 2]),
        accept: any,
        is_alone: false,
    },
    PairingRule {
        way: Way::Version,
        key: |job| Some([number(job)?, known(job.submit_ms)?, site(job), 3]),
        accept: any,
        is_alone: true,
    },
    PairingRule {
        way: Way::Version,
        key: |job| Some([number(job)?, known(job.start_ms)?, 4, 0]),
        accept: any,
        is_alone: true,
    },
    PairingRule {
        way: Way::Version,
        key: |job| Some([number(job)?, known(job.end_ms)?, 5, 0]),
        accept: any,
        is_alone: true,
    },
    PairingRule {
        way: Way::Number,
        key: |job| Some([number(job)?, site(job), i128::from(job.cluster), 6]),
        accept: |a, b| a.start_ms != UNKNOWN && b.start_ms != UNKNOWN,
        is_alone: true,
    },
    PairingRule {
        way: Way::Renumbered,
        key: alike,
        accept: |a, b| a.core_n == b.core_n,
        is_alone: true,
    },
    PairingRule {
        way: Way::Renumbered,
        key: |job| {
            Some([
                known(job.start_ms)?,
                known(job.end_ms)?,
                site(job),
                i128::from(job.core_n),
            ])
        },
        accept: any,
        is_alone: true,
    },
];

/// All pairs of two sides.
#[must_use]
pub fn pairs(a: &[JobIdentityJob], b: &[JobIdentityJob]) -> Vec<Pair> {
    let mut found = Vec::new();
    let (mut free_a, mut free_b) = (vec![true; a.len()], vec![true; b.len()]);
    for [counted_a, counted_b] in [[true, true], [true, false], [false, true]] {
        for rule in &RULES {
            let of_a = entries(a, &free_a, rule, counted_a);
            let of_b = entries(b, &free_b, rule, counted_b);
            for (one, other) in groups(&of_a, &of_b) {
                if rule.is_alone && (one.len(), other.len()) != (1, 1) {
                    continue;
                }
                for (at_a, at_b) in mates(one, other, a, b, rule.accept) {
                    if let (Some(is_free_a), Some(is_free_b)) = (free_a.get_mut(at_a), free_b.get_mut(at_b)) {
                        (*is_free_a, *is_free_b) = (false, false);
                    }
                    found.push(Pair {
                        a: at_a,
                        b: at_b,
                        way: rule.way,
                    });
                }
            }
        }
    }
    found
}

/// A second key among jobs of one key: jobs equal in it are paired first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PairingOrder {
    end_ms: i64,
    start_ms: i64,
    wall_s: i64,
    cpu_ms: i64,
    site: u32,
    vo: u32,
}

/// A job, sorted in the order of the fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PairingEntry {
    key: PairingKey,
    order: PairingOrder,
    /// Its place among the jobs of its side.
    at: usize,
}

fn entries(jobs: &[JobIdentityJob], is_free: &[bool], rule: &PairingRule, is_counted: bool) -> Vec<PairingEntry> {
    let free = jobs
        .iter()
        .zip(is_free)
        .enumerate()
        .filter(|(_, (_, is_free))| **is_free);
    let mut entries: Vec<PairingEntry> = free
        .filter(|(_, (job, _))| job.standing.is_counted() == is_counted)
        .filter_map(|(at, (job, _))| {
            Some(PairingEntry {
                key: (rule.key)(job)?,
                order: order(job),
                at,
            })
        })
        .collect();
    entries.sort_unstable();
    entries
}

fn order(job: &JobIdentityJob) -> PairingOrder {
    PairingOrder {
        end_ms: job.end_ms,
        start_ms: job.start_ms,
        wall_s: job.wall_s,
        cpu_ms: job.cpu_ms,
        site: job.place.site,
        vo: job.place.vo,
    }
}

/// The entries of both sides that have one key.
fn groups<'e>(
    a: &'e [PairingEntry],
    b: &'e [PairingEntry],
) -> impl Iterator<Item = (&'e [PairingEntry], &'e [PairingEntry])> {
    let mut rest = b;
    a.chunk_by(|one, next| one.key == next.key).filter_map(move |group| {
        let key = group.first()?.key;
        let skipped = rest.partition_point(|other| other.key < key);
        let (_, from) = rest.split_at_checked(skipped)?;
        let same = from.partition_point(|other| other.key == key);
        let (own, after) = from.split_at_checked(same)?;
        rest = after;
        (!own.is_empty()).then_some((group, own))
    })
}

/// Those alike in everything first, then the others in their order.
fn mates(
    one: &[PairingEntry],
    other: &[PairingEntry],
    a: &[JobIdentityJob],
    b: &[JobIdentityJob],
    accept: fn(&JobIdentityJob, &JobIdentityJob) -> bool,
) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let is_accepted = |at_a: usize, at_b: usize| a.get(at_a).zip(b.get(at_b)).is_some_and(|(a, b)| accept(a, b));
    let mut others = other.iter().peekable();
    let (mut left_a, mut left_b) = (Vec::new(), Vec::new());
    for entry in one {
        while let Some(before) = others.next_if(|other| other.order < entry.order) {
            left_b.push(before.at);
        }
        match others.next_if(|other| other.order == entry.order && is_accepted(entry.at, other.at)) {
            Some(mate) => found.push((entry.at, mate.at)),
            None => left_a.push(entry.at),
        }
    }
    left_b.extend(others.map(|other| other.at));
    let zipped = left_a.into_iter().zip(left_b);
    found.extend(zipped.filter(|(at_a, at_b)| is_accepted(*at_a, *at_b)));
    found
}

/// Which of the jobs that found no mate are jobs of the same side over again. `has_mate` are those that found one; jobs of
/// two sites may have one number and the same times, unless one of both is a site the other side does not know.
#[must_use]
pub fn copies(jobs: &[JobIdentityJob], has_mate: &[bool], knows_site: impl Fn(u32) -> bool) -> Vec<bool> {
    let mut is_copy = vec![false; jobs.len()];
    let keys: [fn(&JobIdentityJob) -> Option<PairingKey>; 3] = [at_times, shifted, alike];
    for (nth, key) in keys.into_iter().enumerate() {
        let mut entries: Vec<(PairingKey, bool, usize)> = jobs
            .iter()
            .zip(has_mate)
            .enumerate()
            .filter(|(_, (job, _))| job.standing.is_counted())
            .filter_map(|(at, (job, has_mate))| Some((key(job)?, !has_mate, at)))
            .collect();
        entries.sort_unstable();
        for group in entries.chunk_by(|one, next| one.0 == next.0) {
            let Some((_, first_has_none, first)) = group.first() else {
                continue;
            };
            // Times alone are proof only where another job was found on the other side: many jobs may have equal times.
            let found_n = group.iter().filter(|(_, has_none, _)| !has_none).count();
            if nth == 2 && (*first_has_none || found_n > 1) {
                continue;
            }
            for (_, has_none, at) in group.iter().skip(1).filter(|(_, has_none, _)| *has_none) {
                let (Some(original), Some(job)) = (jobs.get(*first), jobs.get(*at)) else {
                    continue;
                };
                let is_near = original.place.site == job.place.site;
                let is_one = match nth {
                    0 => is_near || !knows_site(job.place.site),
                    1 => is_near && is_shifted(original, job),
                    _ => original.core_n == job.core_n && job.cpu_ms > 0 && original.number != job.number,
                };
                if let Some(known) = is_copy.get_mut(*at).filter(|_| *has_none && is_one) {
                    *known = true;
                }
            }
        }
    }
    is_copy
}
