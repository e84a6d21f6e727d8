//! How the time of nodes is spread.

use super::history::History;
use super::resource::LEDGER_N;
use super::seconds::Seconds;
use super::unit::Thresholds;

/// Bits of the byte in a GiB.
pub(super) const GIB_BITS: u32 = 30;
/// Highest hour of the week.
const LAST_HOUR: i64 = 167;

/// The time in which nodes took jobs, over numbers of units and over what was free. Of nodes with the same
/// units one can be kept for all.
#[derive(Clone, Debug, Default)]
pub struct TimeHistogram {
    /// By requested unit: seconds by hour of the week and number of units (and 0).
    pub units: Vec<Seconds>,
    /// Seconds by free cores, whole GiB of memory and GPUs.
    pub shapes: Seconds,
}

impl TimeHistogram {
    /// Prepares for what a node can have free.
    pub(super) fn make_room(&mut self, history: &History, units: &[Thresholds]) {
        if self.units.len() < units.len() {
            self.units.resize_with(units.len(), Seconds::default);
        }
        for segment in &history.segments {
            let mut most = [0; LEDGER_N];
            for (most, has) in most.iter_mut().zip(&segment.capacity) {
                *most = *has;
            }
            let [_, memory, _] = &mut most;
            *memory >>= GIB_BITS;
            self.shapes.make_room(most);
            for (seconds, thresholds) in self.units.iter_mut().zip(units) {
                seconds.make_room([LAST_HOUR, thresholds.units(&segment.capacity), 0]);
            }
        }
    }

    /// Adds another one of the same units.
    pub fn merge(&mut self, other: &Self) {
        if self.units.len() < other.units.len() {
            self.units.resize_with(other.units.len(), Seconds::default);
        }
        for (seconds, more) in self.units.iter_mut().zip(&other.units) {
            seconds.merge(more);
        }
        self.shapes.merge(&other.shapes);
    }
}
