//! The options a policy is applied with.

use std::collections::BTreeMap;

/// Values chosen for a policy's options.
pub type Options = BTreeMap<String, String>;
