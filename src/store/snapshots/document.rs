//! The document of a snapshot: the texts and lists that define one state of a lake. Compressed, and named by its content.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::store::machinery::SNAPSHOTS;

/// The version of the document's form.
const FORMAT_VERSION: u32 = 1;

const ZSTD_LEVEL: i32 = 9;

/// How the names of documents end.
const EXTENSION: &str = ".json.zst";

/// A page of a book, as it was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotPage {
    /// Its path.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// One state of a lake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotDocument {
    format_version: u32,
    /// Number of the run that made it, from 1: that of its page in the book `runs`.
    pub number: u64,
    /// When it was committed, Unix milliseconds.
    pub made_ms: i64,
    /// The run that made it; `None` for a commit that no run made.
    pub run_id: Option<String>,
    /// The text of the manifest.
    pub manifest: String,
    /// The text of the seal.
    pub seal: String,
    /// The pages of all books.
    pub pages: Vec<SnapshotPage>,
}

/// What distinguishes a state from the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct SnapshotOrigin {
    pub(in crate::store) number: u64,
    pub(in crate::store) made_ms: i64,
    pub(in crate::store) run_id: Option<String>,
}

/// The name of a document: in the order in which they were made, and by content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SnapshotName {
    /// Number of the run that made it.
    pub number: u64,
    /// When it was committed, Unix milliseconds.
    pub made_ms: i64,
    /// BLAKE3 of the document, hexadecimal.
    pub blake3: String,
}

impl SnapshotDocument {
    /// The document of a state.
    pub(in crate::store) fn new(
        origin: SnapshotOrigin,
        manifest: String,
        seal: String,
        pages: Vec<SnapshotPage>,
    ) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            number: origin.number,
            made_ms: origin.made_ms,
            run_id: origin.run_id,
            manifest,
            seal,
            pages,
        }
    }

    /// Its bytes, and the name they have.
    pub(in crate::store) fn pack(&self) -> Result<(SnapshotName, Bytes)> {
        let text = serde_json::to_vec(self)
            .map_err(|why| Error::internal("the document of a snapshot cannot be written").because(why))?;
        let bytes = zstd::bulk::compress(&text, ZSTD_LEVEL)?;
        let name = SnapshotName {
            number: self.number,
            made_ms: self.made_ms,
            blake3: blake3::hash(&bytes).to_hex().to_string(),
        };
        Ok((name, bytes.into()))
    }

    /// Reads the bytes of the document of this name.
    ///
    /// # Errors
    /// [`Kind::Data`] when they are not those it was written with, or of a newer form.
    pub(in crate::store) fn unpack(name: &SnapshotName, bytes: &[u8]) -> Result<Self> {
        let damaged = || Error::new(Kind::Data, "the document of a snapshot is damaged").at("path", name.path());
        if blake3::hash(bytes).to_hex().as_str() != name.blake3 {
            return Err(damaged().at("reason", "its name is not the hash of its content"));
        }
        let text = zstd::stream::decode_all(bytes).map_err(|why| damaged().because(why))?;
        let document: Self = serde_json::from_slice(&text).map_err(|why| damaged().because(why))?;
        if document.format_version != FORMAT_VERSION {
            let message = "the document of a snapshot was written by another version of gridtally";
            return Err(Error::new(Kind::Data, message).at("format_version", document.format_version));
        }
        Ok(document)
    }
}

impl SnapshotName {
    /// The path of the document below the root of the lake.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{SNAPSHOTS}/{self}")
    }

    /// The place of the snapshot: what opens the lake as it was, in place of the place of the lake.
    #[must_use]
    pub fn place(&self, lake: &str) -> String {
        format!("{}/{}", lake.trim_end_matches('/'), self.path())
    }

    /// Splits the place of a snapshot into that of its lake and its name; `None` for other places.
    pub(in crate::store) fn split_place(place: &str) -> Option<(&str, Self)> {
        let (rest, name) = place.rsplit_once('/')?;
        let lake = rest.strip_suffix(SNAPSHOTS)?.strip_suffix('/')?;
        // Fallback: what is named otherwise is not the place of a snapshot.
        Some((lake, name.parse().ok()?))
    }
}

impl fmt::Display for SnapshotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}-{:013}-{}{EXTENSION}", self.number, self.made_ms, self.blake3)
    }
}

impl FromStr for SnapshotName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not the name of the document of a snapshot");
        let mut parts = text.strip_suffix(EXTENSION).ok_or_else(wrong)?.split('-');
        let (number, made, hash) = (parts.next(), parts.next(), parts.next());
        let (Some(number), Some(made), Some(hash), None) = (number, made, hash, parts.next()) else {
            return Err(wrong());
        };
        let name = Self {
            number: number.parse().map_err(|_| wrong())?,
            made_ms: made.parse().map_err(|_| wrong())?,
            blake3: hash.to_owned(),
        };
        if name.to_string() == text && hash.len() == 64 {
            Ok(name)
        } else {
            Err(wrong())
        }
    }
}
