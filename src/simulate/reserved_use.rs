//! What jobs use inside reservations and outside, under a schedule that was not made with them in mind.

use super::demand::Demand;
use super::jobs::JobList;
use super::machine::Machine;
use super::reserved_pool::ReservedPool;
use super::schedule::Schedule;
use crate::numbers::index;

/// A change of what is used inside a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InsideChange {
    at_s: i64,
    pool: u32,
    more: Demand,
}

/// What is used inside the reservations of a machine, second by second.
pub(super) struct ReservedUse<'a> {
    machine: &'a Machine,
    changes: Vec<InsideChange>,
    change_n: usize,
    inside: Vec<Demand>,
}

impl<'a> ReservedUse<'a> {
    pub(super) fn new(jobs: JobList<'_>, machine: &'a Machine, schedule: &Schedule) -> Self {
        let mut changes = Vec::new();
        for started in schedule.started(jobs) {
            let Some(pool) = started.job.reservation else { continue };
            let Some(of) = machine.reservation(Some(pool)) else {
                continue;
            };
            for part in of.parts(started.start.start_s, started.end_s()) {
                if !part.is_inside {
                    continue;
                }
                let need = started.job.need;
                for (at_s, more) in [(part.from_s, need), (part.until_s, Demand::NOTHING.without(&need))] {
                    changes.push(InsideChange { at_s, pool, more });
                }
            }
        }
        changes.sort_unstable();
        Self {
            machine,
            changes,
            change_n: 0,
            inside: vec![Demand::NOTHING; machine.reservations().len()],
        }
    }

    /// The seconds in which what is used inside, or what is reserved, changes, in no order.
    pub(super) fn instants(&self) -> Vec<i64> {
        let reserved = self.machine.reservations().iter().flat_map(ReservedPool::instants);
        reserved.chain(self.changes.iter().map(|change| change.at_s)).collect()
    }

    /// How much more is used in a second than takes jobs then, of each kind: outside and inside every reservation, added up. So
    /// much is used inside and outside together. Seconds are requested in their order.
    ///
    /// Jobs of a flexible reservation are inside as far as that has room for them, and the rest of them is outside.
    pub(super) fn lacking_at(&mut self, at_s: i64, used: &Demand) -> Demand {
        let due = self.changes.iter().skip(self.change_n);
        let due_n = due.take_while(|change| change.at_s <= at_s).count();
        for change in self.changes.iter().skip(self.change_n).take(due_n) {
            if let Some(inside) = self.inside.get_mut(index(change.pool)) {
                inside.add(&change.more);
            }
        }
        self.change_n += due_n;
        let mut open = *used;
        let mut lacking = Demand::NOTHING;
        for (of, inside) in self.machine.reservations().iter().zip(&self.inside) {
            if *inside == Demand::NOTHING {
                continue;
            }
            let amounts = of.amounts_at(at_s);
            if of.is_flexible {
                open.take(&inside.smaller(&amounts));
            } else {
                open.take(inside);
                lacking.add(&inside.without(&amounts).at_least_nothing());
            }
        }
        let available = self.machine.capacity().without(&self.machine.unavailable_at(at_s));
        lacking.add(&open.without(&available).at_least_nothing());
        lacking
    }
}
