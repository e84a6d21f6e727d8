//! A site and a month: what records are kept and added up by.

use crate::time::Month;

/// A site and a month.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteMonth {
    /// The site.
    pub site: String,
    /// The month.
    pub month: Month,
}

impl SiteMonth {
    /// A month of a site.
    #[must_use]
    pub fn new(site: impl Into<String>, month: Month) -> Self {
        let site = site.into();
        Self { site, month }
    }
}
