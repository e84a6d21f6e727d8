//! One page about one site that a resource board reads, and the same numbers as CSV next to it.
//!
//! [`data`] reads the lake, [`chart`] draws, [`page`] writes.

mod charge_sum;
pub mod charged;
pub mod chart;
pub mod coverage;
pub mod data;
mod energy;
pub mod page;
mod provenance;
mod quality;
mod quality_section;
mod split;
pub mod supply;
pub mod users;
