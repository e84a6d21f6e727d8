//! Two accounts of the same usage compared by site, VO and month, and why they differ.
//!
//! [`side`] brings either account into one form. Where both know single jobs, [`pairing`] finds which job of one is which
//! of the other, and [`proof`] adds up what they differ in, job by job: the causes of a cell add up to its difference.
//! Where one side has sums alone, [`sums`] looks for the least set of causes that explains a difference exactly. What no
//! rule proves is called unexplained, with the rest in numbers. [`compare`] puts all together.

pub mod amount;
pub mod compare;
pub mod difference_cause;
pub mod elsewhere;
pub mod factor;
pub mod job;
pub mod job_population;
pub mod lake_jobs;
mod lake_side;
pub mod level;
pub mod loss;
mod message_side;
pub mod pairing;
pub mod population;
pub mod proof;
pub mod relation;
pub mod shares;
pub mod stated_jobs;
pub mod steps;
pub mod sum_durations;
pub mod sum_factor;
pub mod sums;
mod tabulate;
pub mod usage_source;
