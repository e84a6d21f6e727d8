//! Reservations: parts of a machine that are a machine of their own, from a second to a second, for the jobs that state them.

use super::demand::Demand;

/// A time in which a reservation is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReservedSpan {
    /// First second.
    pub from_s: i64,
    /// The second after the last.
    pub until_s: i64,
    /// It begins although jobs of others still run on what is reserved, and is unknown before it begins. Where it does
    /// not, no other job starts that would still have what is reserved then.
    pub ignores_jobs: bool,
}

/// How much takes jobs of a reservation from a second on, until the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedStep {
    /// First second.
    pub from_s: i64,
    /// How much of each kind.
    pub amounts: Demand,
}

/// A reservation: the times it is in force, and what it has then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReservedPool {
    /// Its name.
    pub name: String,
    /// Its jobs may also start before it, end after it, and run on what is not reserved (the flag `FLEX` of Slurm).
    pub is_flexible: bool,
    /// In the order of time, none next to another.
    pub spans: Vec<ReservedSpan>,
    /// In the order of time. What they state outside the spans does not count.
    pub steps: Vec<ReservedStep>,
}

/// A part of the time in which a job runs, all of which it is in one reservation or in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedPart {
    /// First second.
    pub from_s: i64,
    /// The second after the last.
    pub until_s: i64,
    /// Whether it is in its reservation.
    pub is_inside: bool,
}

impl ReservedPool {
    /// The time in which it is in force, of which a second is part.
    #[must_use]
    pub fn span_at(&self, time_s: i64) -> Option<&ReservedSpan> {
        let begun_n = self.spans.partition_point(|span| span.from_s <= time_s);
        let last = self.spans.get(..begun_n).and_then(<[_]>::last);
        last.filter(|span| time_s < span.until_s)
    }

    /// The first time in which it is in force and that has not ended in a second.
    #[must_use]
    pub fn span_from(&self, time_s: i64) -> Option<&ReservedSpan> {
        let ended_n = self.spans.partition_point(|span| span.until_s <= time_s);
        self.spans.get(ended_n)
    }

    /// How much takes jobs of it in a second.
    #[must_use]
    pub fn amounts_at(&self, time_s: i64) -> Demand {
        if self.span_at(time_s).is_none() {
            return Demand::NOTHING;
        }
        let begun_n = self.steps.partition_point(|step| step.from_s <= time_s);
        let last = self.steps.get(..begun_n).and_then(<[_]>::last);
        last.map_or(Demand::NOTHING, |step| step.amounts)
    }

    /// Whether it ever has so much.
    #[must_use]
    pub fn ever_has(&self, need: &Demand) -> bool {
        self.instants().iter().any(|at_s| need.fits_in(&self.amounts_at(*at_s)))
    }

    /// The seconds in which it begins, ends or changes, in order.
    #[must_use]
    pub fn instants(&self) -> Vec<i64> {
        let edges = self.spans.iter().flat_map(|span| [span.from_s, span.until_s]);
        let mut all: Vec<i64> = edges.chain(self.steps.iter().map(|step| step.from_s)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether its times and steps are in order, and nothing is below zero.
    pub(super) fn is_sound(&self) -> bool {
        let is_ordered = |pair: &[ReservedSpan]| match pair {
            [one, next] => one.until_s < next.from_s,
            _ => true,
        };
        let is_rising = |pair: &[ReservedStep]| match pair {
            [one, next] => one.from_s < next.from_s,
            _ => true,
        };
        self.spans.iter().all(|span| span.from_s < span.until_s)
            && self.spans.windows(2).all(is_ordered)
            && self.steps.windows(2).all(is_rising)
            && self
                .steps
                .iter()
                .all(|step| step.amounts.amounts().all(|amount| amount >= 0))
    }

    /// Where a job of it that starts in a second is while it runs. One that starts outside is outside to its end, and one that
    /// runs on at the end of the reservation is outside from then on; where the reservation is flexible, every job is inside
    /// whenever it is in force.
    #[must_use]
    pub fn parts(&self, start_s: i64, end_s: i64) -> Vec<ReservedPart> {
        let mut parts = Vec::new();
        let mut at_s = start_s;
        let mut add = |from_s: i64, until_s: i64, is_inside: bool| {
            if from_s < until_s {
                parts.push(ReservedPart {
                    from_s,
                    until_s,
                    is_inside,
                });
            }
        };
        if self.is_flexible {
            let begun_n = self.spans.partition_point(|span| span.until_s <= start_s);
            let own = self.spans.iter().skip(begun_n);
            for span in own.take_while(|span| span.from_s < end_s) {
                add(at_s, span.from_s, false);
                add(at_s.max(span.from_s), end_s.min(span.until_s), true);
                at_s = span.until_s;
            }
        } else if let Some(span) = self.span_at(start_s) {
            add(start_s, end_s.min(span.until_s), true);
            at_s = span.until_s;
        }
        add(at_s, end_s, false);
        parts
    }
}
