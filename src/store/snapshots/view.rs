//! A lake as a snapshot defines it: which object has the bytes of which path.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;

use super::document::SnapshotDocument;
use super::kept_path::kept_path;
use crate::error::{Error, Kind, Result};

/// Path of the manifest.
const MANIFEST: &str = "manifest.json";

/// Path of the seal.
const SEAL: &str = "seal.json";

/// Where the bytes of a path are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct StoredObject {
    pub(in crate::store) place: String,
    pub(in crate::store) bytes: u64,
}

/// What is to be seen of a lake.
#[derive(Debug)]
pub(in crate::store) struct SnapshotView {
    /// Number of the snapshot.
    number: u64,
    /// What the document has itself.
    texts: BTreeMap<&'static str, Bytes>,
    objects: BTreeMap<String, StoredObject>,
}

#[derive(Deserialize)]
struct FilesForm {
    files: Vec<FileForm>,
}

#[derive(Deserialize)]
struct FileForm {
    path: String,
    bytes: u64,
    blake3: String,
}

impl SnapshotView {
    /// # Errors
    /// [`Kind::Data`] when the manifest of the document is damaged.
    pub(in crate::store) fn of(document: SnapshotDocument) -> Result<Self> {
        let form: FilesForm = serde_json::from_str(&document.manifest)
            .map_err(|why| Error::new(Kind::Data, "the manifest of a snapshot is damaged").because(why))?;
        let mut objects = BTreeMap::new();
        for file in form.files {
            let stored = StoredObject {
                place: kept_path(&file.path, &file.blake3),
                bytes: file.bytes,
            };
            objects.insert(file.path, stored);
        }
        for page in document.pages {
            let stored = StoredObject {
                place: page.path.clone(),
                bytes: page.bytes,
            };
            objects.insert(page.path, stored);
        }
        Ok(Self {
            number: document.number,
            texts: BTreeMap::from([(MANIFEST, document.manifest.into()), (SEAL, document.seal.into())]),
            objects,
        })
    }

    /// Number of the snapshot.
    pub(in crate::store) fn number(&self) -> u64 {
        self.number
    }

    /// What the document has itself at a path.
    pub(in crate::store) fn text(&self, path: &str) -> Option<&Bytes> {
        self.texts.get(path)
    }

    /// Where the bytes of a path are.
    pub(in crate::store) fn object(&self, path: &str) -> Option<&StoredObject> {
        self.objects.get(path)
    }

    /// Paths below a folder (`""` for all), and their sizes in bytes.
    pub(in crate::store) fn list(&self, folder: &str) -> BTreeMap<String, u64> {
        let is_below =
            |path: &str| folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let texts = self
            .texts
            .iter()
            .map(|(path, text)| (*path, crate::numbers::count_u64(text.len())));
        let objects = self.objects.iter().map(|(path, object)| (path.as_str(), object.bytes));
        texts
            .chain(objects)
            .filter(|(path, _)| is_below(path))
            .map(|(path, bytes)| (path.to_owned(), bytes))
            .collect()
    }
}
