//! The vocabulary of all readers: one row of a job or a summary, and what may be wrong with it.

pub mod anomaly;
pub mod infrastructure;
pub mod repeats;
pub mod row;
pub(crate) mod summary;

pub use anomaly::Anomaly;
pub use repeats::Repeats;
pub use row::JobRow;
pub use summary::{Summary, SummaryKind, SummaryRow};
