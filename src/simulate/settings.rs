//! What a simulated scheduler does.

use std::sync::Arc;

use super::limits::GroupLimits;
use super::multifactor::Multifactor;
use super::window::WindowSettings;

/// In which order jobs wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseOrder {
    /// First come, first served: by submission, then by number.
    #[default]
    Fcfs,
    /// By the utility of ALCF, highest first: `(queued / limit)^3 * nodes`, computed again in every pass.
    Wfp,
    /// By the multifactor priority of Slurm, highest first, then by submission ([`Settings::multifactor`]).
    Multifactor,
}

/// Which jobs may start before others that are ahead of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backfill {
    /// None.
    None,
    /// Those that do not delay the first waiting job.
    #[default]
    Easy,
    /// Those that do not delay any waiting job: each has a reservation.
    Conservative,
}

/// What stands for the length of a job before it has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimate {
    /// Its time limit.
    #[default]
    Requested,
    /// How long it will run, as no scheduler knows.
    Actual,
    /// Its time limit once it runs, and how long it will run when it is considered for backfilling: as `CQSim` does.
    CqsimMixed,
}

/// In which order things of the same second happen, and when the scheduler runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventOrder {
    /// All ends of a second, then all submissions, then one pass.
    #[default]
    Batched,
    /// A pass after each event, ends first: as `CQSim` does.
    Cqsim,
    /// A pass after each event, submissions first; a job whose time limit is reached has freed what it has: as `PySS` does.
    Pyss,
}

/// A simulated scheduler.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// In which order jobs wait.
    pub base: BaseOrder,
    /// What the priorities of [`BaseOrder::Multifactor`] follow from; it is of the jobs that are simulated.
    pub multifactor: Option<Arc<Multifactor>>,
    /// Which jobs may start before others.
    pub backfill: Backfill,
    /// What stands for the length of a job.
    pub estimate: Estimate,
    /// When the scheduler runs.
    pub events: EventOrder,
    /// Limits of users, accounts, partitions or QOS, where there are any.
    pub limits: Option<Arc<GroupLimits>>,
    /// The choice of jobs from a window, where there is one.
    pub window: Option<WindowSettings>,
}
