//! The vocabulary of all readers: one row of a job or a summary, and what may be wrong with it.

pub mod anomaly;
pub(crate) mod column_struct;
pub mod dependency;
pub mod details;
pub mod energy;
pub mod infrastructure;
pub mod jobstats;
pub mod row;
pub mod site_month;
pub(crate) mod summary;
pub mod unchanged_columns;

pub use crate::record::unchanged_columns::UnchangedColumns;
pub use anomaly::Anomaly;
pub use details::{Exclusivity, JobDetails};
pub use energy::{Energy, EnergyReading};
pub use jobstats::{Jobstats, JobstatsOutcome};
pub use row::JobRow;
pub use site_month::SiteMonth;
pub use summary::{Summary, SummaryKind, SummaryNumbers, SummaryRow, SummaryWords};
