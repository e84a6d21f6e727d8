//! What others would have published of the same jobs, and the difference to the exact work of each.
//!
//! Publishers disagree on when to round, which benchmark of a job counts, and what a missing one is worth. Each mode does
//! what one of them does, on the records of a lake; `native` is the exact sum of work, job by job.
//!
//! Work is reported in seconds of the benchmark named next to it; SI00 is reported in HEPSPEC06 at 250 to 1, as all of them do.
//! Wall time is never multiplied by cores unless its name includes it. A job belongs to the UTC month of its end.

mod cell;
mod gracc;
mod group;
mod job;
mod lines;
pub mod mode;
mod names;
mod report;
mod rules;
mod summary;

pub use cell::{PeerCell, PeerDimension};
pub use lines::remarks;
pub use mode::PeerMode;
pub use report::{Left, PeerReportQuestion, WorkReport, report};
