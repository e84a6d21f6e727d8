//! Bytes of one dialect become job rows and rejects. Only this room knows a vendor's column name.

mod arrival;
pub mod compression;
pub mod dialect;
mod find_local;
mod find_remote;
pub mod hints;
pub mod input;
mod remote;
pub mod apel;
mod clip;
pub mod decimal;
pub mod fqan;
pub mod gracc;
pub mod instant;
pub mod sacct;
pub mod sink;

pub use sink::{Pieces, Position, Sink, Work};
