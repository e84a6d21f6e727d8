//! The periods of a job while a version of a policy held.
//!
//! Amounts are cut twice: into periods, as usage is, and each period at the instants at which a version of the policy begins or
//! ends. All versions cut a job alike, so that what they charge for adds up to the job, and in each period to its usage.

use std::ops::Range;

use crate::numbers::{Extent, Part};
use crate::summarise::apportion::{apportion, apportion_wide, share_of};
use crate::summarise::periods::PeriodSplitter;
use crate::time::MsSpan;

/// What a version of a policy has of one period of a job.
enum HeldPiece {
    /// Nothing.
    Nothing,
    /// All of it.
    Whole,
    /// Some of the parts that versions of the policy cut it into.
    Parts {
        /// How long each part is, milliseconds.
        weights: Vec<i64>,
        /// Those in which this version held.
        held: Range<usize>,
    },
}

/// What a version of a policy has of each period of a job.
pub(super) struct HeldPieces<'c> {
    /// How long the job ran in each period, milliseconds.
    weights: &'c [i64],
    pieces: Vec<HeldPiece>,
}

impl<'c> HeldPieces<'c> {
    /// What a version that held in `held` has of the job that `cutter` cut last. `edges` are the instants at which any version of
    /// the policy begins or ends, in their order.
    pub(super) fn new(cutter: &'c PeriodSplitter, held: MsSpan, edges: &[i64]) -> Self {
        let is_instant = cutter.until_ms <= cutter.from_ms;
        let last = cutter.pieces.len().less(1);
        let pieces = cutter.pieces.iter().zip(&cutter.weights).enumerate();
        let pieces = pieces.map(|(at, (period, weight))| {
            let start_ms = if at == 0 { cutter.from_ms } else { period.from_ms };
            if *weight > 0 {
                return cut(start_ms, start_ms + weight, held, edges);
            }
            // A job without length, and the empty piece after a job that ends on an edge, belong where they lie.
            let is_held = held.from_ms <= start_ms && start_ms < held.until_ms && (is_instant || at == last);
            if is_held { HeldPiece::Whole } else { HeldPiece::Nothing }
        });
        Self {
            weights: &cutter.weights,
            pieces: pieces.collect(),
        }
    }

    /// Whether the version charges the job in any period.
    pub(super) fn is_any(&self) -> bool {
        (0..self.pieces.len()).any(|at| self.has(at))
    }

    /// Whether the version charges the job in its period `at`.
    pub(super) fn has(&self, at: usize) -> bool {
        !matches!(self.pieces.get(at), None | Some(HeldPiece::Nothing))
    }

    /// What the version has of an amount of the job in each period.
    pub(super) fn shares(&self, total: i64) -> Vec<i64> {
        let (mut shares, mut parts) = (Vec::new(), Vec::new());
        apportion(total, self.weights, &mut shares);
        for (share, piece) in shares.iter_mut().zip(&self.pieces) {
            *share = match piece {
                HeldPiece::Nothing => 0,
                HeldPiece::Whole => *share,
                HeldPiece::Parts { weights, held } => {
                    apportion(*share, weights, &mut parts);
                    held.clone().map(|part| share_of(&parts, part)).sum()
                }
            };
        }
        shares
    }

    /// The same of a charge; `None` when it is too large to be split.
    pub(super) fn wide_shares(&self, total: i128) -> Option<Vec<i128>> {
        let mut shares = apportion_wide(total, self.weights)?;
        for (share, piece) in shares.iter_mut().zip(&self.pieces) {
            *share = match piece {
                HeldPiece::Nothing => 0,
                HeldPiece::Whole => *share,
                HeldPiece::Parts { weights, held } => {
                    let parts = apportion_wide(*share, weights)?;
                    held.clone().map(|part| share_of(&parts, part)).sum()
                }
            };
        }
        Some(shares)
    }
}

/// What a version that held in `held` has of the time a job ran in one period, which is not empty.
fn cut(start_ms: i64, end_ms: i64, held: MsSpan, edges: &[i64]) -> HeldPiece {
    let (from_ms, until_ms) = (held.from_ms.max(start_ms), held.until_ms.min(end_ms));
    if until_ms <= from_ms {
        return HeldPiece::Nothing;
    }
    if from_ms == start_ms && until_ms == end_ms {
        return HeldPiece::Whole;
    }
    let first = edges.partition_point(|edge| *edge <= start_ms);
    let after = edges.partition_point(|edge| *edge < end_ms);
    let inside = edges.part(first..after);
    let place = |at_ms: i64| inside.partition_point(|edge| *edge < at_ms) + usize::from(at_ms > start_ms);
    let begins = std::iter::once(&start_ms).chain(inside);
    let ends = inside.iter().chain(std::iter::once(&end_ms));
    HeldPiece::Parts {
        weights: begins.zip(ends).map(|(begin, end)| end - begin).collect(),
        held: place(from_ms)..place(until_ms),
    }
}
