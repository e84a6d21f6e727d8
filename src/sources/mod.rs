//! Bytes of one dialect become job rows and rejects. Only this room knows a vendor's column name.

pub mod apel;
mod arrival;
mod clip;
pub mod compression;
pub mod decimal;
pub mod dialect;
pub mod excerpt;
mod find_local;
mod find_remote;
pub mod fqan;
pub mod gracc;
pub mod hashing;
pub mod hints;
pub mod input;
pub mod instant;
mod remote;
pub mod repair;
pub mod sacct;
pub mod sink;
mod steps;

pub use sink::{Pieces, Position, Sink, Work};
