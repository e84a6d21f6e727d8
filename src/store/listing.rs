//! Listings of object stores, as people mean them.

use std::future;

use futures::{StreamExt, TryStreamExt};
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use crate::error::{Error, Kind};

/// Requests under way at once.
const REQUESTS_AT_ONCE: usize = 16;

/// Takes the markers of folders out of a listing: empty objects whose key ends in `/`, which consoles and some tools make.
///
/// They are listed without that slash, as an empty object of this name would be, but unlike one they are not found under it.
pub(crate) async fn without_markers(
    store: &dyn ObjectStore,
    listed: Vec<ObjectMeta>,
) -> object_store::Result<Vec<ObjectMeta>> {
    let found = futures::stream::iter(listed).map(|meta| async move {
        if meta.size > 0 {
            return Ok(Some(meta));
        }
        match store.head(&meta.location).await {
            Ok(stated) => Ok(Some(ObjectMeta {
                location: meta.location,
                ..stated
            })),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(why) => Err(why),
        }
    });
    let found = found.buffered(REQUESTS_AT_ONCE);
    found
        .filter_map(|found| future::ready(found.transpose()))
        .try_collect()
        .await
}

/// Why a listing failed.
pub(crate) fn failed(why: object_store::Error) -> Error {
    match why {
        object_store::Error::InvalidPath { source } => {
            let message = "a key below this folder cannot be a path, so that the folder cannot be listed: rename or remove that \
                           object, or name a folder without it";
            Error::new(Kind::Data, message).because(source)
        }
        why => why.into(),
    }
}
