//! Whether jobs keep to what is reserved: found out from starts alone.

use super::demand::Demand;
use super::job::Job;
use super::machine::Machine;
use super::verify::{Placement, Violation};
use crate::numbers::index;

/// An amount that is taken or given back in a part of the machine; what is given back comes first in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PartChange {
    at_s: i64,
    is_taken: bool,
    /// Whether a job starts with it, and is not there already.
    is_start: bool,
    /// The reservation; `None` for what is not reserved.
    pool: Option<u32>,
    amounts: Demand,
}

/// Every job of a reservation starts inside it, never more than takes its jobs then; jobs without one start on what is not
/// reserved. A job of a flexible reservation may be inside and outside at once, and only the whole machine limits it.
pub(super) fn check_reserved(
    jobs: &[Job],
    machine: &Machine,
    placements: &[Placement],
    matched: &[Option<u32>],
    violations: &mut Vec<Violation>,
) {
    let mut changes = Vec::with_capacity(placements.len() * 2);
    for (placement, place) in placements.iter().zip(matched) {
        let Some(job) = place.and_then(|place| jobs.get(index(place))) else {
            continue;
        };
        let mut add = |from_s: i64, until_s: i64, pool: Option<u32>| {
            let change = |at_s: i64, is_taken: bool| PartChange {
                at_s,
                is_taken,
                is_start: is_taken && from_s == placement.start_s,
                pool,
                amounts: job.need,
            };
            changes.push(change(from_s, true));
            changes.push(change(until_s, false));
        };
        let Some(reservation) = machine.reservation(job.reservation) else {
            if placement.start_s < placement.end_s {
                add(placement.start_s, placement.end_s, None);
            }
            continue;
        };
        if !reservation.is_flexible && reservation.span_at(placement.start_s).is_none() {
            violations.push(Violation::OutsideReservation(job.id));
        }
        for part in reservation.parts(placement.start_s, placement.end_s) {
            let is_inside = part.is_inside && !reservation.is_flexible;
            if is_inside || !part.is_inside {
                add(part.from_s, part.until_s, job.reservation.filter(|_| is_inside));
            }
        }
    }
    changes.sort_unstable();
    let mut open = Demand::NOTHING;
    let mut inside = vec![Demand::NOTHING; machine.reservations().len()];
    for same in changes.chunk_by(|one, next| one.at_s == next.at_s) {
        let mut started = Vec::new();
        for change in same {
            let used = match change.pool {
                None => &mut open,
                Some(pool) => &mut inside[index(pool)],
            };
            if change.is_taken {
                used.add(&change.amounts);
            } else {
                used.take(&change.amounts);
            }
            if change.is_start {
                started.push(*change);
            }
        }
        // Each part of the machine once, with all that starts there.
        started.sort_unstable_by_key(|change| change.pool);
        for of_part in started.chunk_by(|one, next| one.pool == next.pool) {
            let Some(PartChange { at_s, pool, .. }) = of_part.first().copied() else {
                continue;
            };
            let used = pool.map_or(open, |pool| inside[index(pool)]);
            let most = match machine.reservation(pool) {
                Some(reservation) => reservation.amounts_at(at_s),
                None => machine.capacity().without(&machine.unavailable_at(at_s)),
            };
            for kind in 0..machine.kinds().len() {
                let is_added = of_part.iter().any(|change| change.amounts.get(kind) > 0);
                if !is_added || used.get(kind) <= most.get(kind) {
                    continue;
                }
                let used = used.get(kind);
                violations.push(match pool {
                    None => Violation::OnUnavailable { at_s, kind, used },
                    Some(reservation) => Violation::BeyondReservation {
                        at_s,
                        reservation,
                        kind,
                        used,
                    },
                });
            }
        }
    }
}
