//! Which input files were seen before.

use std::sync::Arc;

/// A known file under a name that is new.
pub(crate) struct SeenFiles {
    /// Its id.
    pub(crate) file_id: Arc<str>,
    /// The new name.
    pub(crate) path: String,
}
