//! From a pipeline file to a finished run.

pub mod as_of;
mod capacity;
pub mod clock;
pub mod compile;
mod corrections;
mod days;
mod desk;
mod fingerprint;
mod grid;
mod grids;
mod inputs;
mod inventory;
pub mod inventory_spec;
pub mod normalise_spec;
pub mod options;
pub mod overhead;
mod partition;
pub mod plan;
mod pool;
mod privacy;
pub mod progress;
mod read_file;
mod reading;
pub mod recompute;
mod refused;
pub mod rejects;
mod repair;
pub mod replay;
pub mod report;
pub mod run;
mod runs;
pub mod scaled_spec;
mod shelf;
pub mod spec;
pub mod stale;
mod state;
mod summaries;
pub mod sync;
mod unscaled;
mod usage;
pub mod verify;

use crate::problems::section;

pub use options::RunOptions;
pub use plan::{Format, Plan, SourcePlan};
pub use progress::Progress;
