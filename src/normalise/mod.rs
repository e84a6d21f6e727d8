//! Dated benchmarks: from time to work.

mod normaliser;
pub mod plan;
mod records;
mod scale;

pub use normaliser::Normaliser;
pub use records::{Origins, Scales, factors_of, with_factors};
pub use scale::{Scale, ScaleReference};
