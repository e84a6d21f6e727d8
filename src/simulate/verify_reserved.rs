//! Whether jobs keep to what is reserved: found out from starts alone.

use super::demand::Demand;
use super::job::Job;
use super::machine::Machine;
use super::reserved_pool::ReservedPart;
use super::verify::{Placement, Violation};
use crate::error::Result;
use crate::numbers::index;
use crate::runtime::column::ColumnBudget;
use crate::runtime::column_value::{ByteFields, ColumnValue, encode_known};
use crate::runtime::sorter::Sorter;

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

impl ColumnValue for PartChange {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.at_s.to_le_bytes());
        bytes.extend([u8::from(self.is_taken), u8::from(self.is_start)]);
        encode_known(self.pool.map(i64::from), bytes);
        self.amounts.encode(bytes);
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        Self {
            at_s: bytes.signed(),
            is_taken: bytes.byte() == 1,
            is_start: bytes.byte() == 1,
            pool: bytes.known().and_then(|pool| u32::try_from(pool).ok()),
            amounts: Demand::decode(bytes),
        }
    }
}

/// Every job of a reservation starts inside it, never more than takes its jobs then; jobs without one start on what is not
/// reserved. A job of a flexible reservation may be inside and outside at once, and only the whole machine limits it.
pub(super) struct ReservedCheck<'a> {
    machine: &'a Machine,
    changes: Sorter<PartChange>,
}

impl<'a> ReservedCheck<'a> {
    /// Without jobs.
    pub(super) fn new(machine: &'a Machine, budget: ColumnBudget) -> Self {
        Self {
            machine,
            changes: Sorter::new(budget),
        }
    }

    /// Adds a job, and gives what is wrong with its start alone.
    pub(super) fn add(&mut self, job: &Job, placement: &Placement) -> Result<Option<Violation>> {
        let Some(reservation) = self.machine.reservation(job.reservation) else {
            if placement.start_s < placement.end_s {
                let part = ReservedPart {
                    from_s: placement.start_s,
                    until_s: placement.end_s,
                    is_inside: false,
                };
                self.add_part(job, placement, part)?;
            }
            return Ok(None);
        };
        for part in reservation.parts(placement.start_s, placement.end_s) {
            let is_inside = part.is_inside && !reservation.is_flexible;
            if is_inside || !part.is_inside {
                self.add_part(job, placement, ReservedPart { is_inside, ..part })?;
            }
        }
        let is_outside = !reservation.is_flexible && reservation.span_at(placement.start_s).is_none();
        Ok(is_outside.then_some(Violation::OutsideReservation(job.id)))
    }

    fn add_part(&mut self, job: &Job, placement: &Placement, part: ReservedPart) -> Result<()> {
        for (at_s, is_taken) in [(part.from_s, true), (part.until_s, false)] {
            self.changes.push(PartChange {
                at_s,
                is_taken,
                is_start: is_taken && part.from_s == placement.start_s,
                pool: job.reservation.filter(|_| part.is_inside),
                amounts: job.need,
            })?;
        }
        Ok(())
    }

    /// What is wrong with them together, in the order of time.
    pub(super) fn finish(self, note: &mut impl FnMut(Violation)) -> Result<()> {
        let mut used = PartUse {
            open: Demand::NOTHING,
            inside: vec![Demand::NOTHING; self.machine.reservations().len()],
        };
        let mut changes = self.changes.finish()?.peekable();
        while let Some(change) = changes.next() {
            let at_s = change.at_s;
            let mut same = vec![change];
            same.extend(std::iter::from_fn(|| changes.next_if(|next| next.at_s == at_s)));
            used.change(&same, self.machine, note);
        }
        Ok(())
    }
}

/// What is used of each part of the machine.
struct PartUse {
    open: Demand,
    inside: Vec<Demand>,
}

impl PartUse {
    /// All changes of one second.
    fn change(&mut self, same: &[PartChange], machine: &Machine, note: &mut impl FnMut(Violation)) {
        let mut started = Vec::new();
        for change in same {
            let used = match change.pool {
                None => Some(&mut self.open),
                Some(pool) => self.inside.get_mut(index(pool)),
            };
            let Some(used) = used else { continue };
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
            let used = match pool {
                None => self.open,
                Some(pool) => self.inside[index(pool)],
            };
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
                note(match pool {
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
