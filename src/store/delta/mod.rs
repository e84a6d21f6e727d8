//! Delta logs: each dataset of the kept files as a table of Delta Lake, with a version for each publication that changes it.
//!
//! In: what was published, and what is being committed ([`super::Fact::DeltaLog`] states that there are logs). Out: the next
//! file of the log of each dataset that differs, which the commit moves to its place together with the document of the
//! snapshot: written by one run at a time, never replaced. The root of a table is where its kept files are, for Delta names
//! files that never change:
//!
//! ```text
//! .gridtally/kept/usage/_delta_log/00000000000000000007.json
//! .gridtally/kept/usage/site=S/vo=V/allocation_year=Y/BLAKE3.parquet
//! ```
//!
//! Only the columns of `content_hash`, unsigned numbers of 64 bits, have no type in Delta and are left out of its schema.

mod commit;
mod log;
mod table;
pub mod versions;

pub(super) use commit::DeltaLogs;
pub(super) use log::is_of_log;
pub use versions::{DeltaVersion, delta_versions};
