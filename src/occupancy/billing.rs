//! Who bears what is not used: the rate of every resource at every instant, integrated over the life of a job.

use super::grid::Grid;
use super::history::{History, State};
use super::resource::LEDGER_N;
use super::slice::{Interval, Shapes};
use super::sweep::{Stretch, Visit, sweep};
use super::unit::Thresholds;

/// Decimal places of a rate, and of what is billed by it.
pub const RATE_PLACES: u32 = 12;
const RATE_ONE: i128 = 1_000_000_000_000;

/// How the cost of a node is shared between its jobs and the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Overhead is the provider's loss; jobs share what remains in proportion to what they hold.
    #[default]
    OverheadAware,
    /// Jobs pay for what they hold.
    UsageOnly,
    /// Jobs share the node.
    WholeNode,
}

impl Scheme {
    /// The words of a pipeline file.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("overhead-aware", Self::OverheadAware),
        ("usage-only", Self::UsageOnly),
        ("whole-node", Self::WholeNode),
    ];

    /// The word of a pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let word = Self::WORDS.iter().find(|(_, scheme)| *scheme == self);
        word.map_or("", |(word, _)| word)
    }

    /// What jobs share of a resource of which something is allocated.
    #[must_use]
    pub fn billable(self, allocated: i64, overhead: i64, stranded: i64) -> i64 {
        match self {
            Self::UsageOnly => allocated,
            Self::OverheadAware => allocated + stranded,
            Self::WholeNode => allocated + stranded + overhead,
        }
    }
}

/// What is billed for one of a resource, in units of 10^-12; `None` where nothing of it is held.
#[must_use]
pub fn rate(billable: i64, used: i64) -> Option<i128> {
    (used > 0).then(|| i128::from(billable) * RATE_ONE / i128::from(used))
}

/// Resource-seconds billed to every interval of a node, in units of 10^-12 and in the order [`sweep`] sorts them:
/// amounts held times the integral of the rate.
pub fn bill(
    history: &History,
    intervals: &mut [Interval],
    shapes: &Shapes,
    grid: &Grid,
    unit: &Thresholds,
    scheme: Scheme,
) -> Vec<[i128; LEDGER_N]> {
    let mut meter = Meter {
        unit,
        scheme,
        shapes,
        integral: [0; LEDGER_N],
        billed: vec![[0; LEDGER_N]; intervals.len()],
        free: Vec::new(),
    };
    sweep(history, intervals, shapes, grid, &mut meter);
    meter.billed
}

struct Meter<'a> {
    unit: &'a Thresholds,
    scheme: Scheme,
    shapes: &'a Shapes,
    /// Integral of the rates since the beginning.
    integral: [i128; LEDGER_N],
    /// By interval: the integral when it began, then what it is billed.
    billed: Vec<[i128; LEDGER_N]>,
    free: Vec<i64>,
}

impl Visit for Meter<'_> {
    fn stretch(&mut self, stretch: &Stretch<'_>) {
        let is_up = stretch.state == State::Up;
        self.free.clear();
        for ((capacity, set_aside), used) in stretch.capacity.iter().zip(stretch.set_aside).zip(stretch.used) {
            let free = capacity - (*used).clamp(0, *capacity);
            self.free.push(if is_up { free - free.min(*set_aside) } else { 0 });
        }
        let unit_n = if stretch.is_exclusive {
            0
        } else {
            self.unit.units(&self.free)
        };
        let amounts = stretch
            .capacity
            .iter()
            .zip(stretch.used)
            .zip(&self.free)
            .zip(self.unit.iter());
        for (integral, (((capacity, used), free), threshold)) in self.integral.iter_mut().zip(amounts) {
            let overhead = unit_n * threshold.unwrap_or(0);
            let billable = self
                .scheme
                .billable((*used).clamp(0, *capacity), overhead, free - overhead);
            let span_s = i128::from(stretch.until_s - stretch.from_s);
            *integral += rate(billable, *used).unwrap_or(0) * span_s;
        }
    }

    fn starts(&mut self, nth: usize, _: &Interval) {
        if let Some(billed) = self.billed.get_mut(nth) {
            *billed = self.integral;
        }
    }

    fn ends(&mut self, nth: usize, interval: &Interval) {
        if let Some(billed) = self.billed.get_mut(nth) {
            let held = self.shapes.amounts(interval.shape).iter();
            for ((billed, integral), held) in billed.iter_mut().zip(self.integral).zip(held) {
                *billed = (integral - *billed).saturating_mul(i128::from(*held));
            }
        }
    }
}
