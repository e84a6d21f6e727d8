//! One run of a pipeline: what is outdated, partitions, usage, charges, summaries, and one publication of all of it.
//!
//! In: a plan and a lake. Out: a new state of the lake and a report. Promise: all of a run is published, or nothing.

pub(crate) mod awards;
pub(crate) mod charges;
pub(crate) mod copied;
mod copied_report;
pub mod coreless_files;
pub(crate) mod corrections;
pub(crate) mod days;
pub mod edited_policies;
pub(crate) mod energy_tables;
pub(crate) mod extent;
pub(crate) mod former_snapshots;
mod fresh_days;
pub mod incomplete_days;
pub(crate) mod inventory;
pub(crate) mod limits;
pub(crate) mod listed_nodes;
pub(crate) mod merge_queue;
pub(crate) mod meter_uses;
pub mod moved_report;
pub mod options;
pub(crate) mod outdated;
pub mod overlap_report;
pub(crate) mod partition;
pub(crate) mod partition_context;
mod partition_tables;
mod pieces;
pub(crate) mod priced;
pub mod recompute;
pub mod recompute_energy;
pub(crate) mod reduced_report;
pub(crate) mod refused_reservations;
pub mod reservation_report;
pub(crate) mod reservations;
pub mod run_ending;
pub mod run_identity;
pub(crate) mod run_log;
pub mod run_report;
pub mod run_summary;
mod run_words;
pub(crate) mod slices;
pub mod source_report;
pub mod stages;
pub(crate) mod summaries;
pub(crate) mod summary_kinds;
mod unbuilt_parts;
pub(crate) mod usage;
mod usage_months;
pub(crate) mod usage_rejects;

pub use options::RunOptions;
