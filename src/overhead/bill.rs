//! One bill of capacity that was held back, and bills added up.

use crate::occupancy::LEDGER_N;

/// What one job is billed on one node, or on all of them, in one piece and by one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bill {
    pub(crate) tag: u32,
    /// Rank of the unit by its options.
    pub(crate) unit: u16,
    pub(crate) piece: u16,
    /// Resources whose bill is not known, a bit each.
    pub(crate) unknown: u8,
    /// Held, resource-seconds.
    pub(crate) held: [i128; LEDGER_N],
    /// Billed, in units of 10^-9.
    pub(crate) billed: [i128; LEDGER_N],
}

impl Bill {
    fn key(&self) -> (u32, u16, u16) {
        (self.tag, self.unit, self.piece)
    }
}

/// Adds up bills of the same job, unit and piece.
pub(crate) fn add_up(bills: &mut Vec<Bill>) {
    bills.sort_unstable_by_key(Bill::key);
    bills.dedup_by(|next, kept| {
        if next.key() != kept.key() {
            return false;
        }
        kept.unknown |= next.unknown;
        for at in 0..LEDGER_N {
            for (sums, more) in [(&mut kept.held, next.held), (&mut kept.billed, next.billed)] {
                if let (Some(sum), Some(more)) = (sums.get_mut(at), more.get(at)) {
                    match sum.checked_add(*more) {
                        Some(total) => *sum = total,
                        // Only of more nodes than any machine has: a bill that does not fit is not known.
                        None => kept.unknown |= 1 << at,
                    }
                }
            }
        }
        true
    });
}
