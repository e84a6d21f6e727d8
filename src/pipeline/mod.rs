//! From a pipeline file to a finished run.

pub mod compile;
mod fingerprint;
pub mod options;
pub mod plan;
pub mod progress;
mod section;
pub mod spec;

pub use options::RunOptions;
pub use plan::{Format, Plan, SourcePlan};
pub use progress::Progress;
