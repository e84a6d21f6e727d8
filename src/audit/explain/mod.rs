//! One number, all the way down: a job with everything that was made of it, or the jobs behind a cell of charges or usage.

mod cell;
mod energy;
mod job;
mod piece;
mod raw;
mod text;
mod trace;
mod usage;

pub use cell::{Contributor, ExplainedCell, cell};
pub use job::{Explained, explain};
pub use usage::{UsageCell, usage};
