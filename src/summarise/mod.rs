//! Attribute jobs to periods and add them up, per site, VO and allocation year.

pub mod apportion;
pub mod attribution;
pub mod budget;
pub mod charges;
pub mod contributions;
mod correct;
pub mod correction_effect;
mod dimension_groups;
pub mod energy_figures;
pub mod group;
pub mod held_groups;
mod periods;
pub mod policy_facts;
mod rated_job;
pub mod settings;
pub mod share;
pub mod summaries;
pub mod sums;
pub mod usage;
pub mod view;
pub mod years;

pub use attribution::Attribution;
pub use usage::{RefusedJob, Usage};
