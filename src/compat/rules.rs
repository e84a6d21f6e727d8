//! From the sums of a group to the numbers a publisher makes of them.

use super::gracc::GraccPeerBucket;
use super::group::{PeerKey, PeerSums};
use super::mode::{E10, PeerMode, WORK};
use crate::amounts::{add, finer, product, too_large};
use crate::error::Result;
use crate::reference::benchmark::{Benchmark, SI00_PER_HS06};

/// The numbers of one group. Work is in units of 10^-10 seconds of HEPSPEC06 or `HEPscore23`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PeerNumbers {
    /// Jobs.
    pub(super) job_n: i64,
    /// Jobs whose number of cores is not known; they count as one.
    pub(super) core_unknown_job_n: i64,
    /// Jobs whose exact work is not known.
    pub(super) native_unknown_job_n: i64,
    /// Wall seconds published, not times cores.
    pub(super) wall_s: i128,
    /// CPU seconds published.
    pub(super) cpu_s: i128,
    /// Wall seconds times cores.
    pub(super) core_wall_s: i128,
    /// Wall work published.
    pub(super) wall_e10: i128,
    /// CPU work published.
    pub(super) cpu_e10: i128,
    /// Wall work published times cores.
    pub(super) core_wall_e10: i128,
    /// Exact wall work.
    pub(super) native_wall_e10: i128,
    /// Exact CPU work.
    pub(super) native_cpu_e10: i128,
    /// Exact core wall work.
    pub(super) native_core_wall_e10: i128,
    /// Earliest end, Unix milliseconds.
    pub(super) earliest_ms: Option<i64>,
    /// Latest end.
    pub(super) latest_ms: Option<i64>,
}

impl PeerNumbers {
    /// Adds another group's.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the sum that is too large.
    pub(super) fn add(&mut self, other: &Self) -> Result<()> {
        for (sum, part, what) in [
            (&mut self.job_n, other.job_n, "job_n"),
            (
                &mut self.core_unknown_job_n,
                other.core_unknown_job_n,
                "core_unknown_job_n",
            ),
            (
                &mut self.native_unknown_job_n,
                other.native_unknown_job_n,
                "native_unknown_job_n",
            ),
        ] {
            add(sum, part, what)?;
        }
        for (sum, part, what) in [
            (&mut self.wall_s, other.wall_s, "wall_s"),
            (&mut self.cpu_s, other.cpu_s, "cpu_s"),
            (&mut self.core_wall_s, other.core_wall_s, "core_wall_s"),
            (&mut self.wall_e10, other.wall_e10, WORK),
            (&mut self.cpu_e10, other.cpu_e10, WORK),
            (&mut self.core_wall_e10, other.core_wall_e10, WORK),
            (&mut self.native_wall_e10, other.native_wall_e10, WORK),
            (&mut self.native_cpu_e10, other.native_cpu_e10, WORK),
            (&mut self.native_core_wall_e10, other.native_core_wall_e10, WORK),
        ] {
            add(sum, part, what)?;
        }
        self.earliest_ms = [self.earliest_ms, other.earliest_ms].into_iter().flatten().min();
        self.latest_ms = [self.latest_ms, other.latest_ms].into_iter().flatten().max();
        Ok(())
    }
}

/// What a mode publishes of a group of jobs.
///
/// # Errors
/// [`crate::error::Kind::Data`] when its work is too large.
pub(super) fn publish(mode: PeerMode, key: &PeerKey, sums: &PeerSums) -> Result<PeerNumbers> {
    let work = match mode {
        PeerMode::Native => WallCpu {
            wall: sums.native_wall_e10,
            cpu: sums.native_cpu_e10,
        },
        PeerMode::Apel | PeerMode::ApelPre23 => {
            let work = |s| product(apel_work(mode, s, key.kind, key.level_e3)?, E10, WORK);
            WallCpu {
                wall: work(sums.wall_s)?,
                cpu: work(sums.cpu_s)?,
            }
        }
        PeerMode::Auditor => WallCpu {
            wall: product(sums.rounded_wall, E10, WORK)?,
            cpu: product(sums.rounded_cpu, E10, WORK)?,
        },
        // OSG's exporter makes buckets of groups first.
        PeerMode::Gracc => return GraccPeerBucket::new(key, sums, None)?.numbers(),
    };
    let seconds = WallCpu {
        wall: sums.wall_s,
        cpu: sums.cpu_s,
    };
    numbers(key, sums, seconds, work)
}

/// A measure by wall time and by CPU time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WallCpu {
    pub(super) wall: i128,
    pub(super) cpu: i128,
}

/// The numbers of a group whose published seconds and work, in 10^-10, are known.
///
/// # Errors
/// [`crate::error::Kind::Data`] when they are too large times cores.
pub(super) fn numbers(key: &PeerKey, sums: &PeerSums, seconds: WallCpu, work_e10: WallCpu) -> Result<PeerNumbers> {
    let cores = i128::from(key.core_n.max(1));
    Ok(PeerNumbers {
        job_n: sums.job_n,
        core_unknown_job_n: if key.core_n == 0 { sums.job_n } else { 0 },
        native_unknown_job_n: sums.native_unknown_job_n,
        wall_s: seconds.wall,
        cpu_s: seconds.cpu,
        core_wall_s: product(seconds.wall, cores, "core_wall_s")?,
        wall_e10: work_e10.wall,
        cpu_e10: work_e10.cpu,
        core_wall_e10: product(work_e10.wall, cores, WORK)?,
        native_wall_e10: sums.native_wall_e10,
        native_cpu_e10: sums.native_cpu_e10,
        native_core_wall_e10: sums.native_core_wall_e10,
        earliest_ms: sums.earliest_ms,
        latest_ms: sums.latest_ms,
    })
}

/// Seconds times level, rounded half up. Before 2.3.0 the server divided by 250 whatever was not called HEPSPEC.
///
/// # Errors
/// [`crate::error::Kind::Data`] when it is too large.
pub(super) fn apel_work(mode: PeerMode, seconds: i128, kind: Option<Benchmark>, level_e3: i64) -> Result<i128> {
    let is_divided = match mode {
        PeerMode::ApelPre23 => kind != Some(Benchmark::Hs06),
        _ => kind == Some(Benchmark::Si00),
    };
    let divisor = 1000 * if is_divided { i128::from(SI00_PER_HS06) } else { 1 };
    let exact = product(seconds, i128::from(level_e3), WORK)?;
    Ok((finer(exact, 2) + divisor).div_euclid(divisor * 2))
}

/// AUDITOR's work of one job: seconds times score in binary floating point, halves to the even neighbour.
/// Both have 63 bits, so that the exact product has 126.
///
/// # Errors
/// As [`whole_of`].
pub(super) fn rounded_work(seconds: i64, kind: Benchmark, per_core_e4: i64) -> Result<i128> {
    let divisor: i128 = match kind {
        Benchmark::Hs06 | Benchmark::Hs23 => 10_000,
        Benchmark::Si00 => 10_000 * i128::from(SI00_PER_HS06),
    };
    let exact = i128::from(seconds) * i128::from(per_core_e4);
    let (whole, rest) = (exact.div_euclid(divisor), exact.rem_euclid(divisor));
    if rest * 2 == divisor {
        // Only here does it matter on which side of the half the product of two doubles falls.
        let score = float(i128::from(per_core_e4)) / float(divisor);
        return whole_of((float(i128::from(seconds)) * score).round_ties_even());
    }
    Ok(whole + i128::from(rest * 2 > divisor))
}

/// The double nearest to an integer.
pub(super) fn float(number: i128) -> f64 {
    // Fallback: never taken, the digits of an integer are those of a double.
    number.to_string().parse().unwrap_or(f64::MAX)
}

/// An integer that is a double.
///
/// # Errors
/// [`crate::error::Kind::Data`] when it does not fit 128 bits.
pub(super) fn whole_of(number: f64) -> Result<i128> {
    format!("{number:.0}").parse().map_err(|_| too_large(WORK))
}
