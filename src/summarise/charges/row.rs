//! What a tariff charges a job, period by period: a row of `job_charges`.

use std::sync::Arc;

use crate::time::calendar::Period;

/// What one tariff charges a job in one period, in numbers.
#[derive(Clone, Copy)]
pub(super) struct ChargeFigures {
    /// Where the recorded columns of the job stand: in the batch, or behind it among jobs under other names.
    pub(super) record: usize,
    /// Place of the tariff.
    pub(super) tariff: usize,
    /// The period.
    pub(super) period: Period,
    /// Jobs charged.
    pub(super) job_n: i64,
    /// Jobs whose charge is unknown.
    pub(super) unpriced_job_n: i64,
    /// Raw core seconds.
    pub(super) alloc_core_s: i64,
    /// What those leave of wall time times cores, milliseconds.
    pub(super) alloc_core_fraction_ms: i64,
    /// Raw GPU seconds.
    pub(super) alloc_gpu_s: i64,
    /// The charge.
    pub(super) charge: Option<i128>,
}

impl ChargeFigures {
    /// The row of a job of known charge under another tariff that charges it for the same time.
    #[inline]
    pub(super) fn under(&self, tariff: usize, charge: Option<i128>) -> Self {
        let (job_n, unpriced_job_n) = match charge {
            Some(_) => (self.job_n, 0),
            None => (0, self.job_n),
        };
        Self {
            tariff,
            job_n,
            unpriced_job_n,
            charge,
            ..*self
        }
    }
}

/// What one tariff charges a job in one period, with what few rows have.
#[derive(Clone)]
pub(super) struct ChargeRow {
    /// The job, by its place in the batch.
    pub(super) job: usize,
    /// Which of the job's periods.
    pub(super) piece: usize,
    pub(super) figures: ChargeFigures,
    /// Why there is no charge.
    pub(super) why_unpriced: Option<Arc<str>>,
    /// The correction it is an entry of.
    pub(super) correction_id: Option<Arc<str>>,
}

impl ChargeRow {
    /// What takes this row out again, to the last digit, as an entry of a correction.
    pub(super) fn taken(&self, correction_id: &Arc<str>) -> Self {
        let of = self.figures;
        Self {
            figures: ChargeFigures {
                job_n: -of.job_n,
                unpriced_job_n: -of.unpriced_job_n,
                alloc_core_s: -of.alloc_core_s,
                alloc_core_fraction_ms: -of.alloc_core_fraction_ms,
                alloc_gpu_s: -of.alloc_gpu_s,
                charge: of.charge.map(|charge| -charge),
                ..of
            },
            ..self.given(correction_id)
        }
    }

    /// The same row as an entry of a correction.
    pub(super) fn given(&self, correction_id: &Arc<str>) -> Self {
        Self {
            correction_id: Some(Arc::clone(correction_id)),
            ..self.clone()
        }
    }

    /// The order of the rows of a file after the record, as in its schema.
    pub(super) fn key(&self) -> (usize, usize, usize, Option<&str>) {
        (self.job, self.figures.tariff, self.piece, self.correction_id.as_deref())
    }
}
