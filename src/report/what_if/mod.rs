//! What other rules of fairshare, and other shares, would make of the same jobs: before and after, and who gains and loses.
//!
//! In: the jobs and listings of a lake, what its pipeline states of the fairshare of a cluster, and what is assumed in its
//! place. Out: every assumption, and for every account and user shares, usage, factor, place and priority points before and
//! after; the same of waiting jobs, and day by day over a period. Nothing is published.
//!
//! What it promises:
//! * Both sides are computed by the same code from the same jobs, as `report sshare` and the `fairshare` dataset have them.
//!   What is not assumed is the same on both.
//! * Every assumption that differs is stated, the old value and the new one.
//! * Jobs are the same: nobody submits other ones, and none starts earlier. It is not a simulation of schedules.
//!
//! ```text
//! side         what one side is computed under
//! assumptions  settings and shares as texts, and which of them differ
//! data         both sides at an instant, over a period, and of waiting jobs
//! queue        priorities and places of waiting jobs
//! period       days of a period, added up
//! tables       all of it as tables
//! output       tables for people, wikis and programs
//! drawings     factors before and after as charts
//! page         the page
//! ```

mod assumptions;
pub mod data;
mod drawings;
pub mod output;
mod page;
mod period;
mod queue;
mod side;
pub mod tables;

pub use data::{FairshareWhatIf, WhatIfRequest};
pub use tables::WhatIfTable;
