//! The periods of a job while a policy held.

use crate::numbers::{Comparand, Extent};
use crate::summarise::periods::PeriodSplitter;
use crate::time::MsSpan;

/// How much of each period of a job a policy held.
pub(super) struct HeldPieces {
    /// By period, then what no policy held.
    pub(super) weights: Vec<i64>,
    /// Whether the policy charges the job in a period at all.
    pub(super) is_held: Vec<bool>,
}

impl HeldPieces {
    /// What the periods of the job that `cutter` cut last have of this time.
    pub(super) fn new(cutter: &PeriodSplitter, MsSpan { from_ms, until_ms }: MsSpan) -> Self {
        let is_instant = cutter.until_ms <= cutter.from_ms;
        let last = cutter.pieces.len().less(1);
        let mut held = Self {
            weights: Vec::with_capacity(cutter.pieces.len() + 1),
            is_held: Vec::with_capacity(cutter.pieces.len()),
        };
        for (at, (period, weight)) in cutter.pieces.iter().zip(&cutter.weights).enumerate() {
            let start = if at == 0 { cutter.from_ms } else { period.from_ms };
            let within = (start + weight)
                .min(until_ms)
                .difference_to_compare(start.max(from_ms))
                .max(0);
            // A job without length, and the empty piece after a job that ends on an edge, belong where they lie.
            let is_held =
                within > 0 || (*weight == 0 && from_ms <= start && start < until_ms && (is_instant || at == last));
            held.weights.push(within);
            held.is_held.push(is_held);
        }
        let outside = cutter.weights.iter().sum::<i64>() - held.weights.iter().sum::<i64>();
        if outside > 0 {
            held.weights.push(outside);
        }
        held
    }
}
