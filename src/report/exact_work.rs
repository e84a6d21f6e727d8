//! The work of a group of jobs, rounded nowhere: the server's own arithmetic rounds it for each of its rows.

use super::apel::aggregate::Aggregate;
use super::work_scale::WorkScale;
use crate::amounts::product;
use crate::error::Result;
use crate::reference::benchmark::{Benchmark, SI00_PER_HS06};

/// Billionths of one.
pub const E9: i128 = 1_000_000_000;

/// Work in billionths of a second of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactWork {
    /// Of wall time, not times cores.
    pub wall_e9: i128,
    /// Of wall time times cores; jobs of unknown cores count as one core.
    pub core_wall_e9: i128,
    /// Of CPU time.
    pub cpu_e9: i128,
    /// The benchmark: HEPscore23 or HEPSPEC06. SI00 and unnamed benchmarks count as HEPSPEC06.
    pub benchmark: Benchmark,
}

impl ExactWork {
    /// Of a group in a scale; `None` where it has none in it. Work that arrived normalised is in whole seconds.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the work that is too large.
    pub fn of(group: &Aggregate, scale: WorkScale) -> Result<Option<Self>> {
        let Some(chosen) = scale.chosen(&group.works) else {
            return Ok(None);
        };
        let cores = i128::from(group.core_n.max(1));
        let level_e3 = group.levels_e3.get(chosen.place).copied().flatten();
        let (wall, core_wall, cpu, unit_e9) = if let Some(level_e3) = level_e3 {
            // A millisecond by a thousandth is a millionth.
            let unit_e9 = if chosen.place == Benchmark::Si00.place() {
                1000 / i128::from(SI00_PER_HS06)
            } else {
                1000
            };
            let wall_ms = group.sums.wall_ms().max(0);
            let core_wall_ms = product(wall_ms, cores, "core_wall_ms")?;
            let cpu_ms = i128::from(group.sums.cpu_ms.max(0));
            (wall_ms, core_wall_ms, cpu_ms, unit_e9 * i128::from(level_e3))
        } else {
            let wall_s = i128::from(chosen.work.wall_s);
            let core_wall_s = product(wall_s, cores, "core_wall_s")?;
            (wall_s, core_wall_s, i128::from(chosen.work.cpu_s), E9)
        };
        Ok(Some(Self {
            wall_e9: product(wall, unit_e9, "wall_work")?,
            core_wall_e9: product(core_wall, unit_e9, "core_wall_work")?,
            cpu_e9: product(cpu, unit_e9, "cpu_work")?,
            benchmark: chosen.benchmark,
        }))
    }
}
