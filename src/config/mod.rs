//! The pipeline file: read, checked as a whole, resolved into a plan that can run.
//!
//! In: the text of a pipeline file and of the tables it names. Out: a [`plan::Plan`], or every mistake at once, each with
//! its line. Promise: what a plan holds is complete and valid; nothing behind this room looks at a pipeline file again.

pub mod as_of;
pub mod awards_spec;
mod canonical;
pub mod capacity_spec;
pub mod charge_spec;
pub mod compile;
mod compile_source;
pub mod compiler;
pub mod daemon_run_spec;
pub mod dated_usage_spec;
pub mod description;
pub(crate) mod energy_spec;
pub mod fairshare_change;
pub mod fairshare_plan;
pub mod fairshare_spec;
pub(crate) mod fingerprint;
pub mod inventory_spec;
mod keep_spec;
pub mod normalise_spec;
pub mod overhead_plan;
pub mod overhead_spec;
pub mod plan;
pub(crate) mod privacy_spec;
pub mod reject_limits;
pub mod scaled_spec;
pub mod source_key;
pub mod source_options;
pub mod source_plan;
pub mod source_rule;
pub mod source_spec;
pub mod spec;
mod summary_parts;
pub mod what_if_spec;

pub use plan::Plan;
pub use source_plan::SourcePlan;
