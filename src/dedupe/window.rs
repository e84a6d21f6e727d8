//! The months a run is about.

use crate::time::Month;

/// The requested months of a run, both included; `None` is open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// First month.
    pub from: Option<Month>,
    /// Last month.
    pub to: Option<Month>,
}

impl Window {
    /// Whether every month is requested.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Whether `month` is requested.
    #[must_use]
    pub fn holds(&self, month: Month) -> bool {
        self.from.is_none_or(|from| month >= from) && self.to.is_none_or(|to| month <= to)
    }
}
