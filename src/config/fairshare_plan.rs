//! `[[fairshare]]`, resolved.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

use crate::fairshare::{DaemonRun, FairshareAlgorithm, ParentlessAccounts, UsageReset};
use crate::time::SecondSpan;

/// What jobs are counted by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UsageBasis {
    /// The billing that the batch system recorded: whole numbers, what was behind the point is cut off.
    RecordedBilling,
    /// What jobs are charged under a policy of the pipeline.
    Policy {
        /// Its id.
        policy: String,
        /// Its options, as name=value; empty when it has none.
        options: String,
    },
}

/// A time in which jobs are counted by something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatedUsage {
    /// Seconds of jobs that are counted so.
    pub span: SecondSpan,
    /// What they are counted by.
    pub usage: UsageBasis,
}

/// How usage of the past counts less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecayMode {
    /// In Slurm's steps.
    SlurmSteps,
    /// By the exact exponential.
    Continuous,
    /// In halves: the last half-life counts in full.
    HalvingSteps,
}

impl DecayMode {
    /// The words of the pipeline file.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("slurm-steps", Self::SlurmSteps),
        ("continuous", Self::Continuous),
        ("halving-steps", Self::HalvingSteps),
    ];
}

/// A duration of the pipeline file that may be stated by a listing of settings in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HalfLifeSetting {
    /// Usage does not decay.
    None,
    /// Seconds.
    Seconds(u32),
    /// What the newest listing of settings of the cluster states.
    Listed,
}

/// Fairshare of one cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FairsharePlan {
    /// Site.
    pub site: String,
    /// Cluster, as its jobs name it.
    pub cluster: String,
    /// Name of the inventory whose listings contain the associations.
    pub listing: String,
    /// What jobs are counted by.
    pub usage: UsageBasis,
    /// Times in which they are counted by something else, in order. Lakes of earlier versions state none.
    #[serde(default)]
    pub dated_usage: Vec<DatedUsage>,
    /// How usage of the past counts less.
    pub decay: DecayMode,
    /// After how long it counts half.
    pub half_life: HalfLifeSetting,
    /// Seconds from one calculation of the batch system to the next; `None` takes the listing of settings.
    pub calc_period_s: Option<u32>,
    /// An instant of such a calculation, Unix seconds: they are whole periods from it. `None` where the pipeline states none.
    pub calc_anchor_s: Option<i64>,
    /// Runs of the batch system's daemon, in order. Lakes of earlier versions state none.
    #[serde(default)]
    pub daemon_runs: Vec<DaemonRun>,
    /// When usage begins again at zero.
    pub reset: UsageReset,
    /// The algorithm.
    pub algorithm: FairshareAlgorithm,
    /// Its dampening factor.
    pub dampening_factor: NonZeroU16,
    /// What accounts are without a stated parent.
    pub parentless: ParentlessAccounts,
    /// Priority points of a factor of one.
    pub priority_weight: Option<u32>,
    /// Factor of the usage of jobs by QOS, 10^-9; others by the listing of QOS.
    pub usage_factors_e9: BTreeMap<String, i64>,
}

impl FairsharePlan {
    /// Whether jobs are counted by what they are charged, at any time.
    #[must_use]
    pub fn is_charged(&self) -> bool {
        let dated = self.dated_usage.iter().map(|dated| &dated.usage);
        dated
            .chain([&self.usage])
            .any(|usage| matches!(usage, UsageBasis::Policy { .. }))
    }

    /// Whether a row of a listing may be of this cluster: what a listing does not state may be anything.
    #[must_use]
    pub fn may_be_of(&self, site: Option<&str>, cluster: Option<&str>) -> bool {
        site.is_none_or(|site| site == self.site) && cluster.is_none_or(|cluster| cluster == self.cluster)
    }
}
