//! Snapshots that hold names which the pipeline withholds from now on.

use crate::error::Result;
use crate::store::Store;
use crate::store::snapshots::{names, tags};

/// Snapshots of a lake from before more names were withheld.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormerSnapshots {
    snapshot_n: usize,
    tag_n: usize,
}

impl FormerSnapshots {
    /// Those that a lake holds.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when they cannot be listed.
    pub(crate) fn of(store: &Store) -> Result<Self> {
        Ok(Self {
            snapshot_n: names(store)?.len(),
            tag_n: tags(store)?.len(),
        })
    }

    /// What a person must know of them.
    pub(crate) fn text(self) -> String {
        let Self { snapshot_n, tag_n } = self;
        if snapshot_n == 0 {
            return String::new();
        }
        format!(
            "  warning: the lake keeps {snapshot_n} snapshots, {tag_n} tags on them, from before these names were withheld: they \
             hold the names. Take the tags off (gridtally tag --remove), then gridtally gc --keep nights=1,months=0\n"
        )
    }
}
