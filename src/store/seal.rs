//! `seal.json`: which manifest is the lake's, and where the chain of pages of each book ends.
//!
//! It is written with every commit, of a run as of a publication. A page that was taken away, or a manifest that was put
//! back, does not fit the seal.

use std::collections::BTreeMap;
use std::fmt::Write;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::location::Store;
use super::machinery::BOOKS;
use super::manifest::{MANIFEST, Manifest};
use super::own_hash;
use crate::error::{Error, Kind, Result};
use crate::numbers::Extent;

/// Path of the seal, below the root.
pub const SEAL: &str = "seal.json";

/// The version of the seal's form.
const FORMAT_VERSION: u32 = 1;

/// Key of a page's footer: the path it was written to.
pub(super) const PAGE_KEY: &str = "gridtally.page";
/// Key of a page's footer: its number in its book, from 1.
pub(super) const PAGE_N_KEY: &str = "gridtally.page_n";
/// Key of a page's footer: BLAKE3 of the page before it, empty on the first.
pub(super) const PREVIOUS_KEY: &str = "gridtally.previous_blake3";

/// Where the chain of a book ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealHead {
    /// Pages of the book.
    pub page_n: u64,
    /// BLAKE3 of the last page, hexadecimal; empty while there is none.
    pub blake3: String,
}

/// Ends of the chains by book.
pub type Heads = BTreeMap<String, SealHead>;

/// The seal of a lake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seal {
    /// The hash the manifest carries; empty while there is none.
    pub manifest_blake3: String,
    /// Where each book ends.
    pub books: Heads,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SealForm {
    format_version: u32,
    manifest_blake3: String,
    books: Heads,
    #[serde(rename = "blake3")]
    _blake3: String,
}

impl Seal {
    /// Reads the seal of an output; `None` when there is none.
    ///
    /// # Errors
    /// `Data` when it is damaged or of another form.
    pub fn load(store: &Store) -> Result<Option<Self>> {
        let Some(text) = store.get(SEAL)? else { return Ok(None) };
        Self::parse(&text).map(Some).map_err(|why| why.at("lake", store.url()))
    }

    fn parse(text: &[u8]) -> Result<Self> {
        let damaged = || Error::new(Kind::Data, format!("{SEAL} is damaged: {PUT_BACK}"));
        if own_hash::of(text).is_none() {
            return Err(damaged().at("reason", "it does not end with the hash of its content"));
        }
        let form: SealForm = serde_json::from_slice(text).map_err(|why| damaged().because(why))?;
        if form.format_version != FORMAT_VERSION {
            let message = format!("{SEAL} was written by another version of gridtally");
            return Err(Error::new(Kind::Data, message).at("format_version", form.format_version));
        }
        Ok(Self {
            manifest_blake3: form.manifest_blake3,
            books: form.books,
        })
    }

    /// The seal of a lake in which nothing is being committed, held against its manifest.
    ///
    /// # Errors
    /// `Data` when one of them is damaged, gone, or not of the other.
    pub fn held(store: &Store) -> Result<Self> {
        let (manifest, seal) = (store.get(MANIFEST)?, Self::load(store)?);
        if let Some(text) = &manifest {
            Manifest::parse(text).map_err(|why| why.at("lake", store.url()))?;
        }
        let problem = match (&manifest, &seal) {
            (None, None) => return Ok(Self::default()),
            (Some(_), None) => "there is no seal.json next to the manifest".to_owned(),
            _ => match unlike(manifest.as_ref(), seal.as_ref()) {
                // Fallback: a lake without a manifest and a seal is one to be made.
                None => return Ok(seal.unwrap_or_default()),
                Some(problem) => problem,
            },
        };
        Err(Error::new(Kind::Data, format!("{problem}: {PUT_BACK}")).at("lake", store.url()))
    }

    /// The text: pretty, one book per line, sorted.
    ///
    /// # Errors
    /// `Internal` when it cannot be written.
    pub fn to_text(&self) -> Result<String> {
        let json = |why: serde_json::Error| Error::internal("the seal cannot be written").because(why);
        let manifest = serde_json::to_string(&self.manifest_blake3).map_err(json)?;
        let mut text =
            format!("{{\n  \"format_version\": {FORMAT_VERSION},\n  \"manifest_blake3\": {manifest},\n  \"books\": {{");
        let mut separator = "";
        for book in BOOKS {
            let head = serde_json::to_string(&self.head(book)).map_err(json)?;
            let _infallible = write!(text, "{separator}\n    \"{book}\": {head}");
            separator = ",";
        }
        text.push_str("\n  },\n");
        Ok(own_hash::end(text))
    }

    /// Where a book ends.
    #[must_use]
    pub fn head(&self, book: &str) -> SealHead {
        // Fallback: a book that was never sealed has no pages.
        self.books.get(book).cloned().unwrap_or_default()
    }

    /// The footer of the next page of a book, which is going to be at `path`.
    #[must_use]
    pub fn footer(&self, path: &str) -> Vec<(String, String)> {
        let head = self.head(book_of(path));
        let number = head.page_n.further(1).to_string();
        [(PAGE_KEY, path), (PAGE_N_KEY, &number), (PREVIOUS_KEY, &head.blake3)]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into()
    }

    /// Adds a page to its book; gives its hash.
    pub fn turn(&mut self, path: &str, page: &Bytes) -> String {
        let head = self.books.entry(book_of(path).to_owned()).or_default();
        head.page_n += 1;
        head.blake3 = blake3::hash(page).to_hex().to_string();
        head.blake3.clone()
    }
}

/// The book a page at this path belongs to.
pub(super) fn book_of(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

/// What is to be done about a lake that is not as it was written.
pub(super) const PUT_BACK: &str = "put what belongs there back from a copy of the lake; without a copy, rebuild the lake \
                                   in another folder (gridtally run), and send all of it again";

/// Why a manifest is not the one of a seal.
pub(super) fn unlike(manifest: Option<&Bytes>, seal: Option<&Seal>) -> Option<String> {
    // Fallback: a manifest without a hash is not the one of any seal.
    let (seal, manifest) = (seal?, manifest.map(|text| own_hash::of(text).unwrap_or_default()));
    match manifest {
        None if seal.manifest_blake3.is_empty() => None,
        None => Some(format!("{SEAL} names a manifest, and there is none")),
        Some(hash) if hash == seal.manifest_blake3 => None,
        Some(_) => Some(format!("the manifest is not the one that {SEAL} names")),
    }
}
