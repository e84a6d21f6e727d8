//! What summing works by.

use std::sync::Arc;

use super::Attribution;
use crate::charge::Tariff;
use crate::energy::EnergyPlan;
use crate::normalise::plan::NormalisePlan;
use crate::reference::correction::CorrectionTable;
use crate::time::{Grain, YearStart, Zone};

/// What of a pipeline decides the sums of its jobs and summaries.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// How a job is attributed to periods.
    pub attribution: Attribution,
    /// Finest period.
    pub grain: Grain,
    /// Zone in which days, months and allocation years are cut.
    pub calendar_zone: &'a Zone,
    /// First month and day of an allocation year.
    pub allocation_year_start: YearStart,
    /// Benchmarks.
    pub normalise: &'a NormalisePlan,
    /// Energy and carbon; `None` leaves their columns null.
    pub energy: Option<&'a EnergyPlan>,
    /// What jobs are charged by, ordered by policy, version and options.
    pub tariffs: &'a [Arc<Tariff>],
    /// Signed corrections.
    pub corrections: Option<&'a CorrectionTable>,
}
