//! The vocabulary of all readers: one row of a job or a summary, and what may be wrong with it.

pub mod anomaly;
pub mod infrastructure;
pub mod row;
pub(crate) mod summary;
pub mod unchanged_columns;

pub use crate::record::unchanged_columns::UnchangedColumns;
pub use anomaly::Anomaly;
pub use row::JobRow;
pub use summary::{Summary, SummaryKind, SummaryRow};
