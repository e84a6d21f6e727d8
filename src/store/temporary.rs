//! A store in a folder of its own that is gone with it.

use tempfile::TempDir;

use super::location::Store;
use crate::error::{Error, Result};
use crate::runtime::interruption::{Tidying, tidy_with};

/// Keeps the folder of a [`Store::temporary`].
pub struct TemporaryFolder {
    _tidying: Tidying,
    _folder: TempDir,
}

impl Store {
    /// A store in a temporary folder.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be made.
    pub fn temporary() -> Result<(Self, TemporaryFolder)> {
        let folder = tempfile::tempdir().map_err(|e| Error::io("cannot make a temporary folder").because(e))?;
        let store = Self::open(&folder.path().to_string_lossy())?;
        let path = folder.path().to_owned();
        let tidying = tidy_with(move || {
            // A file that stays in the folder for temporary files cannot be reported anywhere.
            drop(std::fs::remove_dir_all(&path));
        });
        let kept = TemporaryFolder {
            _tidying: tidying,
            _folder: folder,
        };
        Ok((store, kept))
    }
}
