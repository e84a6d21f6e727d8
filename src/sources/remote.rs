//! Inputs in object stores, read as if they were files.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, OnceLock};

use bytes::{Buf, Bytes};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use tokio::runtime::Runtime;
use url::Url;

use crate::error::{Error, Kind, Result};

/// Environment variables that configure an object store; others must not be mistaken for its options.
const VARIABLES: &[&str] = &["AWS_", "AZURE_", "GOOGLE_"];

fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("gridtally-input")
            .enable_all()
            .build()
            .map_err(|why| why.to_string())
    });
    made.as_ref()
        .map_err(|why| Error::io(format!("threads for object stores cannot be started: {why}")))
}

/// Starts `future` and hands back where its result will arrive. Works on any thread, also inside another runtime.
fn start<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Result<Receiver<T>> {
    let (sender, receiver) = sync_channel(1);
    runtime()?.spawn(async move {
        // Nobody waits any more when the receiver is gone.
        let _ = sender.send(future.await);
    });
    Ok(receiver)
}

fn wait<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Result<T> {
    start(future)?
        .recv()
        .map_err(|_| Error::internal("a request to an object store ended without an answer"))
}

/// The store a URL names, and the object's path in it. Keys and endpoints come from the environment
/// (`AWS_*`, `AZURE_*`, `GOOGLE_*`).
pub(super) fn connect(url: &Url) -> Result<(Arc<dyn ObjectStore>, Path)> {
    let plain = (url.scheme() == "http").then(|| ("allow_http".to_owned(), "true".to_owned()));
    let options = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(key, _)| VARIABLES.iter().any(|prefix| key.starts_with(prefix)))
        .chain(plain);
    let (store, path) = object_store::parse_url_opts(url, options)?;
    Ok((Arc::from(store), path))
}

/// The object at `path`, or nothing when there is none.
pub(super) fn head(store: &Arc<dyn ObjectStore>, path: &Path) -> Result<Option<ObjectMeta>> {
    let (store, path) = (Arc::clone(store), path.clone());
    match wait(async move { store.head(&path).await })? {
        Ok(meta) => Ok(Some(meta)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

/// Every object below `prefix`.
pub(super) fn list(store: &Arc<dyn ObjectStore>, prefix: &Path) -> Result<Vec<ObjectMeta>> {
    let mut stream = store.list(Some(prefix));
    wait(async move {
        let mut objects = Vec::new();
        while let Some(object) = stream.next().await {
            objects.push(object?);
        }
        Ok::<_, object_store::Error>(objects)
    })?
    .map_err(Error::from)
}

/// Opens an object for reading from its beginning.
pub(super) fn open(store: &Arc<dyn ObjectStore>, path: &Path) -> Result<Box<dyn Read + Send>> {
    let (store, path) = (Arc::clone(store), path.clone());
    let answer = wait(async move { store.get(&path).await })?;
    let stream = match answer {
        Ok(object) => object.into_stream(),
        Err(why @ object_store::Error::NotFound { .. }) => {
            return Err(Error::new(Kind::NoInput, "an input is gone").because(why));
        }
        Err(why) => return Err(why.into()),
    };
    Ok(Box::new(ObjectReader {
        next: Some(fetch(stream)?),
        chunk: Bytes::new(),
    }))
}

type Chunks = BoxStream<'static, object_store::Result<Bytes>>;
type Fetched = Option<(object_store::Result<Bytes>, Chunks)>;

fn fetch(mut stream: Chunks) -> Result<Receiver<Fetched>> {
    start(async move { stream.next().await.map(|chunk| (chunk, stream)) })
}

/// Reads the chunks of an object in order; the next one is on its way while one is being read.
struct ObjectReader {
    next: Option<Receiver<Fetched>>,
    chunk: Bytes,
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.chunk.has_remaining() {
            let Some(next) = self.next.take() else {
                return Ok(0);
            };
            let fetched = next
                .recv()
                .map_err(|_| io::Error::other("reading from the object store ended without an answer"))?;
            let Some((chunk, stream)) = fetched else {
                return Ok(0);
            };
            self.chunk = chunk.map_err(io::Error::other)?;
            self.next = Some(fetch(stream).map_err(io::Error::other)?);
        }
        let n = buffer.len().min(self.chunk.remaining());
        if let Some(part) = buffer.get_mut(..n) {
            self.chunk.copy_to_slice(part);
        }
        Ok(n)
    }
}
