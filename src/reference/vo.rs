//! VO by account, user, group, partition or QOS.

/// The rows of a VO table.
#[derive(Clone, Debug, Default)]
pub struct VoTable {}
