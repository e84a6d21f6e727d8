//! What several tests share.

pub(crate) mod collect;
pub(crate) mod python;
pub(crate) mod sample;
