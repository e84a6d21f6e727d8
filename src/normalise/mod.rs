//! Dated benchmarks: from time to work.

mod normaliser;
pub mod plan;
mod records;
mod scale;

pub use normaliser::{Normaliser, StatedBenchmark};
pub use records::{Origins, ScaledBy, Scales, factors_of, kept_factors, with_factors};
pub use scale::{Scale, ScaleReference};
