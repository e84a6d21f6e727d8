//! Where every row of input went.

pub mod book;
pub mod reason;

pub use book::{Book, ReasonRows};
pub use reason::{Outcome, Reason, RowReasons};
