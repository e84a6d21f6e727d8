//! Bytes of one dialect become job rows, or rows about the machine, and rejects. Only this room knows a vendor's column name.

pub mod apel;
mod arrival;
mod clip;
pub mod compression;
pub mod decimal;
pub mod dialect;
mod find_local;
mod find_remote;
pub mod fqan;
pub mod gracc;
pub mod hashing;
pub mod hints;
pub mod input;
pub mod instant;
pub mod inventory;
mod remote;
pub mod sacct;
pub mod sink;
mod steps;

pub use sink::{Pieces, Position, Sink, Work};
