//! The pipeline file with everything looked up and checked: the only thing that can run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::as_of::AsOf;
use super::reject_limits::RejectLimits;
use super::source_plan::SourcePlan;
use crate::normalise::plan::NormalisePlan;
use crate::summarise::attribution::Attribution;
use crate::summarise::settings::Settings;
use crate::time::grain::Grain;
use crate::time::{YearStart, Zone};

/// What counts where a site, month and view have jobs and summaries. They are the same hours, recorded twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Jobs; the summaries are out of scope.
    Jobs,
    /// Summaries; the jobs are out of scope.
    Summaries,
    /// Jobs; the summaries are rejected.
    Reject,
}

impl Overlap {
    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Jobs => "jobs",
            Self::Summaries => "summaries",
            Self::Reject => "reject",
        }
    }
}

/// A pipeline that can run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// The pipeline file.
    pub file: PathBuf,
    /// Folder or URL of the lake.
    pub output: String,
    /// First month and day of an allocation year.
    pub allocation_year_start: YearStart,
    /// Zone in which days, months and allocation years are cut.
    pub calendar_zone: Zone,
    /// Attribution.
    pub attribution: Attribution,
    /// Grain.
    pub grain: Grain,
    /// What counts where jobs and summaries overlap; without it an overlap fails the run.
    pub overlap: Option<Overlap>,
    /// Jobs that two files contain with other times or another cluster count twice; else they stop the run.
    pub keeps_copies: bool,
    /// Limits of what may be refused over all sources.
    pub limits: RejectLimits,
    /// Which snapshots of the lake are kept; `None` makes none.
    pub keep: Option<crate::store::snapshots::KeepPolicy>,
    /// Whether each dataset gets a Delta log over its kept files.
    pub has_delta_log: bool,
    /// Sources in file order, then inventories in file order.
    pub sources: Vec<Arc<SourcePlan>>,
    /// By name of an inventory: when its files were true if they do not state it.
    pub as_of: BTreeMap<String, AsOf>,
    /// By name of an inventory: whether its listings name all nodes, where the pipeline sets it.
    pub complete: BTreeMap<String, bool>,
    /// True overhead; `None` leaves its datasets out.
    pub overhead: Option<super::overhead_plan::OverheadPlan>,
    /// Benchmarks: without a `[normalise]` those that records and summaries state.
    pub normalise: NormalisePlan,
    /// Energy and carbon; `None` leaves their columns null.
    pub energy: Option<Arc<crate::energy::EnergyPlan>>,
    /// What jobs are charged by, ordered by policy, version and options.
    pub tariffs: Vec<Arc<crate::charge::Tariff>>,
    /// Node types, of which installed capacity is made.
    pub capacity: Option<Arc<crate::reference::node_type::NodeTypeTable>>,
    /// Fairshare of clusters, ordered by site and cluster.
    pub fairshare: Vec<super::fairshare_plan::FairsharePlan>,
    /// Awards, resolved; `None` leaves their datasets out.
    pub awards: Option<Arc<crate::award::AwardPlan>>,
    /// Signed corrections.
    pub corrections: Option<Arc<crate::reference::correction::CorrectionTable>>,
    /// What becomes of names; `None` keeps them.
    pub privacy: Option<Arc<crate::privacy::Privacy>>,
    /// What of this plan decides the bytes of `usage` besides the records and the benchmarks.
    pub fingerprint: String,
}

impl Plan {
    /// What summing works by.
    #[must_use]
    pub fn summing(&self) -> Settings<'_> {
        Settings {
            attribution: self.attribution,
            grain: self.grain,
            calendar_zone: &self.calendar_zone,
            allocation_year_start: self.allocation_year_start,
            normalise: &self.normalise,
            energy: self.energy.as_deref(),
            tariffs: &self.tariffs,
            corrections: self.corrections.as_deref(),
        }
    }
}
