//! The hashes of input files that were read before: a file whose stamp is the one it had when it was hashed has that hash, and
//! is not read again to learn that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::error::{Kind, Result};
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
    /// As the lake has them, of files not found yet in this run.
    former: BTreeMap<String, HashedFile>,
    /// Of files found in this run.
    present: BTreeMap<String, HashedFile>,
    is_changed: bool,
}

impl FileHashes {
    /// Those that the lake has. Damaged ones are reported, and count as none.
    ///
    /// # Errors
    /// [`Kind::Io`] when they cannot be read.
    pub(crate) fn load(publication: &Publication) -> Result<Self> {
        let entries: Vec<HashedFile> = match publication.input_hashes() {
            Err(why) if why.kind() == Kind::Data => {
                warn!("{why}: every known file is hashed again");
                return Ok(Self::forgotten());
            }
            entries => entries?,
        };
        Ok(Self {
            former: entries.into_iter().map(|file| (file.path.clone(), file)).collect(),
            ..Self::default()
        })
    }

    /// None: every file that may be known is hashed.
    pub(crate) fn forgotten() -> Self {
        Self {
            is_changed: true,
            ..Self::default()
        }
    }

    /// The hash of a file that is as it was when it was hashed.
    pub(crate) fn of(&mut self, file: &InputFile) -> Option<String> {
        let stamp = file.stamp.as_ref()?;
        let is_same = |known: &HashedFile| known.stamp == *stamp;
        if let Some(known) = self.former.remove(&file.path) {
            if is_same(&known) {
                self.present.insert(file.path.clone(), known);
            } else {
                self.is_changed = true;
            }
        }
        let known = self.present.get(&file.path).filter(|known| is_same(known))?;
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
        if self.present.get(&file.path) != Some(&hashed) {
            self.present.insert(file.path.clone(), hashed);
            self.is_changed = true;
        }
    }

    /// Writes them into the lake where they changed. A run does not fail because it cannot: they spare work, nothing more.
    pub(crate) fn save(&self, publication: &Publication) {
        let is_same = !self.is_changed && self.former.is_empty();
        if is_same {
            return;
        }
        if let Err(why) = publication.replace_input_hashes(self.present.values()) {
            warn!("the hashes of input files could not be kept, the next run makes them again: {why}");
        }
    }
}
