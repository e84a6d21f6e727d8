//! What several tests need.

pub(crate) mod python;
pub(crate) mod sample;
