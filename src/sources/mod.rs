//! Bytes of one dialect become job rows, or rows about the machine, and rejects. Only this room knows a vendor's column name.

pub mod apel;
pub mod archive;
mod arrival;
pub mod blah;
mod buffer;
mod clip;
pub mod compression;
pub mod cross_check;
pub mod decimal;
pub mod dialect;
pub mod excerpt;
mod find_local;
mod find_remote;
pub mod fqan;
pub mod gracc;
pub mod hashing;
pub mod hints;
pub mod htcondor;
pub mod input;
pub mod instant;
pub mod inventory;
pub mod json;
pub mod lines;
pub mod lsf;
pub mod pbs;
mod refusal;
pub(crate) mod relay;
mod remote;
pub mod repair;
pub mod sacct;
pub mod sge;
pub mod sink;
mod steps;
pub mod swf;
mod window;

pub use sink::{GridIdentity, Pieces, Position, Sink, Work};
