//! One identity, one typed model, duplicates resolved.

mod canonical;
pub mod columns;
mod contradictory_times;
pub mod copies;
mod day_blocks;
mod dealt;
mod dialects;
pub mod file_order;
pub mod fresh_day;
pub mod fresh_slice;
pub mod history;
pub mod identity;
pub mod intake;
pub mod intake_batch;
pub mod intake_rows;
mod job_facts;
mod job_rows;
pub mod keys;
pub mod limits;
pub mod losers;
pub mod mapping;
pub mod merge;
pub mod moved_starts;
mod named_amounts;
pub mod options;

pub mod packed;
pub mod reduced;
pub mod reject_text;
pub mod shared_blocks;
pub mod shifted;
pub mod sorted_blocks;
pub mod spill;
mod spill_key;
mod spill_segment;
mod stored_slices;
pub mod summary;
mod version;
pub mod window;

pub use crate::dedupe::intake_batch::{IntakeBatch, Reject};
pub use contradictory_times::ContradictoryTimes;
pub use intake::Intake;
pub use intake_rows::IntakeRows;
pub use mapping::MappingCounts;
pub use window::Window;
