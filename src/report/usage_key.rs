//! What usage and the charges of the same jobs have in common.

use crate::time::{Day, Month};

/// The view whose hours are the site's own account; others describe the same hours.
pub(super) const OWN_VIEW: &str = "batch";

/// What usage and the charges of the same jobs are both distinguished by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsageKey<'a> {
    /// Site.
    pub site: &'a str,
    /// VO.
    pub vo: Option<&'a str>,
    /// Account that pays.
    pub account: Option<&'a str>,
    /// Cluster.
    pub cluster: Option<&'a str>,
    /// Month, in the lake's zone.
    pub month: Month,
    /// Day, at day grain.
    pub day: Option<Day>,
    /// The signed correction it is an entry of.
    pub correction: Option<&'a str>,
    /// Name of the pipeline's source.
    pub source: Option<&'a str>,
    /// Partition.
    pub partition: Option<&'a str>,
    /// Quality of service.
    pub qos: Option<&'a str>,
}
