//! Input files to rows: found, opened, read in parallel, with refused rows kept.
//!
//! In: the sources of a plan. Out: records by day, summaries, inventory rows, rejects, and the outcome of each file.
//! Promise: every row that was framed ends in one of them, and the ledger records where.

pub(crate) mod file_hashes;
pub mod findings;
pub mod first_refusal;
pub(crate) mod identity_check;
pub(crate) mod identity_index;
pub(crate) mod identity_sources;
pub(crate) mod inputs;
pub(crate) mod output_overlap;
pub(crate) mod read_file;
pub mod reading;
pub(crate) mod reject_buffer;
pub(crate) mod reject_rows;
pub(crate) mod repair;
pub(crate) mod reread;
pub mod seen;
pub(crate) mod shared_bytes;
pub mod shared_jobs;
pub mod shrunk_files;
pub mod summary_limits;
pub(crate) mod worker_buffer;
