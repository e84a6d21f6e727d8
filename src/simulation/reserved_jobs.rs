//! Which jobs of a lake run in which reservation, and what somebody has to know of it.

use super::lake_machine::NodeSums;
use super::lake_reservations::LakeReservations;
use super::lake_rows::{LakeRow, LakeRows};
use crate::simulate::job::Job;
use crate::simulate::jobs::{JobList, Jobs};
use crate::simulate::reserved_pool::ReservedPool;
use crate::simulate::trace::TraceChange;

/// The place of the reservation that a record states, if its job can be simulated inside it: a listing knows the time in which
/// it ran there, and it ever has so much as the job requests. Else the job runs on what is not reserved, and is counted.
pub(super) fn stated_reservation(row: &LakeRow, job: &mut Job, pools: &[ReservedPool]) -> Option<u32> {
    let name = row.reservation.as_ref()?;
    let place = pools.partition_point(|pool| pool.name < *name);
    let known = pools.get(place).filter(|pool| pool.name == *name);
    let known = known.and_then(|pool| Some((u32::try_from(place).ok()?, pool)));
    let start_s = job.recorded_start_s;
    let is_in_time =
        |pool: &ReservedPool| pool.is_flexible || start_s.is_some_and(|start_s| pool.span_at(start_s).is_some());
    let Some((place, pool)) = known.filter(|(_, pool)| is_in_time(pool)) else {
        job.changes.add(TraceChange::ReservationUnlisted);
        return None;
    };
    if !pool.ever_has(&job.need) {
        job.changes.add(TraceChange::BeyondReservation);
        return None;
    }
    Some(place)
}

/// Notes what was listed of reservations.
pub(super) fn note_listed(listed: &LakeReservations, sums: &NodeSums, remarks: &mut Vec<String>) {
    let name_n = sums.reservations.len();
    if name_n > 0 {
        remarks.push(format!(
            "{name_n} reservations are machines of their own, {} times in all: what they have takes no other jobs then",
            sums.reservation_span_n
        ));
    }
    for (n, why) in [
        (
            listed.planned_n,
            "had not begun when they were last listed: plans are left out",
        ),
        (
            listed.unplaced_n,
            "are listed without the site or cluster they are of: give their [[inventory]] one",
        ),
        (
            sums.empty_reservation_n,
            "have neither nodes of the inventory nor cores: nothing is reserved for them",
        ),
    ] {
        if n > 0 {
            remarks.push(format!("{n} listed times of reservations {why}"));
        }
    }
    if sums.shared_node_n > 0 {
        remarks.push(format!(
            "{} nodes are of several reservations at a time: each is of one of them, with MAINT before OVERLAP before others",
            sums.shared_node_n
        ));
    }
}

/// What was found out about the reservations of records.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundReservations {
    /// How many records state none, of jobs that started on the nodes of one.
    pub(super) by_nodes_n: u64,
    /// Whether any reservation is simulated.
    pub(super) is_simulated: bool,
}

/// Whether a second is one in which the reservation begins that a record states. Slurm calls a job eligible from then on; the
/// wait before it is simulated here.
pub(super) fn is_begin(row: &LakeRow, at_s: i64, pools: &[ReservedPool]) -> bool {
    let of = pools.iter().filter(|pool| row.reservation.as_ref() == Some(&pool.name));
    of.flat_map(|pool| &pool.spans).any(|span| span.from_s == at_s)
}

/// Notes which jobs run inside reservations.
pub(super) fn note_jobs(
    rows: &LakeRows,
    listed: &LakeReservations,
    jobs: &Jobs,
    found: FoundReservations,
    remarks: &mut Vec<String>,
) {
    let FoundReservations {
        by_nodes_n,
        is_simulated,
    } = found;
    let stated_n = rows.reservation_n;
    if by_nodes_n > 0 {
        remarks.push(format!(
            "{by_nodes_n} jobs whose records state no reservation started on nodes of one while it was in force: they ran inside it"
        ));
    }
    let mut inside_n = 0_u64;
    if stated_n + by_nodes_n > 0 {
        JobList::from(jobs).each(|_, job| inside_n += u64::from(job.reservation.is_some()));
    }
    if stated_n > 0 && !is_simulated {
        remarks.push(format!(
            "{stated_n} records state a reservation: none is simulated, so they run where all others do"
        ));
    }
    if inside_n > 0 {
        remarks.push(format!(
            "{inside_n} jobs run inside the reservations they ran in, and on nothing else while these last"
        ));
    }
    let candidate_n = if stated_n == 0 && is_simulated {
        listed.candidate_n(&rows.rows)
    } else {
        0
    };
    if candidate_n > 0 {
        remarks.push(format!(
            "no record states a reservation, and {candidate_n} started while one was in force that names their account or user: \
             whether they ran inside it is not known, so they are simulated outside (export the column Reservation)"
        ));
    }
}
