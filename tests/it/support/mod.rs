//! What several tests share.

#[cfg(feature = "cloud")]
pub(crate) mod azure;
pub(crate) mod collect;
pub(crate) mod environment;
pub(crate) mod events;
pub(crate) mod forge;
pub(crate) mod injection;
pub(crate) mod lake_rows;
pub(crate) mod notes;
pub(crate) mod order;
pub(crate) mod peak;
pub(crate) mod policy;
pub(crate) mod python;
#[cfg(feature = "cloud")]
pub(crate) mod s3;
pub(crate) mod sample;
pub(crate) mod tar;
#[cfg(feature = "cloud")]
mod tls;
