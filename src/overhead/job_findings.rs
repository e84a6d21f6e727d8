//! What is reported of the jobs of the records that are put on nodes.

use super::finding::{FindingKind, FindingSubject, OverheadFindings};
use super::job_amounts::{EVERYTHING, JobAmounts};
use super::job_spans::first_second;
use super::listed_places::ListedPlaces;
use super::waiting::WaitingPlace;
use crate::occupancy::Slices;
use crate::schema::batch::addend;
use crate::time::SecondSpan;

/// Reports that a job is left out that ran longer than plausible: in the month it begins, which its file covers.
pub(super) fn leave_out(cluster: Option<&str>, held: SecondSpan, slices: &Slices, findings: &mut OverheadFindings) {
    let mut reported = HeldFindings {
        cluster,
        held: first_second(held),
        slices,
        findings,
    };
    reported.add(FindingKind::SpanTooLong, None, None, None);
}

/// What is reported of a job that held nodes or waited for them, in every slice it reaches.
pub(super) struct HeldFindings<'a> {
    pub(super) cluster: Option<&'a str>,
    pub(super) held: SecondSpan,
    pub(super) slices: &'a Slices,
    pub(super) findings: &'a mut OverheadFindings,
}

impl HeldFindings<'_> {
    /// Adds one, with cores.
    pub(super) fn add(&mut self, kind: FindingKind, node: Option<&str>, resource: Option<usize>, core_n: Option<i64>) {
        let of = FindingSubject {
            kind,
            cluster: self.cluster,
            node,
            resource,
        };
        for (month, part) in self.slices.overlaps(self.held) {
            self.findings.add(month, of, part, addend(core_n));
        }
    }

    /// Resources whose amount the job does not state; gives those for which it cannot be billed, a bit each.
    pub(super) fn unknown_amounts(&mut self, of_job: &JobAmounts, core_n: Option<i64>) -> u8 {
        let mut unbilled = 0;
        for (at, _) in of_job.amounts.iter().enumerate().filter(|(_, amount)| amount.is_none()) {
            self.add(FindingKind::AmountUnknown, None, Some(at), core_n);
            let bit = u32::try_from(at).ok().and_then(|at| 1_u8.checked_shl(at));
            // A resource that is not billed has no bit.
            unbilled |= bit.map_or(0, |bit| bit & EVERYTHING);
        }
        unbilled
    }

    /// Nodes that no inventory lists; gives the resources for which the job cannot be billed, a bit each.
    pub(super) fn unknown_nodes(&mut self, places: &ListedPlaces, amounts: &[i64]) -> u8 {
        let mut unbilled = 0;
        for (place, part_n) in places.iter() {
            if let WaitingPlace::Unknown(node) = place {
                let share = amounts.first().map(|core_n| places.whole_cores(part_n, *core_n));
                self.add(FindingKind::NodeUnknown, Some(node), None, share);
                unbilled = EVERYTHING;
            }
        }
        unbilled
    }
}
