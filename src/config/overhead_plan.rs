//! `[overhead]`, resolved.

use serde::{Deserialize, Serialize};

use crate::occupancy::{Scheme, Unit};
use crate::time::{Day, YearStart, Zone};

/// Where nodes and what they have come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodesFrom {
    /// The inventories of the pipeline.
    Inventory,
    /// The most that jobs held at one time.
    Jobs,
}

/// `[overhead]`, resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverheadPlan {
    /// Where nodes come from.
    pub nodes: NodesFrom,
    /// First day and the day after the last; `None` for the days the jobs of a site span.
    pub period: Option<(Day, Day)>,
    /// Who bears what is not used.
    pub scheme: Scheme,
    /// Whether jobs are charged by that scheme: where the pipeline sets `billing`.
    pub is_charged: bool,
    /// Canonical units in the order of the file.
    pub units: Vec<Unit>,
}

impl OverheadPlan {
    /// What decides the bytes of the datasets, as a text.
    pub(crate) fn canonical(&self, zone: &Zone, allocation_year_start: YearStart) -> String {
        let YearStart { month, day } = allocation_year_start;
        format!(
            "{:?} {:?} {:?} {} {:?} {} ({month}, {day})",
            self.nodes,
            self.period,
            self.scheme,
            self.is_charged,
            self.units,
            zone.name()
        )
    }
}
