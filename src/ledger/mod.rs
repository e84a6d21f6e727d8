//! Where every row of input went.

pub mod book;
pub mod reason;

pub use book::Book;
pub use reason::{Outcome, Reason, RowReasons};
