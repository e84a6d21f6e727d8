//! Where every row of input went.

pub mod book;
pub mod file_paths;
mod job_sample;
mod job_sampler;
pub mod path_contents;
pub mod places;
pub mod reason;
mod tables;

pub use book::{Book, FileReason, ReasonRows};
pub use job_sample::{DaySample, JobSample};
pub use job_sampler::JobSampler;
pub use places::{Places, RowPlace};
pub use reason::{Outcome, Reason, RowReasons};
pub use tables::{BOOK_TABLES, BookTable};
