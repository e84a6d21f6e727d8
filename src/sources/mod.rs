//! Bytes of one dialect become job rows and rejects. Only this room knows a vendor's column name.

pub mod sacct;
pub mod sink;

pub use sink::{Pieces, Position, Sink, Work};
