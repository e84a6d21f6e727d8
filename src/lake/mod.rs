//! The state of a lake: its ledger, the settings it was made under, and what a run needs to know of it.
//!
//! In: the published files of a lake. Out: typed facts. Promise: what is read here is one published state, never a mix
//! of two.

pub(crate) mod addition_fact;
pub mod award_tables;
pub mod benchmark_fact;
pub(crate) mod calendar_fact;
pub(crate) mod capacity;
pub(crate) mod counted_records;
pub mod energy_fact;
pub(crate) mod energy_tables;
pub mod found;
mod listings;
pub mod moment;
pub mod new_corrections;
mod rebuild;
pub mod refused_records;
pub mod retention;
pub(crate) mod state;
pub(crate) mod tariffs;
pub mod views;
