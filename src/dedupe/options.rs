//! What a source states for records that do not.

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
    /// The word of `infrastructure`, for records that do not state one.
    #[must_use]
    pub fn stated_infrastructure(&self) -> Option<&'static str> {
        self.infrastructure.map(StatedInfrastructure::as_str)
    }
}
