//! From a pipeline file to a finished run.

pub mod plan;

pub use plan::{Format, Plan, SourcePlan};
