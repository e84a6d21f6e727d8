//! Inputs in object stores, read as if they were files.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use chrono::{DateTime, Utc};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{GetOptions, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt};
use tokio::runtime::Runtime;
use url::Url;

use super::file_stamp::{FileStamp, OpenedFile};
use crate::error::{Error, Kind, Result};
use crate::numbers::{Extent, count_u64};
use crate::runtime::requests;
use crate::store::connect::{self, ConnectError};
use crate::store::listing;
use crate::store::outage::PATIENCE;

/// Bytes of an object per request. Two such blocks are in memory per open input: the one that is read and
/// the one on its way.
const BLOCK_BYTES: u64 = 4 << 20;

/// Why a read ended whose request was dropped.
const NO_ANSWER: &str = "reading from the object store ended without an answer";

/// Delay before an answer that was cut off is requested again.
const BETWEEN_TRIES: Duration = Duration::from_millis(500);

fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| requests::runtime("gridtally-input").map_err(|why| why.to_string()));
    made.as_ref()
        .map_err(|why| Error::io(format!("threads for object stores cannot be started: {why}")))
}

/// Starts `future` and hands back where its result will arrive. Works on any thread, also inside another runtime.
fn start<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Result<Receiver<T>> {
    let (sender, receiver) = sync_channel(1);
    runtime()?.spawn(async move {
        // No reader waits any more when the receiver is gone.
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
pub(super) fn connect(url: &Url) -> Result<(Arc<dyn ObjectStore>, Path), ConnectError> {
    let (store, path) = connect::connect(url)?;
    Ok((Arc::from(store), path))
}

/// The object at `path`, or nothing when there is none.
pub(super) fn head(store: &Arc<dyn ObjectStore>, path: &Path) -> Result<Option<ObjectMeta>> {
    let (store, path) = (Arc::clone(store), path.clone());
    found(wait(async move { store.head(&path).await })?)
}

/// As [`head`], of a web server. One that refuses HEAD (405, which its client reports as a missing object) states the object with its
/// content, of which one byte is requested, or all of it where the server knows no ranges.
pub(super) fn head_of_web(store: &Arc<dyn ObjectStore>, path: &Path) -> Result<Option<ObjectMeta>> {
    if let Some(meta) = head(store, path)? {
        return Ok(Some(meta));
    }
    let (store, path) = (Arc::clone(store), path.clone());
    let answer = wait(async move {
        let first_byte = GetOptions::new().with_range(Some(0..1));
        match store.get_opts(&path, first_byte).await {
            Err(object_store::Error::NotSupported { .. }) => store.get(&path).await,
            answer => answer,
        }
    })?;
    found(answer.map(|answer| answer.meta))
}

/// What a store states of an object, or nothing where it is missing.
fn found(stated: object_store::Result<ObjectMeta>) -> Result<Option<ObjectMeta>> {
    match stated {
        Ok(meta) => Ok(Some(meta)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

/// Every object below `prefix`, markers of folders included.
///
/// # Errors
/// [`Kind::Data`] where a key is no path.
pub(super) fn list(store: &Arc<dyn ObjectStore>, prefix: &Path) -> Result<Vec<ObjectMeta>> {
    let mut stream = store.list(Some(prefix));
    wait(async move {
        let mut objects = Vec::new();
        while let Some(object) = stream.next().await {
            objects.push(object?);
        }
        Ok::<_, object_store::Error>(objects)
    })?
    .map_err(listing::failed)
}

/// Those of the listed objects that are not markers of folders.
pub(super) fn without_markers(store: &Arc<dyn ObjectStore>, listed: Vec<ObjectMeta>) -> Result<Vec<ObjectMeta>> {
    let store = Arc::clone(store);
    Ok(wait(async move { listing::without_markers(&store, listed).await })??)
}

/// Opens an object of this size for reading from its beginning. It is read in ranges, so that no request lasts long
/// and one that fails is repeated by itself. From a server that knows no ranges, or that does not state which content of the
/// object a range is of, it comes in one piece, chunk by chunk.
pub(super) fn open(store: &Arc<dyn ObjectStore>, path: &Path, bytes: u64) -> Result<OpenedFile> {
    // There is no range of an empty object.
    if bytes > 0 {
        match wait(block(Arc::clone(store), path.clone(), 0))? {
            Ok(first) if first.version.is_stated() || first.is_whole() => {
                return Ok(OpenedFile {
                    stamp: FileStamp::of_object(first.version.bytes, first.version.e_tag.as_deref()),
                    bytes: Box::new(RangeReader::new(store, path, first)?),
                });
            }
            Ok(_) | Err(object_store::Error::NotSupported { .. }) => {}
            Err(why) => return Err(gone(why)),
        }
    }
    let object = whole(store, path)?.map_err(gone)?;
    let bytes = Box::new(StreamReader {
        store: Arc::clone(store),
        path: path.clone(),
        version: ObjectVersion::of(&object.meta),
        next: Some(fetch(object.into_stream())?),
        chunk: Bytes::new(),
        read_n: 0,
        skip_n: 0,
        failing_since: None,
    });
    Ok(OpenedFile { bytes, stamp: None })
}

fn gone(why: object_store::Error) -> Error {
    match why {
        object_store::Error::NotFound { .. } => Error::new(Kind::NoInput, "an input is gone").because(why),
        _ => why.into(),
    }
}

/// A store failed while an object was read. That is neither damage of the content, which would be a refused row, nor a matter of
/// the name of the object.
fn failed(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, why)
}

fn replaced() -> io::Error {
    failed("the object was replaced while it was read; run again")
}

/// Which content of an object an answer is of.
#[derive(Clone, PartialEq, Eq)]
struct ObjectVersion {
    bytes: u64,
    e_tag: Option<String>,
    /// The beginning of Unix time where the server states none.
    last_modified: DateTime<Utc>,
}

impl ObjectVersion {
    fn of(meta: &ObjectMeta) -> Self {
        Self {
            bytes: meta.size,
            e_tag: meta.e_tag.clone(),
            last_modified: meta.last_modified,
        }
    }

    /// Whether another content of the same size would have another version.
    fn is_stated(&self) -> bool {
        self.e_tag.is_some() || self.last_modified != DateTime::UNIX_EPOCH
    }
}

/// A part of an object.
struct RemoteBlock {
    bytes: Bytes,
    version: ObjectVersion,
}

impl RemoteBlock {
    /// Whether it is the whole object.
    fn is_whole(&self) -> bool {
        count_u64(self.bytes.len()) == self.version.bytes
    }
}

async fn block(store: Arc<dyn ObjectStore>, path: Path, start: u64) -> object_store::Result<RemoteBlock> {
    let range = start..start.further(BLOCK_BYTES);
    let answer = store.get_opts(&path, GetOptions::new().with_range(Some(range))).await?;
    let version = ObjectVersion::of(&answer.meta);
    Ok(RemoteBlock {
        bytes: answer.bytes().await?,
        version,
    })
}

/// Reads an object block by block; the next one is on its way while one is being read.
struct RangeReader {
    store: Arc<dyn ObjectStore>,
    path: Path,
    block: Bytes,
    /// Where the block at hand ends in the object.
    end: u64,
    version: ObjectVersion,
    next: Option<Receiver<object_store::Result<RemoteBlock>>>,
}

impl RangeReader {
    fn new(store: &Arc<dyn ObjectStore>, path: &Path, first: RemoteBlock) -> Result<Self> {
        let mut reader = Self {
            store: Arc::clone(store),
            path: path.clone(),
            end: 0,
            version: first.version,
            block: first.bytes,
            next: None,
        };
        reader.ask()?;
        Ok(reader)
    }

    /// Requests the block after the current one, if there is one.
    fn ask(&mut self) -> Result<()> {
        self.end = self.end.further(count_u64(self.block.len()));
        if self.end < self.version.bytes {
            self.next = Some(start(block(Arc::clone(&self.store), self.path.clone(), self.end))?);
        }
        Ok(())
    }
}

impl Read for RangeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.block.has_remaining() {
            let Some(next) = self.next.take() else {
                return Ok(0);
            };
            let next = next.recv().map_err(|_| failed(NO_ANSWER))?.map_err(failed)?;
            if next.version != self.version || next.bytes.is_empty() {
                return Err(replaced());
            }
            self.block = next.bytes;
            self.ask().map_err(failed)?;
        }
        Ok(take(&mut self.block, buffer))
    }
}

fn take(bytes: &mut Bytes, buffer: &mut [u8]) -> usize {
    let n = buffer.len().min(bytes.remaining());
    if let Some(part) = buffer.get_mut(..n) {
        bytes.copy_to_slice(part);
    }
    n
}

type Chunks = BoxStream<'static, object_store::Result<Bytes>>;
type Fetched = Option<(object_store::Result<Bytes>, Chunks)>;

fn fetch(mut stream: Chunks) -> Result<Receiver<Fetched>> {
    start(async move { stream.next().await.map(|chunk| (chunk, stream)) })
}

fn whole(store: &Arc<dyn ObjectStore>, path: &Path) -> Result<object_store::Result<GetResult>> {
    let (store, path) = (Arc::clone(store), path.clone());
    wait(async move { store.get(&path).await })
}

/// Reads the chunks of one answer in order; the next one is on its way while one is being read. An answer that is cut off
/// is requested again, and read on from where it ended.
struct StreamReader {
    store: Arc<dyn ObjectStore>,
    path: Path,
    version: ObjectVersion,
    next: Option<Receiver<Fetched>>,
    chunk: Bytes,
    /// Bytes that came in order so far.
    read_n: u64,
    /// Bytes of this answer that came before.
    skip_n: u64,
    failing_since: Option<Instant>,
}

impl StreamReader {
    /// Takes the next chunk, as far as it is new.
    fn take_in(&mut self, mut chunk: Bytes) {
        let length = |bytes: &Bytes| count_u64(bytes.len());
        let known = usize::try_from(self.skip_n).map_or(chunk.len(), |skip_n| skip_n.min(chunk.len()));
        let known = chunk.split_to(known);
        self.skip_n = self.skip_n.less(length(&known));
        if !chunk.is_empty() {
            self.read_n = self.read_n.further(length(&chunk));
            self.failing_since = None;
        }
        self.chunk = chunk;
    }

    /// Asks again, after a pause, for as long as requests are repeated.
    fn ask_again(&mut self, why: object_store::Error) -> io::Result<()> {
        let since = *self.failing_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= PATIENCE {
            return Err(failed(why));
        }
        if !self.version.is_stated() {
            return Err(failed(format!(
                "the answer was cut off, and the server states neither ETag nor Last-Modified, by which the remaining bytes \
                 could be known to be of the same content: {why}"
            )));
        }
        std::thread::sleep(BETWEEN_TRIES);
        let answer = whole(&self.store, &self.path).map_err(failed)?.map_err(failed)?;
        if ObjectVersion::of(&answer.meta) != self.version {
            return Err(replaced());
        }
        self.skip_n = self.read_n;
        self.next = Some(fetch(answer.into_stream()).map_err(failed)?);
        Ok(())
    }
}

impl Read for StreamReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.chunk.has_remaining() {
            let Some(next) = self.next.take() else {
                return Ok(0);
            };
            let fetched = next.recv().map_err(|_| failed(NO_ANSWER))?;
            let Some((chunk, stream)) = fetched else {
                return Ok(0);
            };
            match chunk {
                Ok(chunk) => {
                    self.take_in(chunk);
                    self.next = Some(fetch(stream).map_err(failed)?);
                }
                Err(why) => self.ask_again(why)?,
            }
        }
        Ok(take(&mut self.chunk, buffer))
    }
}
