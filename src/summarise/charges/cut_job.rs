//! A job that was cut into periods, and what a tariff charges it in each.

use super::row::ChargeFigures;
use crate::numbers::Extent;
use crate::schema::batch::{addend, number};
use crate::summarise::periods::PeriodSplitter;
use crate::summarise::sums::time_held;
use crate::summarise::view::RecordView;
use crate::time::calendar::Period;

/// What a period has of a job.
pub(super) struct PieceShare {
    pub(super) charge: i128,
    alloc_core_s: i64,
    alloc_gpu_s: i64,
}

/// A job that was cut into periods: what it is charged for, whatever the tariff.
pub(super) struct CutJob {
    /// Its place in the batch.
    pub(super) job: usize,
    /// Wall time, seconds.
    pub(super) wall_s: i64,
    /// Wall time plus suspension, seconds.
    pub(super) held_s: i64,
    core_n: i64,
    gpu_n: i64,
    /// What whole seconds leave of wall time times cores, milliseconds.
    alloc_core_fraction_ms: i64,
    /// The instant at which it counts, Unix milliseconds.
    pub(super) counted_ms: i64,
    /// The period it ends in; `None` while it has not ended.
    end_piece: Option<usize>,
    last_piece: usize,
}

impl CutJob {
    /// The job that `cutter` cut last, which ended in its period `end_piece` or has not ended.
    pub(super) fn new(view: &RecordView<'_>, cutter: &PeriodSplitter, job: usize, end_piece: Option<usize>) -> Self {
        let core_n = addend(number(view.alloc_core_n, job));
        // A job counts where it ends; a policy that no longer holds then charged it in part.
        let is_empty_end = cutter.weights.last().is_some_and(|weight| *weight == 0);
        Self {
            job,
            wall_s: view.wall_s.value(job),
            held_s: view.held_s(job),
            core_n,
            gpu_n: addend(number(view.alloc_gpu_n, job)),
            alloc_core_fraction_ms: time_held(view.wall_fraction_ms.value(job), core_n),
            counted_ms: cutter.until_ms - i64::from(!is_empty_end),
            end_piece,
            last_piece: cutter.pieces.len().less(1),
        }
    }

    /// So much of its times, with a charge.
    pub(super) fn share(&self, charge: i128, wall_s: i64, held_s: i64) -> PieceShare {
        PieceShare {
            charge,
            alloc_core_s: time_held(wall_s, self.core_n),
            alloc_gpu_s: time_held(held_s, self.gpu_n),
        }
    }
}

/// A job under a tariff.
pub(super) struct ChargedJob<'c> {
    pub(super) cut: &'c CutJob,
    /// Place of the tariff.
    pub(super) tariff: usize,
    /// In units of 10^-9; `None` when it is unknown.
    pub(super) charge: Option<i128>,
    /// Whether the policy held when it counted.
    pub(super) ends_here: bool,
}

impl ChargedJob<'_> {
    /// What it is charged in its period `piece`.
    #[inline]
    pub(super) fn figures(&self, piece: usize, period: Period, share: &PieceShare) -> ChargeFigures {
        let cut = self.cut;
        let counts = i64::from(cut.end_piece == Some(piece) && self.ends_here);
        // The remainder of whole seconds goes to the end of the job, as in usage.
        let has_fraction = piece == cut.last_piece && self.ends_here;
        ChargeFigures {
            record: cut.job,
            tariff: self.tariff,
            period,
            job_n: if self.charge.is_some() { counts } else { 0 },
            unpriced_job_n: if self.charge.is_none() { counts } else { 0 },
            alloc_core_s: share.alloc_core_s,
            alloc_core_fraction_ms: if has_fraction { cut.alloc_core_fraction_ms } else { 0 },
            alloc_gpu_s: share.alloc_gpu_s,
            charge: self.charge.map(|_| share.charge),
        }
    }
}
