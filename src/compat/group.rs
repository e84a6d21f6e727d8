//! What publishers add up before they round.

use ahash::AHashMap;

use crate::reference::benchmark::Benchmark;
use crate::time::Month;

/// Texts of a key, in the order of [`PeerKey::words`].
pub(super) const WORDS: [&str; 6] = [
    "vo",
    "vo_group",
    "vo_role",
    "global_user",
    "submit_host",
    "infrastructure",
];

/// One group. What a mode does not group by is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PeerKey {
    /// UTC month of the end.
    pub(super) month: Month,
    /// Numbers of the texts, in the order of [`WORDS`].
    pub(super) words: [u32; 6],
    /// Benchmark published; `None` when none is named.
    pub(super) kind: Option<Benchmark>,
    /// Its value per core, in thousandths, as APEL keeps it.
    pub(super) level_e3: i64,
    /// Nodes; 0 is unknown.
    pub(super) node_n: i64,
    /// Cores; 0 is unknown.
    pub(super) core_n: i64,
}

/// Sums of one group.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerSums {
    /// Jobs.
    pub(super) job_n: i64,
    /// Wall time, not times cores.
    pub(super) wall_ms: i128,
    /// Whole wall seconds.
    pub(super) wall_s: i128,
    /// CPU time rounded to whole seconds for each job.
    pub(super) cpu_s: i128,
    /// CPU time of jobs whose records contain its parts.
    pub(super) cpu_parts_ms: i128,
    /// CPU time.
    pub(super) cpu_ms: i128,
    /// Wall work rounded for each job.
    pub(super) rounded_wall: i128,
    /// CPU work rounded for each job.
    pub(super) rounded_cpu: i128,
    /// Exact wall work, 10^-10.
    pub(super) native_wall_e10: i128,
    /// Exact CPU work, 10^-10.
    pub(super) native_cpu_e10: i128,
    /// Exact core wall work, 10^-10; jobs of unknown cores count as one.
    pub(super) native_core_wall_e10: i128,
    /// Jobs whose exact work is not known.
    pub(super) native_unknown_job_n: i64,
    /// Distinct positive values per core, ten-thousandths, ascending.
    pub(super) factors_e4: Vec<i64>,
    /// Earliest end, Unix milliseconds.
    pub(super) earliest_ms: Option<i64>,
    /// Latest end.
    pub(super) latest_ms: Option<i64>,
}

impl PeerSums {
    /// Takes note of a value per core.
    pub(super) fn note_factor(&mut self, e4: i64) {
        if let Err(at) = self.factors_e4.binary_search(&e4)
            && e4 > 0
        {
            self.factors_e4.insert(at, e4);
        }
    }

    /// Takes note of an end.
    pub(super) fn note_end(&mut self, earliest_ms: Option<i64>, latest_ms: Option<i64>) {
        self.earliest_ms = [self.earliest_ms, earliest_ms].into_iter().flatten().min();
        self.latest_ms = [self.latest_ms, latest_ms].into_iter().flatten().max();
    }
}

/// Sums by key.
pub(super) type PeerGroups = AHashMap<PeerKey, PeerSums>;
