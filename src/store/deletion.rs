//! Deleting objects. A run deletes what it moved out of the staging folder, so a lake cannot do without the right to.

use futures::StreamExt;
use object_store::{Error as StoreError, ObjectStoreExt};

use super::location::{Store, parse};
use crate::error::{Error, Result};

/// How S3 names, in the answer to a deletion of many objects, why it refuses one.
const DENIED: &str = "AccessDenied";

impl Store {
    /// Deletes an object and, on a local disk, the folders this leaves empty. One that is not there is no error.
    pub fn delete(&self, path: &str) -> Result<()> {
        self.must_be_present()?;
        let location = parse(path)?;
        self.deleted(self.wait(self.objects().delete(&location)), path)
    }

    /// Deletes many objects, in as few requests as the store allows. Those that are not there are no error.
    pub(super) fn delete_all<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Result<()> {
        self.must_be_present()?;
        let locations = paths.map(parse).collect::<Result<Vec<_>>>()?;
        let locations = futures::stream::iter(locations.into_iter().map(Ok)).boxed();
        let deleted: Vec<_> = self.wait(self.objects().delete_stream(locations).collect());
        let mut deleted = deleted.into_iter();
        deleted.try_for_each(|one| self.deleted(one.map(drop), self.url()))
    }

    /// What became of a deletion.
    fn deleted(&self, deleted: object_store::Result<()>, path: &str) -> Result<()> {
        match deleted {
            Ok(()) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(why) if self.local_root().is_none() && is_denied(&why) => {
                let message = "the object store refuses to delete: a lake needs the rights to list, read, write, copy and delete \
                               objects";
                Err(Error::io(message).at("path", path).because(why))
            }
            Err(why) => Err(Error::from(why).at("path", path)),
        }
    }
}

/// Whether a right is missing.
fn is_denied(why: &StoreError) -> bool {
    let is_denied = matches!(
        why,
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. }
    );
    is_denied || why.to_string().contains(DENIED)
}
