//! One identity, one typed model, duplicates resolved.

pub mod columns;
pub mod copies;
pub mod file_order;
pub mod harvest;
pub mod history;
pub mod identity;
pub mod intake;
pub mod mapping;
pub mod merge;
pub mod options;
pub mod plausible;

pub mod spill;
pub mod stated;
pub mod summary;
mod version;
pub mod waiting;
pub mod window;

pub use harvest::{Harvest, Reject, Tally};
pub use intake::Intake;
pub use mapping::MappingCounts;
pub use window::Window;
