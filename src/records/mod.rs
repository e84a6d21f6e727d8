//! One identity, one typed model, duplicates resolved.

pub mod anomaly;
pub mod columns;
pub mod history;
pub mod identity;
pub mod intake;
pub mod merge;
pub mod row;
pub mod spill;
pub mod summary;

pub use anomaly::Anomaly;
pub use intake::{Harvest, Intake, Reject, Tally, Window};
pub use row::JobRow;
pub use summary::{Summary, SummaryKind, SummaryRow};
