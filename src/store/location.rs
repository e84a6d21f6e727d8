//! Where outputs live: a local folder, a bucket, or memory, behind one synchronous face.

use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{
    CopyMode, CopyOptions, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutOptions, RenameOptions,
};
use tokio::runtime::Runtime;
use url::Url;

use super::connect::{ConnectError, connect};
use super::disk::Disk;
use super::listing;
use super::local::DISK_REQUESTS_AT_ONCE;
use super::machinery::{SENDING, STAGING};
use super::process;
use super::snapshots::document::{SnapshotDocument, SnapshotName};
use super::snapshots::view::SnapshotView;
use super::writer::ObjectWriter;
use crate::display_text::{cut_off_of, secret_of};
use crate::error::{Error, Kind, Result};
use crate::hive::MAX_SEGMENT_BYTES;
use crate::numbers::count_u64;
use crate::runtime::{pool, requests};

/// Largest object, in bytes, that object stores copy on their side in one request (the limit of S3).
const SERVER_SIDE_COPY_BYTES: u64 = 5 << 30;

/// Requests under way at once where many objects are moved.
const ROUND_TRIPS_AT_ONCE: usize = 16;

/// An object of a listing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreEntry {
    /// Path relative to the root, `/`-separated.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
}

/// The root of an output. Cheap to clone; all clones share one connection.
///
/// Paths are relative to the root, `/`-separated, and taken literally: `site=A%2FB` is a folder of that very name on a
/// local disk and a key of that very name in a bucket.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    objects: Arc<dyn ObjectStore>,
    runtime: &'static Runtime,
    local_root: Option<PathBuf>,
    /// The folder, where `objects` are nothing but its files.
    disk: Option<Disk>,
    url: String,
    temporary_n: AtomicU64,
    /// Held while writing to a web server: of two requests that create one folder at the same time, one is answered with an error.
    web: Option<Mutex<()>>,
    /// What is seen of a lake as it was; `None` for the lake as it is.
    view: Option<SnapshotView>,
}

impl Inner {
    fn new(objects: Arc<dyn ObjectStore>, local_root: Option<&FilePath>, url: String) -> Result<Self> {
        let runtime = runtime()?;
        let is_web = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
        Ok(Self {
            objects,
            runtime,
            local_root: local_root.map(FilePath::to_path_buf),
            disk: None,
            url,
            temporary_n: AtomicU64::new(0),
            web: is_web.then(Mutex::default),
            view: None,
        })
    }
}

impl Store {
    /// Opens an output by path or URL and creates a local folder that is not there yet.
    ///
    /// Plain paths and `file://` are local folders; `s3://`, `gs://`, `az://`, `abfss://`, `http(s)://` (`WebDAV`) need
    /// the feature `cloud` and are set up by the variables their own tools use (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`,
    /// `AWS_ALLOW_HTTP`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME`, ...). `memory://name` lives as long as
    /// the process and is shared by all users of the same name in it.
    ///
    /// # Errors
    /// `Config` for a URL that cannot be understood, `Io` when the folder cannot be made.
    pub fn open(path_or_url: &str) -> Result<Self> {
        Self::locate(path_or_url, true)
    }

    /// Opens an output to read it: as [`Store::open`], but a local folder must be there. The place of a snapshot
    /// ([`SnapshotName::place`]) opens the lake as it was; nothing can be written there.
    ///
    /// # Errors
    /// `NoInput` when it is not there, else as [`Store::open`].
    pub fn open_existing(path_or_url: &str) -> Result<Self> {
        match SnapshotName::split_place(path_or_url) {
            Some((lake, name)) => Self::locate(lake, false)?.at_snapshot(&name),
            None => Self::locate(path_or_url, false),
        }
    }

    /// Checks that a path or URL can be an output, without a request and without a trace on a disk.
    ///
    /// # Errors
    /// `Config` for a URL that cannot be understood.
    pub fn check_location(path_or_url: &str) -> Result<()> {
        if !path_or_url.contains("://") {
            return Ok(());
        }
        match Self::locate(path_or_url, false) {
            Err(why) if why.kind() == Kind::Config => Err(why),
            // A folder that is not there is made, and what a store answers is found out by who asks it.
            _ => Ok(()),
        }
    }

    /// The lake as a snapshot defines it.
    fn at_snapshot(&self, name: &SnapshotName) -> Result<Self> {
        let bytes = self.get(&name.path())?.ok_or_else(|| {
            let message = format!("there is no snapshot {} any more", name.number);
            Error::new(Kind::NoInput, message).at("path", name.path())
        })?;
        let view =
            SnapshotView::of(SnapshotDocument::unpack(name, &bytes)?).map_err(|why| why.at("path", name.path()))?;
        let mut inner = Inner::new(Arc::clone(self.objects()), self.local_root(), self.url().to_owned())?;
        inner.view = Some(view);
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Whether it is a lake as it was, which does not change.
    #[must_use]
    pub fn is_past(&self) -> bool {
        self.inner.view.is_some()
    }

    /// Where the bytes of a path are; `None` where a lake as it was has none.
    pub fn stored<'a>(&'a self, path: &'a str) -> Option<&'a str> {
        match &self.inner.view {
            None => Some(path),
            Some(view) => view.object(path).map(|object| object.place.as_str()),
        }
    }

    /// Number of the snapshot that a lake as it was is.
    pub(super) fn snapshot_number(&self) -> Option<u64> {
        self.inner.view.as_ref().map(SnapshotView::number)
    }

    /// A lake as it was stays what it was.
    pub(super) fn must_be_present(&self) -> Result<()> {
        if self.is_past() {
            return Err(Error::internal("a lake as it was is not written to").at("lake", self.url()));
        }
        Ok(())
    }

    /// A store on top of any implementation; `local_root` is the folder behind it when it is a local disk, which is
    /// what locks, durability and tidy folders need to know.
    pub fn with_objects(objects: Arc<dyn ObjectStore>, local_root: Option<&FilePath>) -> Result<Self> {
        let url = local_root.map_or_else(|| objects.to_string(), |root| root.display().to_string());
        Self::named(objects, local_root, url)
    }

    fn named(objects: Arc<dyn ObjectStore>, local_root: Option<&FilePath>, url: String) -> Result<Self> {
        let inner = Inner::new(objects, local_root, url)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    fn locate(location: &str, create: bool) -> Result<Self> {
        if !location.contains("://") {
            return Self::folder(FilePath::new(location), create);
        }
        if let Some(why) = secret_of(location) {
            return Err(Error::config(why).at("url", location));
        }
        if let Some(why) = cut_off_of(location, "an output") {
            return Err(Error::config(why).at("url", location));
        }
        let url = Url::parse(location).map_err(|e| bad_url(location).because(e))?;
        match url.scheme() {
            "file" => {
                let path = url.to_file_path().map_err(|()| bad_url(location))?;
                Self::folder(&path, create)
            }
            "memory" => Self::memory(&url),
            _ => Self::remote(&url),
        }
    }

    fn folder(path: &FilePath, create: bool) -> Result<Self> {
        let context = |e: std::io::Error| Error::from(e).at("path", path.display());
        if create {
            std::fs::create_dir_all(path).map_err(context)?;
        } else if !path.is_dir() {
            return Err(Error::new(Kind::NoInput, "there is no such folder").at("path", path.display()));
        }
        let root = path.canonicalize().map_err(context)?;
        let objects = LocalFileSystem::new_with_prefix(&root)?.with_automatic_cleanup(true);
        let mut inner = Inner::new(Arc::new(objects), Some(&root), root.display().to_string())?;
        inner.disk = Some(Disk::new(&root, inner.runtime.handle()));
        Ok(Self { inner: Arc::new(inner) })
    }

    fn memory(url: &Url) -> Result<Self> {
        static SHARED: Mutex<BTreeMap<String, Arc<InMemory>>> = Mutex::new(BTreeMap::new());
        // Fallback: addresses in memory without a host share one store.
        let name = url.host_str().unwrap_or_default().to_owned();
        let objects = {
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(shared.entry(name).or_default())
        };
        let prefix = Path::from_url_path(url.path()).map_err(|e| bad_url(url.as_str()).because(e))?;
        Self::with_objects(Arc::new(PrefixStore::new(objects, prefix)), None)
    }

    fn remote(url: &Url) -> Result<Self> {
        let mut shown = url.clone();
        // A URL that cannot have a password has none to show.
        let _ = shown.set_password(None);
        let (objects, prefix) = connect(url).map_err(|why| match why {
            ConnectError::Variable(why) => why.at("url", &shown),
            ConnectError::Store(why) => bad_url(shown.as_str()).because(why),
        })?;
        Self::named(Arc::new(PrefixStore::new(objects, prefix)), None, shown.into())
    }

    /// What people should see as the place: the folder or the URL, without a password.
    pub fn url(&self) -> &str {
        &self.inner.url
    }

    /// The folder behind it, when it is a local disk.
    pub fn local_root(&self) -> Option<&FilePath> {
        self.inner.local_root.as_deref()
    }

    /// The whole object, or `None` when there is none.
    pub fn get(&self, path: &str) -> Result<Option<Bytes>> {
        if let Some(text) = self.inner.view.as_ref().and_then(|view| view.text(path)) {
            return Ok(Some(text.clone()));
        }
        let Some(stored) = self.stored(path) else {
            return Ok(None);
        };
        let location = parse(stored)?;
        let read = async { self.objects().get(&location).await?.bytes().await };
        found(self.wait(read), path)
    }

    /// Size in bytes, or `None` when there is no such object.
    pub fn size(&self, path: &str) -> Result<Option<u64>> {
        if let Some(text) = self.inner.view.as_ref().and_then(|view| view.text(path)) {
            return Ok(Some(count_u64(text.len())));
        }
        let Some(stored) = self.stored(path) else {
            return Ok(None);
        };
        let location = parse(stored)?;
        Ok(found(self.wait(self.objects().head(&location)), path)?.map(|meta| meta.size))
    }

    /// Whether there is such an object.
    pub fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.size(path)?.is_some())
    }

    /// Writes a whole object at once: readers see the old one or the new one, and when this returns it is durable.
    pub fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.writer(path)?.put(bytes)
    }

    /// All objects below a folder (`""` for all), sorted by path.
    pub fn list(&self, prefix: &str) -> Result<Vec<StoreEntry>> {
        if let Some(view) = &self.inner.view {
            let seen = view.list(prefix).into_iter();
            return Ok(seen.map(|(path, size)| StoreEntry { path, size }).collect());
        }
        let prefix = parse(prefix)?;
        let prefix = (!prefix.is_root()).then_some(&prefix);
        let listed = self.wait(async {
            let listed: Vec<ObjectMeta> = self.objects().list(prefix).try_collect().await?;
            if self.local_root().is_some() || self.is_web() {
                return Ok(listed);
            }
            listing::without_markers(self.objects(), listed).await
        });
        let listed = listed.map_err(|why| listing::failed(why).at("store", self.url()))?;
        let entries = listed.into_iter().filter(|meta| !meta.location.is_root());
        let mut entries: Vec<StoreEntry> = entries
            .map(|meta| StoreEntry {
                path: meta.location.into(),
                size: meta.size,
            })
            .collect();
        entries.sort();
        entries.dedup();
        Ok(entries)
    }

    /// Does something with every item, with several at once: each waits for the disk or costs a round trip. After an error
    /// no further item is begun.
    pub(super) fn for_each<T: Sync>(&self, items: &[T], action: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
        let at_once = match self.local_root() {
            Some(_) => DISK_REQUESTS_AT_ONCE,
            None => ROUND_TRIPS_AT_ONCE,
        };
        pool::until_error(items, at_once, action)
    }

    /// Renames an object over another: atomic on a local disk, copy and delete elsewhere. `false` when there is none.
    pub fn rename(&self, from: &str, to: &str) -> Result<bool> {
        self.must_be_present()?;
        let (source, target) = (parse(from)?, parse(to)?);
        if let Some(disk) = &self.inner.disk {
            let renamed = disk.rename(from, to);
            return renamed.map_err(|e| Error::from(e).at("from", from).at("path", to));
        }
        if self.local_root().is_none() {
            match self.size(from)? {
                None => return Ok(false),
                // In two steps, as the object store crate does it: an error states which of them is refused.
                Some(size) if size > SERVER_SIDE_COPY_BYTES || !self.is_web() => {
                    self.copy_of(from, to, size)?;
                    self.delete(from)?;
                    return Ok(true);
                }
                Some(_) => {}
            }
        }
        let _alone = self.alone();
        let renamed = self.wait(self.objects().rename_opts(&source, &target, RenameOptions::default()));
        Ok(found(renamed, from)?.is_some())
    }

    /// Copies an object; by way of the store itself where it can.
    pub fn copy(&self, from: &str, to: &str) -> Result<()> {
        match self.size(from)? {
            Some(bytes) => self.copy_of(from, to, bytes),
            None => Err(Error::new(Kind::Data, "there is nothing to copy").at("path", from)),
        }
    }

    /// As [`Self::copy`], of an object of so many bytes.
    pub(super) fn copy_of(&self, from: &str, to: &str, bytes: u64) -> Result<()> {
        let (source, target) = (parse(from)?, parse(to)?);
        if self.local_root().is_some() || bytes > SERVER_SIDE_COPY_BYTES {
            // A local copy is a hard link to the object store crate: two names of one file are not what is meant.
            return self.copy_streamed(from, to);
        }
        let options = CopyOptions::new().with_mode(CopyMode::Overwrite);
        let _alone = self.alone();
        self.wait(self.objects().copy_opts(&source, &target, options))
            .map_err(|e| Error::from(e).at("path", from))
    }

    fn copy_streamed(&self, from: &str, to: &str) -> Result<()> {
        let mut writer = self.writer(to)?;
        std::io::copy(&mut self.reader(from)?.sequential(), &mut writer)
            .map_err(|e| Error::from(e).at("from", from).at("to", to))?;
        writer.finish().map(drop)
    }

    /// A writer of one object: nothing is seen at `path` before it is finished.
    pub fn writer(&self, path: &str) -> Result<ObjectWriter> {
        self.must_be_present()?;
        let target = parse(path)?;
        if target.is_root() {
            return Err(Error::internal("an object needs a name"));
        }
        // The object store crate writes `name#1` next to the target first. Elsewhere than in staging, a killed run
        // would leave that behind in a folder people read.
        let is_below = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let is_hidden = [STAGING, SENDING].into_iter().any(is_below);
        let detour = if self.local_root().is_some() && !is_hidden {
            let n = self.inner.temporary_n.fetch_add(1, Ordering::Relaxed);
            Some(parse(&format!("{STAGING}/put-{}-{n}", process::tag()))?)
        } else {
            None
        };
        Ok(ObjectWriter::new(self.clone(), target, detour))
    }

    pub(super) fn objects(&self) -> &Arc<dyn ObjectStore> {
        &self.inner.objects
    }

    pub(super) fn runtime(&self) -> &Runtime {
        self.inner.runtime
    }

    pub(super) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.inner.runtime.block_on(future)
    }

    /// Whether it is a web server (`WebDAV`), which takes an object in one request only, however large it is, and knows
    /// no lock that two runs could agree on.
    pub fn is_web(&self) -> bool {
        self.inner.web.is_some()
    }

    fn alone(&self) -> Option<MutexGuard<'_, ()>> {
        let web = self.inner.web.as_ref()?;
        Some(web.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The folder behind it, where it is nothing but its files.
    pub(super) fn disk(&self) -> Option<&Disk> {
        self.inner.disk.as_ref()
    }

    pub(super) fn put_at(&self, location: &Path, bytes: Bytes) -> Result<()> {
        if let Some(disk) = self.disk() {
            return Ok(disk.put(location.as_ref(), &bytes)?);
        }
        let _alone = self.alone();
        let put = self.wait(self.objects().put_opts(location, bytes.into(), PutOptions::default()));
        Ok(put.map(drop)?)
    }

    pub(super) fn get_range(&self, location: &Path, range: std::ops::Range<u64>) -> object_store::Result<Bytes> {
        let options = GetOptions::new().with_range(Some(range));
        self.wait(async { self.objects().get_opts(location, options).await?.bytes().await })
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Store").field(&self.inner.url).finish()
    }
}

/// The thread of all stores: a lake that is opened again once the machine gives no more threads needs no further one.
fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let made = requests::runtime("gridtally-store")?;
    Ok(RUNTIME.get_or_init(|| made))
}

/// Takes a path literally, where the object store crate's own conversions would percent-encode it a second time.
pub(super) fn parse(path: &str) -> Result<Path> {
    if let Some(name) = path.split('/').find(|name| name.len() > MAX_SEGMENT_BYTES) {
        let message = format!(
            "a name of {} bytes is too long, {MAX_SEGMENT_BYTES} are possible",
            name.len()
        );
        return Err(Error::new(Kind::Data, message).at("path", path));
    }
    Path::parse(path).map_err(|e| {
        Error::internal("this is not a path of the store")
            .at("path", path)
            .because(e)
    })
}

/// Turns "not found" into `None` and gives every other error its path.
fn found<T>(result: object_store::Result<T>, path: &str) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(e) => Err(Error::from(e).at("path", path)),
    }
}

fn bad_url(url: &str) -> Error {
    Error::config("this is not the location of an output").at("url", url)
}
