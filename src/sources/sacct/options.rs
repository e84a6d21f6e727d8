//! What the pipeline file states for this reader alone.

use super::fixed::FixedOrder;

/// What the pipeline file states of `sacct` text.
#[derive(Clone, Debug, Default)]
pub struct SacctOptions {
    /// Its delimiter; `None` finds it from the header.
    pub delimiter: Option<String>,
    /// Fixed order of the columns where there is no header.
    pub layout: Option<FixedOrder>,
}
