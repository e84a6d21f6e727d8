//! A store whose owner is killed: after a number of changes, nothing works any more.

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Passes everything on until `changes_left` changes have been made. The change that is one too many is not made, nor is
/// any after it; or only that one is not, where the fault passes.
#[derive(Debug)]
pub(super) struct FailAfter {
    inner: Arc<dyn ObjectStore>,
    changes_left: Arc<AtomicI64>,
    /// Whether only one change is not made.
    passes: bool,
    /// Whether a rename is one change (local disk) or a copy and a delete.
    atomic_rename: bool,
}

impl FailAfter {
    pub(super) fn new(inner: Arc<dyn ObjectStore>, changes: i64, atomic_rename: bool) -> Self {
        Self {
            inner,
            changes_left: Arc::new(AtomicI64::new(changes)),
            passes: false,
            atomic_rename,
        }
    }

    /// Several stores that count their changes together.
    pub(super) fn sharing(inner: Arc<dyn ObjectStore>, changes_left: &Arc<AtomicI64>, passes: bool) -> Self {
        Self {
            inner,
            changes_left: Arc::clone(changes_left),
            passes,
            atomic_rename: true,
        }
    }
}

fn killed() -> Error {
    Error::Generic {
        store: "FailAfter",
        source: "killed".into(),
    }
}

fn change(left: &AtomicI64, passes: bool) -> Result<()> {
    let left = left.fetch_sub(1, Ordering::SeqCst);
    if left > 0 || (passes && left < 0) {
        Ok(())
    } else {
        Err(killed())
    }
}

impl fmt::Display for FailAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FailAfter({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for FailAfter {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        change(&self.changes_left, self.passes)?;
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(&self, at: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        change(&self.changes_left, self.passes)?;
        let upload = self.inner.put_multipart_opts(at, opts).await?;
        Ok(Box::new(Upload {
            inner: upload,
            changes_left: Arc::clone(&self.changes_left),
            passes: self.passes,
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let (inner, left, passes) = (Arc::clone(&self.inner), Arc::clone(&self.changes_left), self.passes);
        locations
            .then(move |location| {
                let (inner, left) = (Arc::clone(&inner), Arc::clone(&left));
                async move {
                    let location = location?;
                    change(&left, passes)?;
                    inner.delete(&location).await?;
                    Ok(location)
                }
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        change(&self.changes_left, self.passes)?;
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        if self.atomic_rename {
            change(&self.changes_left, self.passes)?;
            return self.inner.rename_opts(from, to, options).await;
        }
        self.copy_opts(from, to, CopyOptions::new()).await?;
        self.delete(from).await
    }
}

#[derive(Debug)]
struct Upload {
    inner: Box<dyn MultipartUpload>,
    changes_left: Arc<AtomicI64>,
    passes: bool,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        match change(&self.changes_left, self.passes) {
            Ok(()) => self.inner.put_part(data),
            Err(e) => Box::pin(async { Err(e) }),
        }
    }

    async fn complete(&mut self) -> Result<PutResult> {
        change(&self.changes_left, self.passes)?;
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        change(&self.changes_left, self.passes)?;
        self.inner.abort().await
    }
}
