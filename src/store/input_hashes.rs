//! The hashes of input files, and what the file system stated of each when it was hashed. It is no part of what is published: no
//! manifest names it, and without it every known file is hashed again.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::machinery::INPUT_HASHES;
use super::own_hash;
use super::publish::Publication;
use crate::error::{Error, Result};

#[derive(Deserialize)]
struct Document<T> {
    files: Vec<T>,
}

impl Publication {
    /// The entries as they were written; empty where there are none.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when they cannot be read, [`crate::error::Kind::Data`] when they are damaged.
    pub(crate) fn input_hashes<T: DeserializeOwned>(&self) -> Result<Vec<T>> {
        let damaged = || Error::new(crate::error::Kind::Data, format!("{INPUT_HASHES} is damaged"));
        let Some(text) = self.store().get(INPUT_HASHES)? else {
            return Ok(Vec::new());
        };
        own_hash::of(&text).ok_or_else(damaged)?;
        let document: Document<T> = serde_json::from_slice(&text).map_err(|why| damaged().because(why))?;
        Ok(document.files)
    }

    /// Replaces all entries.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when they cannot be written, [`crate::error::Kind::Busy`] when another writer has taken the
    /// lake over.
    pub(crate) fn replace_input_hashes<'a, T: Serialize + 'a>(
        &self,
        entries: impl Iterator<Item = &'a T>,
    ) -> Result<()> {
        let mut text = String::from("{\n  \"files\": [");
        let mut separator = "";
        for entry in entries {
            let entry = serde_json::to_string(entry)
                .map_err(|why| Error::internal("the hash of an input file cannot be written").because(why))?;
            text.push_str(separator);
            text.push_str("\n    ");
            text.push_str(&entry);
            separator = ",";
        }
        text.push_str(if separator.is_empty() { "],\n" } else { "\n  ],\n" });
        self.lake_lock().put(INPUT_HASHES, Bytes::from(own_hash::end(text)))
    }
}
