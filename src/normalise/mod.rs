//! Dated benchmarks: from time to work.

pub mod factor;

pub use factor::{Factors, Scale};
