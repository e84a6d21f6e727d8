//! Usage that arrives already aggregated: typed rows, which version of each counts, and batches of them.
//!
//! Summaries are kept separate from job records and are never added to them: for one site, month and view they are alternatives.

mod batch;
pub mod merge;
pub mod publishing;

pub use batch::{from_batch, to_batch};
