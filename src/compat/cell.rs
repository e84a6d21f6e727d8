//! Cells of the report: sums of what was published, by what the reader wants to see apart.

use super::group::{PeerKey, WORDS};
use super::mode::PeerMode;
use super::names::PeerNames;
use super::rules::PeerNumbers;
use crate::amounts::finer;
use crate::numbers::tally;
use crate::reference::benchmark::Benchmark;
use crate::reference::decimal;
use crate::reference::ratio::Ratio;
use crate::time::Month;

/// Dimensions of cells other than site and month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerDimension(usize);

const DIMENSIONS: [&str; 10] = [
    "vo",
    "vo_group",
    "vo_role",
    "global_user",
    "submit_host",
    "infrastructure",
    "benchmark",
    "benchmark_per_core",
    "alloc_node_n",
    "alloc_core_n",
];

impl PeerDimension {
    /// Every dimension: what APEL's server groups by.
    #[must_use]
    pub fn all() -> Vec<Self> {
        (0..DIMENSIONS.len()).map(Self).collect()
    }

    /// The dimension called `name`.
    ///
    /// # Errors
    /// A sentence for people.
    pub fn parse(name: &str) -> Result<Self, String> {
        let at = DIMENSIONS.iter().position(|known| *known == name);
        at.map(Self)
            .ok_or_else(|| format!("\"{name}\" is not one of {}", DIMENSIONS.join(", ")))
    }

    /// Its column.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        tally(DIMENSIONS.get(self.0).copied())
    }

    /// What a group has in it.
    pub(super) fn value(self, key: &PeerKey, names: &PeerNames) -> Option<String> {
        let count = |n: i64| (n > 0).then(|| n.to_string());
        match self.as_str() {
            "benchmark" => key.kind.map(Benchmark::as_str).map(str::to_owned),
            "benchmark_per_core" => (key.level_e3 > 0).then(|| decimal::text(i128::from(key.level_e3), 3)),
            "alloc_node_n" => count(key.node_n),
            "alloc_core_n" => count(key.core_n),
            word => {
                let at = WORDS.iter().position(|name| *name == word)?;
                names.text(*key.words.get(at)?).map(str::to_owned)
            }
        }
    }
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerCell {
    /// Site.
    pub site: String,
    /// UTC month in which the jobs ended.
    pub month: Month,
    /// In the order of the requested dimensions; `None` is unknown or not published.
    pub dimensions: Vec<Option<String>>,
    pub(super) numbers: PeerNumbers,
}

/// Columns of a cell behind its dimensions, and whether they are integers.
pub(super) const MEASURES: [(&str, bool); 18] = [
    ("job_n", true),
    ("wall_s", true),
    ("cpu_s", true),
    ("core_wall_s", true),
    ("normalised_wall_s", false),
    ("normalised_cpu_s", false),
    ("normalised_core_wall_s", false),
    ("native_wall_s", false),
    ("native_cpu_s", false),
    ("native_core_wall_s", false),
    ("wall_difference_s", false),
    ("cpu_difference_s", false),
    ("egi_cpu_efficiency_percent", false),
    ("wlcg_cpu_efficiency_percent", false),
    ("core_unknown_job_n", true),
    ("native_unknown_job_n", true),
    ("earliest_end_utc", false),
    ("latest_end_utc", false),
];

impl PeerCell {
    /// The measures as text, in the order of [`MEASURES`]; empty where there is none.
    pub(super) fn measures(&self) -> [String; 18] {
        let n = &self.numbers;
        let work = |e10: i128| decimal::text(e10, 10);
        let time = |ms: Option<i64>| {
            // Empty where there is none.
            // Fallback: an unknown instant is an empty cell.
            ms.and_then(crate::time::instant::instant_text).unwrap_or_default()
        };
        [
            n.job_n.to_string(),
            n.wall_s.to_string(),
            n.cpu_s.to_string(),
            n.core_wall_s.to_string(),
            work(n.wall_e10),
            work(n.cpu_e10),
            work(n.core_wall_e10),
            work(n.native_wall_e10),
            work(n.native_cpu_e10),
            work(n.native_core_wall_e10),
            work(n.wall_e10 - n.native_wall_e10),
            work(n.cpu_e10 - n.native_cpu_e10),
            percent(n.cpu_e10, n.core_wall_e10),
            percent(n.cpu_s, n.core_wall_s),
            n.core_unknown_job_n.to_string(),
            n.native_unknown_job_n.to_string(),
            time(n.earliest_ms),
            time(n.latest_ms),
        ]
    }

    /// A measure by its column.
    #[must_use]
    pub fn measure(&self, column: &str) -> Option<String> {
        let at = MEASURES.iter().position(|(name, _)| *name == column)?;
        self.measures().into_iter().nth(at)
    }
}

/// Part of a whole in percent, two decimals, halves up; nothing of nothing.
fn percent(part: i128, whole: i128) -> String {
    let hundred = finer(part, 100);
    Ratio::new(hundred, whole).map_or_else(String::new, |ratio| ratio.text(2))
}

/// The dimensions a mode publishes: those of the default without the ones its publisher drops.
pub(super) fn default_dimensions(mode: PeerMode) -> Vec<PeerDimension> {
    let names: &[&str] = match mode {
        // Its messages name no benchmark.
        PeerMode::Gracc => &["vo"],
        _ => &["vo", "benchmark"],
    };
    names
        .iter()
        .filter_map(|name| PeerDimension::parse(name).ok())
        .collect()
}
