//! One identity, one typed model, duplicates resolved.

pub mod anomaly;
pub mod row;

pub use anomaly::Anomaly;
pub use row::JobRow;
