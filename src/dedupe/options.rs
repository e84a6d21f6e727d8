//! What a source states for records that do not.

use super::limits::node_list_within_limit;
use crate::record::JobRow;
use crate::record::infrastructure::StatedInfrastructure;
use crate::reference::benchmark::scaled_to::ScaledTo;
use crate::reference::site::SiteRule;
use crate::reference::vo_rule::VoRule;

/// What completes the records of a source.
#[derive(Clone, Debug)]
pub struct IntakeOptions {
    /// Name of the source.
    pub source: String,
    /// Site of every record; `None` takes the record's.
    pub site: Option<String>,
    /// Where the site comes from when the source does not name it.
    pub site_rule: SiteRule,
    /// Cluster of records that do not name one.
    pub cluster: Option<String>,
    /// Infrastructure of records that do not state one.
    pub infrastructure: Option<StatedInfrastructure>,
    /// Where the VO comes from.
    pub vo: VoRule,
    /// The reference its times arrive scaled to; `None` when they are raw.
    pub scaled_to: Option<ScaledTo>,
}

impl IntakeOptions {
    /// Of a source that states nothing else.
    #[must_use]
    pub fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            site: None,
            site_rule: SiteRule::default(),
            cluster: None,
            infrastructure: None,
            vo: VoRule::Record,
            scaled_to: None,
        }
    }

    /// The row with what its source states in place of what it does not, without a CPU time below zero and without a list
    /// of nodes beyond the limit; `None` where that changes nothing.
    pub(crate) fn completed<'a>(&'a self, row: &JobRow<'a>) -> Option<JobRow<'a>> {
        let cluster = row.cluster.or(self.cluster.as_deref());
        let infrastructure = row.infrastructure.or(self.stated_infrastructure());
        let cpu_ms = row.cpu_ms.filter(|cpu| *cpu >= 0);
        let node_list = node_list_within_limit(row);
        let is_same = cluster.is_some() == row.cluster.is_some()
            && infrastructure.is_some() == row.infrastructure.is_some()
            && cpu_ms == row.cpu_ms
            && node_list.is_some() == row.node_list.is_some();
        (!is_same).then(|| JobRow {
            cluster,
            infrastructure,
            cpu_ms,
            node_list,
            ..row.clone()
        })
    }

    /// The word of `infrastructure`, for records that do not state one.
    #[must_use]
    pub fn stated_infrastructure(&self) -> Option<&'static str> {
        self.infrastructure.map(StatedInfrastructure::as_str)
    }
}
