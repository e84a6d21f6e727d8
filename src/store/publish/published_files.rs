//! Published files as a run reads them: damage must not be carried over into what it publishes.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::Publication;
use crate::error::{Error, Kind, Result};
use crate::store::reader::ObjectReader;

/// The published files that were found to be those of the manifest.
#[derive(Default)]
pub(super) struct IntactFiles(Mutex<BTreeSet<String>>);

impl Publication {
    /// Opens a file, published or staged, to make new files of what it holds. A published file on a disk is compared with the
    /// hash in the manifest when it is opened first; what object stores hold they check themselves.
    ///
    /// # Errors
    /// `Data` naming the file when there is none, or its contents are not those of the manifest.
    pub fn reader(&self, place: &str) -> Result<ObjectReader> {
        let store = self.store();
        let published = self.published().and_then(|manifest| manifest.file(place));
        let Some(published) = published.filter(|_| store.local_root().is_some()) else {
            return store.reader(place);
        };
        let IntactFiles(intact) = &self.intact;
        let is_intact = intact.lock().unwrap_or_else(PoisonError::into_inner).contains(place);
        let reader = store.reader(place)?;
        if !is_intact {
            if reader.size() != published.bytes || reader.blake3()? != published.blake3 {
                let message = "a file of the lake is damaged: its contents are not those of the manifest (blake3); nothing \
                               was published. Restore it from a copy, or make the lake again in another folder";
                return Err(Error::new(Kind::Data, message).at("path", place));
            }
            let mut intact = intact.lock().unwrap_or_else(PoisonError::into_inner);
            intact.insert(place.to_owned());
        }
        Ok(reader)
    }
}
