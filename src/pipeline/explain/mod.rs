//! One number, all the way down: a job with everything that was made of it, or the jobs behind a cell of charges.

mod cell;
mod job;
mod raw;
mod told;

pub use cell::{Cell, Contributor, cell};
pub use job::{Explained, explain};
