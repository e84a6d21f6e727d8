//! OSG's exporter: buckets of a site, VO, user and number of cores, each with one factor.

use super::group::{PeerKey, PeerSums};
use super::mode::{E10, WORK};
use super::rules::{PeerNumbers, WallCpu, float, numbers, whole_of};
use crate::amounts::product;
use crate::error::Result;

/// Taken when nothing better is known.
const DEFAULT: f64 = 12.0;

/// From here on a value per core is taken for one of a whole node.
const LIMIT: f64 = 200.0;

/// One bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct GraccPeerBucket {
    core_n: i64,
    factor: f64,
    numbers: PeerNumbers,
}

impl GraccPeerBucket {
    /// From the sums of a group. `site_e4` is the table's value for the site, for where the group's own is distrusted.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a sum is too large.
    pub(super) fn new(key: &PeerKey, sums: &PeerSums, site_e4: Option<i64>) -> Result<Self> {
        // CPU is user and system of all jobs together; the sum of totals counts only when the parts are not recorded.
        let cpu_ms = if sums.cpu_parts_ms == 0 {
            sums.cpu_ms
        } else {
            sums.cpu_parts_ms
        };
        let seconds = WallCpu {
            wall: sums.wall_ms / 1000,
            cpu: cpu_ms / 1000,
        };
        Ok(Self {
            core_n: key.core_n,
            factor: factor(&sums.factors_e4, site_e4),
            numbers: numbers(key, sums, seconds, WallCpu::default())?,
        })
    }

    /// Takes in a bucket that a renamed site makes the same: of the two factors the smaller one counts for both.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a sum is too large.
    pub(super) fn merge(&mut self, other: &Self) -> Result<()> {
        self.factor = self.factor.min(other.factor);
        self.numbers.add(&other.numbers)
    }

    /// What is published: seconds times factor, calculated in binary floating point, without what follows the point.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when the work is too large.
    pub(super) fn numbers(self) -> Result<PeerNumbers> {
        let work = |s: i128| product(whole_of((float(s) * self.factor).trunc())?, E10, WORK);
        let wall_e10 = work(self.numbers.wall_s)?;
        Ok(PeerNumbers {
            wall_e10,
            cpu_e10: work(self.numbers.cpu_s)?,
            core_wall_e10: product(wall_e10, i128::from(self.core_n.max(1)), WORK)?,
            ..self.numbers
        })
    }
}

/// The unweighted mean of the distinct values of a bucket.
fn factor(known_e4: &[i64], site_e4: Option<i64>) -> f64 {
    // Divided as here, it is the double nearest to the decimal that was written.
    let decimal = |e4: &i64| float(i128::from(*e4)) / 10_000.0;
    let known: Vec<f64> = known_e4.iter().map(decimal).collect();
    let factor = match known.as_slice() {
        [] => DEFAULT,
        [one] => *one,
        several => several.iter().sum::<f64>() / several.iter().map(|_| 1.0).sum::<f64>(),
    };
    if factor >= LIMIT {
        return site_e4.as_ref().map_or(DEFAULT, decimal);
    }
    factor
}
