//! `manifest.json`: what is published. Deterministic text: the same files and facts give the same bytes. It ends with its
//! own hash.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::lake_facts::LakeFacts;
use super::location::Store;
use super::own_hash;
use crate::error::{Error, Kind, Result};

/// Path of the manifest, below the root.
pub const MANIFEST: &str = "manifest.json";

/// The version of the manifest's form that this program writes and the newest it reads.
pub const FORMAT_VERSION: u32 = 2;

/// One published file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Path relative to the root, `/`-separated.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// BLAKE3 of the contents, hexadecimal.
    pub blake3: String,
    /// Rows, 0 for what is not a table.
    pub rows: u64,
    /// The dataset it belongs to.
    pub dataset: String,
    /// The version of the dataset's schema it follows.
    pub schema_version: u32,
}

/// Everything that is published, and facts about how it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Facts, such as the fingerprints of inputs and configuration.
    pub facts: LakeFacts,
    files: BTreeMap<String, FileEntry>,
}

#[derive(Deserialize)]
struct ManifestVersion {
    format_version: u32,
}

#[derive(Deserialize)]
struct ManifestForm {
    #[serde(default)]
    facts: LakeFacts,
    #[serde(default)]
    files: Vec<FileEntry>,
}

impl Manifest {
    /// Reads the manifest of an output; `None` when nothing has been published there.
    ///
    /// # Errors
    /// `Data` when it is damaged or of a newer form.
    pub fn load(store: &Store) -> Result<Option<Self>> {
        let Some(bytes) = store.get(MANIFEST)? else {
            return Ok(None);
        };
        Self::parse(&bytes).map(Some).map_err(|e| e.at("store", store.url()))
    }

    /// Whether there is a lake at a path or URL; looking makes nothing.
    ///
    /// # Errors
    /// As [`Self::load`] and [`Store::open_existing`], but that nothing is there is none.
    pub fn is_there(output: &str) -> Result<bool> {
        match Store::open_existing(output) {
            Ok(store) => store.exists(MANIFEST),
            Err(why) if why.kind() == Kind::NoInput => Ok(false),
            Err(why) => Err(why),
        }
    }

    /// Opens the lake at a path or URL.
    ///
    /// # Errors
    /// `NoInput` when nothing has been published there; otherwise as [`Self::load`] and [`Store::open_existing`].
    pub fn open(output: &str) -> Result<(Store, Self)> {
        let store = Store::open_existing(output)?;
        let manifest = Self::load(&store)?.ok_or_else(|| {
            Error::new(
                Kind::NoInput,
                format!("{output} is not a lake: it has no manifest.json"),
            )
        })?;
        Ok((store, manifest))
    }

    /// Reads the text of a manifest.
    pub fn parse(text: &[u8]) -> Result<Self> {
        let damaged = || Error::new(Kind::Data, "the manifest is damaged");
        // The version comes first: a newer form may differ in everything else.
        let version: ManifestVersion = serde_json::from_slice(text).map_err(|e| damaged().because(e))?;
        if version.format_version > FORMAT_VERSION {
            return Err(Error::new(Kind::Data, "the manifest was written by a newer gridtally")
                .at("format_version", version.format_version));
        }
        if version.format_version < FORMAT_VERSION {
            let message = "the manifest was written by an earlier gridtally: rebuild the lake in another folder (gridtally \
                           run), and send all of it again";
            return Err(Error::new(Kind::Data, message).at("format_version", version.format_version));
        }
        if own_hash::of(text).is_none() {
            return Err(damaged().at("reason", "it does not end with the hash of its content"));
        }
        let form: ManifestForm = serde_json::from_slice(text).map_err(|e| damaged().because(e))?;
        let mut manifest = Self {
            facts: form.facts,
            files: BTreeMap::new(),
        };
        for file in form.files {
            if let Some(twice) = manifest.insert(file) {
                return Err(damaged().at("file named twice", twice.path));
            }
        }
        Ok(manifest)
    }

    /// The text: pretty, one file per line, sorted.
    pub fn to_text(&self) -> Result<String> {
        let json = |e: serde_json::Error| Error::internal("the manifest cannot be written").because(e);
        let mut text = format!("{{\n  \"format_version\": {FORMAT_VERSION},\n  \"facts\": {{");
        let mut separator = "";
        for (name, value) in self.facts.iter() {
            let key = serde_json::to_string(name).map_err(json)?;
            let value = serde_json::to_string(value).map_err(json)?;
            let _infallible = write!(text, "{separator}\n    {key}: {value}");
            separator = ",";
        }
        text.push_str(if self.facts.is_empty() { "},\n" } else { "\n  },\n" });
        text.push_str("  \"files\": [");
        separator = "";
        for file in self.files.values() {
            let file = serde_json::to_string(file).map_err(json)?;
            let _infallible = write!(text, "{separator}\n    {file}");
            separator = ",";
        }
        text.push_str(if self.files.is_empty() { "],\n" } else { "\n  ],\n" });
        Ok(own_hash::end(text))
    }

    /// The hash that its text ends with.
    ///
    /// # Errors
    /// `Internal` when it cannot be written.
    pub fn blake3(&self) -> Result<String> {
        let missing = || Error::internal("a manifest was written without its hash");
        own_hash::of(self.to_text()?.as_bytes()).ok_or_else(missing)
    }

    /// The published files, sorted by path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &FileEntry> {
        self.files.values()
    }

    /// The published files of one dataset, sorted by path.
    pub fn dataset(&self, dataset: &str) -> impl Iterator<Item = &FileEntry> {
        self.files.values().filter(move |file| file.dataset == dataset)
    }

    /// One published file.
    pub fn file(&self, path: &str) -> Option<&FileEntry> {
        self.files.get(path)
    }

    /// Adds or replaces a file; gives the one it replaces.
    pub fn insert(&mut self, file: FileEntry) -> Option<FileEntry> {
        self.files.insert(file.path.clone(), file)
    }

    /// Takes a file out.
    pub fn remove(&mut self, path: &str) -> Option<FileEntry> {
        self.files.remove(path)
    }
}
