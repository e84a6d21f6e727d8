//! Who bears what is not used: the rate of every resource at every instant, integrated over the life of a job.

use crate::schema::batch::addend;
use std::ops::Add;

use serde::{Deserialize, Serialize};

use super::allocation_shapes::AllocationShapes;
use super::grid::Grid;
use super::history::{CapacityState, History};
use super::resource::LEDGER_N;
use super::slice::Interval;
use super::sweep::{TimeRange, Visit, sweep};
use super::unit::Thresholds;

/// Decimal places of a rate.
pub const RATE_PLACES: u32 = 12;
const RATE_ONE: i128 = 1_000_000_000_000;
/// Decimal places of what a job is billed.
pub const BILL_PLACES: u32 = 9;
const BILL_ONE: i128 = 1_000_000_000;

/// How the cost of a node is shared between its jobs and the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

    /// What jobs share of a resource of which something is allocated: of amounts, or of their sums over time.
    #[must_use]
    pub fn billable<T: Add<Output = T>>(self, allocated: T, overhead: T, stranded: T) -> T {
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

/// A resource of a node while nothing changes: how its capacity was split, and what jobs share of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BillingShare {
    /// What the node has.
    pub capacity: i64,
    /// What jobs hold, more than there is included.
    pub used: i64,
    /// Units times threshold.
    pub overhead: i64,
    /// Free and of no use to the unit.
    pub stranded: i64,
    /// What jobs share; nothing where none of them holds any.
    pub billable: i64,
}

/// The shares of the ledger's resources in a stretch, and how many units were free. `free` is scratch.
pub fn shares(
    stretch: &TimeRange<'_>,
    unit: &Thresholds,
    scheme: Scheme,
    free: &mut Vec<i64>,
) -> (i64, [BillingShare; LEDGER_N]) {
    let is_up = stretch.state == CapacityState::Up;
    free.clear();
    for ((capacity, set_aside), used) in stretch.capacity.iter().zip(stretch.set_aside).zip(stretch.used) {
        let left = capacity - (*used).clamp(0, *capacity);
        free.push(if is_up { left - left.min(*set_aside) } else { 0 });
    }
    // Nothing can join a job that has the node to itself.
    let unit_n = if stretch.is_exclusive { 0 } else { unit.units(free) };
    let mut shares = [BillingShare::default(); LEDGER_N];
    let amounts = stretch
        .capacity
        .iter()
        .zip(stretch.used)
        .zip(free.iter())
        .zip(unit.iter());
    for (share, (((capacity, used), free), threshold)) in shares.iter_mut().zip(amounts) {
        let overhead = unit_n * addend(threshold);
        let allocated = (*used).clamp(0, *capacity);
        *share = BillingShare {
            capacity: *capacity,
            used: *used,
            overhead,
            stranded: free - overhead,
            billable: if allocated > 0 {
                scheme.billable(allocated, overhead, free - overhead)
            } else {
                0
            },
        };
    }
    (unit_n, shares)
}

/// Resource-seconds billed to every interval of a node, in units of 10^-9: what is held times the integral of the rate.
/// All of them add up to what is billable on the node, to the last unit: what rounding the rates down leaves is shared in
/// proportion, and of that what is left goes one each by tag.
pub fn bill(
    history: &History,
    intervals: &[Interval],
    shapes: &AllocationShapes,
    grid: &Grid,
    unit: &Thresholds,
    scheme: Scheme,
) -> Vec<[i128; LEDGER_N]> {
    node_bill(history, intervals, shapes, grid, unit, scheme).shared(intervals)
}

/// As [`bill`], before what rounding leaves is shared.
pub fn node_bill(
    history: &History,
    intervals: &[Interval],
    shapes: &AllocationShapes,
    grid: &Grid,
    unit: &Thresholds,
    scheme: Scheme,
) -> NodeBill {
    let mut meter = Meter {
        unit,
        scheme,
        shapes,
        integral: [0; LEDGER_N],
        total: [0; LEDGER_N],
        billed: vec![[0; LEDGER_N]; intervals.len()],
        free: Vec::new(),
    };
    sweep(history, intervals, shapes, grid, &mut meter);
    let (mut billed, total) = (meter.billed, meter.total);
    let mut rest = [0; LEDGER_N];
    for (resource, (rest, total)) in rest.iter_mut().zip(total).enumerate() {
        *rest = total * BILL_ONE - round_down(&mut billed, resource);
    }
    NodeBill { billed, rest }
}

/// What the intervals of a node are billed, rounded down, and what that leaves.
#[derive(Clone, Debug)]
pub struct NodeBill {
    /// By interval, in units of 10^-9.
    pub billed: Vec<[i128; LEDGER_N]>,
    /// What all of them leave of what is billable on the node.
    pub rest: [i128; LEDGER_N],
}

impl NodeBill {
    /// The same with what rounding left shared.
    #[must_use]
    pub fn shared(mut self, intervals: &[Interval]) -> Vec<[i128; LEDGER_N]> {
        let mut order: Vec<usize> = (0..intervals.len()).collect();
        order.sort_by_key(|at| intervals.get(*at).map(|of| (of.tag, *of)));
        for (resource, rest) in self.rest.into_iter().enumerate() {
            share_rest(&mut self.billed, resource, rest, &order);
        }
        self.billed
    }
}

/// Rounds what is billed of a resource down to the places of a bill; gives the sum.
fn round_down(billed: &mut [[i128; LEDGER_N]], resource: usize) -> i128 {
    let mut sum = 0;
    for of in billed.iter_mut().filter_map(|billed| billed.get_mut(resource)) {
        *of /= RATE_ONE / BILL_ONE;
        sum += *of;
    }
    sum
}

/// Shares what rounding left in proportion to what is billed.
fn share_rest(billed: &mut [[i128; LEDGER_N]], resource: usize, rest: i128, order: &[usize]) {
    /// Weights below 2^60 and a rest below 2^60 give a product that fits.
    const WEIGHT_BITS: u32 = 60;
    let each = billed.iter().filter_map(|billed| billed.get(resource));
    let most = each.fold(0, |most: i128, of| most.max(*of));
    // Fallback: weights that have no more bits than may be are not shifted.
    let shift = (128 - most.leading_zeros()).saturating_sub(WEIGHT_BITS);
    let weights: i128 = billed
        .iter()
        .filter_map(|billed| billed.get(resource))
        .map(|of| of >> shift)
        .sum();
    if rest <= 0 || weights == 0 {
        return;
    }
    let mut left = rest;
    for of in billed.iter_mut().filter_map(|billed| billed.get_mut(resource)) {
        // Fallback: never taken, 60 bits of weight and 60 of the rest fit.
        let share = rest.saturating_mul(*of >> shift) / weights;
        *of += share;
        left -= share;
    }
    // Fewer are left than there are who pay.
    while left > 0 {
        for at in order {
            let Some(of) = billed.get_mut(*at).and_then(|billed| billed.get_mut(resource)) else {
                continue;
            };
            if left > 0 && *of > 0 {
                *of += 1;
                left -= 1;
            }
        }
    }
}

struct Meter<'a> {
    unit: &'a Thresholds,
    scheme: Scheme,
    shapes: &'a AllocationShapes,
    /// Integral of the rates since the beginning.
    integral: [i128; LEDGER_N],
    /// Integral of what jobs share.
    total: [i128; LEDGER_N],
    /// By interval: the integral when it began, then what it is billed, in units of 10^-12.
    billed: Vec<[i128; LEDGER_N]>,
    free: Vec<i64>,
}

impl Visit for Meter<'_> {
    const WANTS_INTERVALS: bool = true;

    fn stretch(&mut self, stretch: &TimeRange<'_>) {
        let (_, shares) = shares(stretch, self.unit, self.scheme, &mut self.free);
        let span_s = i128::from(stretch.until_s - stretch.from_s);
        for ((integral, total), share) in self.integral.iter_mut().zip(&mut self.total).zip(shares) {
            // Fallback: where nobody uses anything there is no rate, and nobody is billed.
            *integral += rate(share.billable, share.used).unwrap_or(0) * span_s;
            *total += i128::from(share.billable) * span_s;
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
                // What is held is a part of what is used, so that its rate times it is at most what is billable (a pebibyte,
                // 50 bits) times RATE_ONE, and a slice has 31 bits of seconds.
                // Fallback: never taken, 50 and 40 and 31 bits are fewer than 127.
                *billed = (integral - *billed).saturating_mul(i128::from(*held));
            }
        }
    }
}
