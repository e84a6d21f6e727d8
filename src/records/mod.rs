//! One identity, one typed model, duplicates resolved.

pub mod anomaly;
pub mod columns;
pub mod file_order;
pub mod history;
pub mod identity;
pub mod intake;
pub mod mapping;
pub mod merge;
pub mod row;
pub mod spill;
pub mod summary;
mod version;
pub mod waiting;

pub use anomaly::Anomaly;
pub use intake::{Harvest, Intake, Reject, Tally, Window};
pub use mapping::MappingCounts;
pub use row::JobRow;
pub use summary::{Summary, SummaryKind, SummaryRow};
