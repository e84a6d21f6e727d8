//! The job whose rows are being read.

use super::refusal::Refusal;
use super::step::Steps;
use crate::sources::Position;

/// The job whose steps are being folded.
pub(super) enum SacctOpen<'t> {
    /// None: the next step has no job.
    Nothing,
    /// One that started; the values of its row are in the reader.
    Job {
        /// Its number.
        base: &'t [u8],
        /// What its steps used so far.
        steps: Steps,
        /// Where its row begins.
        at: Position,
    },
    /// One whose row is refused, and the rows of its steps with it.
    Refused {
        /// Why.
        refusal: Refusal,
        /// Its number.
        base: &'t [u8],
        /// Its rows so far.
        rows: u64,
        /// Where its row begins.
        at: Position,
        /// The same in the piece.
        start: usize,
        /// Behind the last of its rows in the piece.
        end: usize,
    },
    /// One that has not started.
    NotStarted {
        /// Its number.
        base: &'t [u8],
        /// Its rows so far.
        rows: u64,
    },
}

impl<'t> SacctOpen<'t> {
    /// The number of the job that is open and started; empty without one.
    #[inline]
    pub(super) fn base(&self) -> &'t [u8] {
        match self {
            Self::Job { base, .. } => base,
            _ => &[],
        }
    }
}

/// Which row a line may continue, when its last column is free text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// None.
    Closed,
    /// The row of the open job.
    Job,
    /// The row of its last step.
    Step,
}
