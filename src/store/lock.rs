//! One writer at a time.

use super::lease::Lease;
use super::location::Store;
use crate::error::Result;
use std::fs::File;

/// The lock of an output, held until it is dropped.
pub(super) enum Lock {
    /// On a local disk: the system releases it, even when its owner is killed.
    Disk {
        /// Locked as long as it is open.
        _file: File,
    },
    /// In an object store.
    Lease(Lease),
    /// Where there is none to take.
    None,
}

impl Lock {
    /// # Errors
    /// `Busy` when another run holds the output.
    pub(super) fn take(store: &Store) -> Result<Self> {
        if let Some(file) = store.lock_on_disk()? {
            return Ok(Self::Disk { _file: file });
        }
        Ok(Lease::take(store)?.map_or(Self::None, Self::Lease))
    }

    /// Makes sure that it is still held; to be called before anything published is touched.
    ///
    /// # Errors
    /// `Busy` when another run has taken it over.
    pub(super) fn hold(&self) -> Result<()> {
        match self {
            Self::Lease(lease) => lease.renew(),
            Self::Disk { .. } | Self::None => Ok(()),
        }
    }

    /// What gives it back when its owner is ended by a signal.
    pub(super) fn releaser(&self) -> Box<dyn Fn() + Send + Sync> {
        match self {
            Self::Lease(lease) => Box::new(lease.releaser()),
            // The system gives a file back.
            Self::Disk { .. } | Self::None => Box::new(|| ()),
        }
    }

    /// What names of staged objects begin with, so that a run that has lost its lock without noticing overwrites
    /// nothing of the one that has it.
    pub(super) fn staging_prefix(&self) -> String {
        match self {
            Self::Lease(lease) => format!("{}-", lease.token()),
            Self::Disk { .. } | Self::None => String::new(),
        }
    }
}
