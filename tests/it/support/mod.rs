//! What several tests share.

pub(crate) mod collect;
pub(crate) mod python;
#[cfg(feature = "cloud")]
pub(crate) mod s3;
pub(crate) mod sample;
pub(crate) mod tar;
