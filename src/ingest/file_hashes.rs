//! The hashes of input files that were read before: a file whose stamp is the one it had when it was hashed has that hash, and
//! is not read again to learn that.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::error::{Kind, Result};
use crate::lake::found::FoundFile;
use crate::sources::file_stamp::FileStamp;
use crate::sources::input::InputFile;
use crate::store::Publication;

/// A file as it was hashed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct HashedFile {
    path: String,
    /// Its stamp when it was opened, which was settled then: whatever changed the file since has changed its stamp.
    stamp: FileStamp,
    blake3: String,
}

/// What is known of the hashes of input files.
#[derive(Default)]
pub(crate) struct FileHashes {
    /// By path. One whose file changed since then states what is still true of the former file.
    files: BTreeMap<String, HashedFile>,
    is_changed: bool,
}

impl FileHashes {
    /// Those that the lake has of files that were found. Damaged ones are reported, and count as none.
    ///
    /// # Errors
    /// [`Kind::Io`] when they cannot be read.
    pub(crate) fn load(publication: &Publication, found: &[FoundFile]) -> Result<Self> {
        let entries: Vec<HashedFile> = match publication.input_hashes() {
            Err(why) if why.kind() == Kind::Data => {
                warn!("{why}: every known file is hashed again");
                return Ok(Self::forgotten());
            }
            entries => entries?,
        };
        let entry_n = entries.len();
        let found: BTreeSet<&str> = found.iter().map(|found| found.file.path.as_str()).collect();
        let kept = entries.into_iter().filter(|file| found.contains(file.path.as_str()));
        let files: BTreeMap<String, HashedFile> = kept.map(|file| (file.path.clone(), file)).collect();
        Ok(Self {
            is_changed: files.len() != entry_n,
            files,
        })
    }

    /// None: every file that may be known is hashed.
    pub(crate) fn forgotten() -> Self {
        Self {
            is_changed: true,
            ..Self::default()
        }
    }

    /// Forgets the files that have one of these hashes: they are hashed again.
    pub(crate) fn forget(&mut self, hashes: &BTreeSet<&str>) {
        let file_n = self.files.len();
        self.files.retain(|_, file| !hashes.contains(file.blake3.as_str()));
        self.is_changed |= self.files.len() != file_n;
    }

    /// The hash of a file that is as it was when it was hashed.
    pub(crate) fn of(&self, file: &InputFile) -> Option<String> {
        let stamp = file.stamp.as_ref()?;
        let known = self.files.get(&file.path).filter(|known| known.stamp == *stamp)?;
        Some(known.blake3.clone())
    }

    /// Notes what a file was hashed to. Without a stamp that vouches for it, it is hashed again when it is met again.
    pub(crate) fn note(&mut self, file: &InputFile, stamp: Option<FileStamp>, blake3: &str) {
        let Some(stamp) = stamp else {
            return;
        };
        let hashed = HashedFile {
            path: file.path.clone(),
            stamp,
            blake3: blake3.to_owned(),
        };
        if self.files.get(&file.path) != Some(&hashed) {
            self.files.insert(file.path.clone(), hashed);
            self.is_changed = true;
        }
    }

    /// Writes them into the lake where they changed. A run does not fail because it cannot: they spare work, nothing more.
    pub(crate) fn save(&self, publication: &Publication) {
        if !self.is_changed {
            return;
        }
        if let Err(why) = publication.replace_input_hashes(self.files.values()) {
            warn!("the hashes of input files could not be kept, the next run makes them again: {why}");
        }
    }
}
