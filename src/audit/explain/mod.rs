//! One number, all the way down: a job with everything that was made of it, what is charged and is no job, or the jobs behind a
//! cell of charges or usage.

mod cell;
mod charged_entry;
mod energy;
mod job;
mod job_usage;
mod payer;
mod piece;
mod raw;
mod text;
mod trace;
mod usage;

pub use cell::{Contributor, ExplainedCell, cell};
pub use charged_entry::{ChargedEntry, charged_entries};
pub use job::{Explained, explain};
pub use usage::{UsageCell, usage};
