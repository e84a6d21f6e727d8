//! Input files to rows: found, opened, read side by side, refused rows kept.
//!
//! In: the sources of a plan. Out: records by day, summaries, inventory rows, rejects, and what each file came to.
//! Promise: every row that was framed ends in one of them, and the ledger says where.

pub(crate) mod again;
pub(crate) mod apart;
pub(crate) mod desk;
pub mod findings;
pub mod first_refusal;
pub(crate) mod grid;
pub(crate) mod grid_said;
pub(crate) mod grids;
pub(crate) mod inputs;
pub(crate) mod read_file;
pub mod reading;
pub(crate) mod refused;
pub(crate) mod repair;
pub mod seen;
pub(crate) mod shelf;
