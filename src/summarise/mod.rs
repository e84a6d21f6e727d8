//! Attribute jobs to periods and add them up, per site, VO and allocation year.

pub mod apportion;
pub mod contributions;
mod correct;
pub mod group;
pub mod summaries;
pub mod sums;
pub mod usage;
pub mod view;

pub use usage::Usage;
