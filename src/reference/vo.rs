//! VO by account, user, group, partition or QOS.

use crate::records::JobRow;

/// The rows of a VO table.
#[derive(Clone, Debug, Default)]
pub struct VoTable {}

impl VoTable {
    /// First match.
    #[must_use]
    pub fn lookup(&self, _row: &JobRow<'_>) -> Option<&str> {
        None
    }
}
