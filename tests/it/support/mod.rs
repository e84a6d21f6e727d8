//! What several tests need.

pub(crate) mod python;
pub(crate) mod sample;
//! What several tests share.
pub(crate) mod collect;
