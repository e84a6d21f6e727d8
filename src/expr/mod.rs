//! The expression engine: group-bys and formulas over typed batches, in memory, by Polars.
//!
//! What holds in this room:
//!
//! * [`bridge`] is the only file that knows both implementations of Arrow, and the only one that is not safe Rust.
//! * Nothing here reads or writes bytes: batches come in and batches go out.
//! * Sums are exact. A sum that does not fit its column is an error, never a wrapped number.
//! * A sum of nothing known is unknown: null, not zero.
//! * Rows come out sorted by the keys, nulls first and text by its bytes, whatever order they came in and whatever
//!   number of threads Polars takes (`POLARS_MAX_THREADS`).

pub mod bridge;
pub mod evaluate;
mod exact;
pub mod formula;
pub mod group;
pub mod words;

pub use evaluate::evaluate;
pub use formula::{Formula, Mistake, SCALE, TierStep, Type, Value};
pub use group::{GroupMeasure, How, add_up};
