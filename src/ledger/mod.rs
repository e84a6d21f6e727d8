//! Where every row of input went.

pub mod reason;

pub use reason::{Outcome, Reason};
