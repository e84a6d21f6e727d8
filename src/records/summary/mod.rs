//! Usage that arrives already aggregated: typed rows, which version of each counts, and batches of them.
//!
//! Summaries live beside job records and are never added to them: for one site, month and view they are alternatives.

mod batch;
pub mod merge;
mod row;

pub use batch::{from_batch, to_batch};
pub use row::{Summary, SummaryKind, SummaryRow};
