//! The expression engine: group-bys and formulas over typed batches, exact and in memory.
//!
//! What holds in this room:
//!
//! * Nothing here reads or writes bytes: batches come in and batches go out.
//! * Numbers are exact. One that does not fit is an error, never a wrapped number; none is ever a float.
//! * A sum of nothing known is unknown: null, not zero.
//! * Rows come out sorted by the keys, nulls first and text by its bytes, whatever order they came in.
//!
//! A formula is read as SQL ([`syntax`]), becomes nodes of settled types ([`node`]), and gives cells ([`cell`]): one value
//! for all rows where it depends on none, else a column.

mod cell;
mod column_use;
mod compute;
pub mod decimal;
pub mod evaluate;
pub mod formula;
pub mod functions;
pub mod group;
mod mistake;
mod node;
mod numbers;
mod syntax;
mod truths;
mod value;
mod words;

pub use decimal::SCALE;
pub use evaluate::evaluate;
pub use formula::Formula;
pub use group::{GroupMeasure, How, add_up};
pub use mistake::Mistake;
pub use node::TierStep;
pub use value::{Type, Value};
