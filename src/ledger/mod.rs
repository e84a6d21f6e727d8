//! Where every row of input went.

pub mod book;
pub mod places;
pub mod reason;

pub use book::{Book, FileReason, ReasonRows};
pub use places::Places;
pub use reason::{Outcome, Reason, RowReasons};
