//! The folder or bucket that all hosts reach: the list, the manifest of each shard, and candidates by their content.

use bytes::Bytes;

use super::list::ShardList;
use super::manifest::ShardManifest;
use crate::error::{Error, Kind, Result};
use crate::store::{ObjectReader, Store};

/// The list.
const LIST: &str = "list.jsonl";

/// The place of everything that shards share.
#[derive(Clone, Debug)]
pub struct ShardFolder {
    store: Store,
}

impl ShardFolder {
    /// Opens it to write a list; a local folder is made.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn create(place: &str) -> Result<Self> {
        Ok(Self {
            store: Store::open(place)?,
        })
    }

    /// Opens one that has a list.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when it is not there, else as [`Store::open`].
    pub fn open(place: &str) -> Result<Self> {
        let store = Store::open_existing(place).map_err(|why| match why.kind() {
            Kind::NoInput => no_list().because(why),
            _ => why,
        })?;
        Ok(Self { store })
    }

    /// What people should see as the place.
    #[must_use]
    pub fn url(&self) -> &str {
        self.store.url()
    }

    /// Writes the list, at once.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be written.
    pub fn put_list(&self, list: &ShardList) -> Result<()> {
        self.store.put(LIST, Bytes::from(list.to_text()?))
    }

    /// The list, and its digest: the manifests of its shards name it.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when there is none, else as [`ShardList::parse`].
    pub fn list(&self) -> Result<DigestedList> {
        let bytes = self
            .store
            .get(LIST)?
            .ok_or_else(|| no_list().at("folder", self.url()))?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|why| Error::new(Kind::Data, "the list of shards is not UTF-8").because(why))?;
        Ok(DigestedList {
            list: ShardList::parse(text).map_err(|why| why.at("folder", self.url()))?,
            digest: blake3::hash(&bytes).to_hex().to_string(),
        })
    }

    /// What states that a shard was read, as far as that can be seen without reading its candidates.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be read.
    pub fn shard(&self, list: &DigestedList, shard: u32) -> Result<ShardState> {
        let path = manifest_path(shard);
        let Some(bytes) = self.store.get(&path)? else {
            return Ok(ShardState::Missing);
        };
        let Ok(manifest) = serde_json::from_slice::<ShardManifest>(&bytes) else {
            let place = self.store.url();
            return Ok(ShardState::Foreign(format!(
                "has a manifest that is damaged: {place}/{path}"
            )));
        };
        if let Some(why) = manifest.refusal(list, shard) {
            return Ok(ShardState::Foreign(why));
        }
        if !self.holds(&manifest)? {
            return Ok(ShardState::Foreign("has lost its candidates".to_owned()));
        }
        Ok(ShardState::Done(manifest))
    }

    /// Writes the manifest of a shard, at once: from then on the shard is done.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be written.
    pub(crate) fn put_manifest(&self, manifest: &ShardManifest) -> Result<()> {
        let unwritten = |why: serde_json::Error| Error::internal("a manifest cannot be written").because(why);
        let mut text = serde_json::to_string_pretty(manifest).map_err(unwritten)?;
        text.push('\n');
        self.store.put(&manifest_path(manifest.shard), Bytes::from(text))
    }

    /// The numbers of the shards that have a manifest.
    ///
    /// # Errors
    /// [`Kind::Io`] when the folder cannot be listed.
    pub fn with_manifest(&self) -> Result<Vec<u32>> {
        let listed = self.store.list("shards")?;
        let number = |path: &str| path.strip_prefix("shards/")?.strip_suffix(".json")?.parse().ok();
        Ok(listed.iter().filter_map(|entry| number(&entry.path)).collect())
    }

    /// Whether the candidates of this content are there, with their size.
    fn holds(&self, manifest: &ShardManifest) -> Result<bool> {
        let size = self.store.size(&candidates_path(&manifest.candidates))?;
        Ok(size == Some(manifest.bytes))
    }

    /// Writes what a writer is given to the path of its content, at once.
    pub(crate) fn put_candidates(
        &self,
        content: &str,
        write: impl FnOnce(&mut dyn std::io::Write) -> Result<()>,
    ) -> Result<()> {
        let mut writer = self.store.writer(&candidates_path(content))?;
        write(&mut writer)?;
        writer.finish().map(drop)
    }

    /// Where the candidates of a shard are, for people.
    pub(crate) fn candidates_place(&self, manifest: &ShardManifest) -> String {
        format!("{}/{}", self.store.url(), candidates_path(&manifest.candidates))
    }

    /// Opens candidates by their content.
    pub(crate) fn candidates(&self, content: &str) -> Result<ObjectReader> {
        self.store.reader(&candidates_path(content))
    }

    /// Writes a file for people or a batch system next to the list, at once.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be written.
    pub fn put_text(&self, name: &str, text: String) -> Result<()> {
        self.store.put(name, Bytes::from(text))
    }

    /// The folder behind it, when it is on a disk.
    #[must_use]
    pub fn local_root(&self) -> Option<&std::path::Path> {
        self.store.local_root()
    }
}

/// How far a shard is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardState {
    /// There is nothing of it.
    Missing,
    /// What is there cannot be taken, and why, such as "was read for another list".
    Foreign(String),
    /// It was read.
    Done(ShardManifest),
}

/// A list with its digest.
#[derive(Clone, Debug)]
pub struct DigestedList {
    /// The list.
    pub list: ShardList,
    /// BLAKE3 of its text, hexadecimal.
    pub digest: String,
}

fn no_list() -> Error {
    Error::new(
        Kind::NoInput,
        "there is no list of shards: make one with `gridtally plan --shards N`",
    )
}

fn manifest_path(shard: u32) -> String {
    format!("shards/{shard:06}.json")
}

fn candidates_path(content: &str) -> String {
    format!("candidates/{content}.candidates")
}
