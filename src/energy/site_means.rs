//! What the tables of one site state of the run of a job.

use crate::reference::energy::course::CourseMean;

/// Means over the run of a job; `None` where a part of it is unknown.
#[derive(Clone, Copy, Debug)]
pub struct SiteMeans {
    /// Of the PUE, in ten-thousandths.
    pub pue: Option<CourseMean>,
    /// Of the carbon intensity, in ten-thousandths of g/kWh.
    pub intensity: Option<CourseMean>,
    /// Of PUE times carbon intensity, in ten-thousandths of each.
    pub carbon: Option<CourseMean>,
}
