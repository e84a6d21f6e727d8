//! What a shard states of itself. It is written when everything else of the shard is there.

use serde::{Deserialize, Serialize};

use super::fingerprint::{FORM, VERSION};
use super::folder::DigestedList;

/// The manifest of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardManifest {
    /// Form of manifest and candidates.
    pub form: u32,
    /// Version of the program that read it.
    pub gridtally_version: String,
    /// Digest of the list it is a shard of. The list holds the fingerprint of the pipeline.
    pub list: String,
    /// Its number, from 1 on.
    pub shard: u32,
    /// How many shards the list has.
    pub shard_n: u32,
    /// Files it read.
    pub file_n: u64,
    /// Rows it read.
    pub rows_read_n: u64,
    /// Of these, candidates for records.
    pub candidate_n: u64,
    /// BLAKE3 of its candidates, which is their name.
    pub candidates: String,
    /// Their size.
    pub bytes: u64,
    /// Where the index of the candidates is in them.
    pub index: IndexPlace,
}

/// Where an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPlace {
    /// Offset.
    pub at: u64,
    /// Length of the table of blocks.
    pub blocks_len: usize,
    /// The same, unpacked.
    pub blocks_unpacked_len: usize,
    /// Length of the table of keys.
    pub keys_len: usize,
    /// The same, unpacked.
    pub keys_unpacked_len: usize,
    /// XXH3 of both.
    pub xxh3: u64,
}

impl ShardManifest {
    /// Why it is not this shard of this list, read by this version; `None` where it is.
    #[must_use]
    pub fn refusal(&self, list: &DigestedList, shard: u32) -> Option<String> {
        if self.form != FORM || self.gridtally_version != VERSION {
            let version = &self.gridtally_version;
            return Some(format!("was read by gridtally {version}, and this is {VERSION}"));
        }
        if self.shard_n != list.list.head.shard_n || self.list != list.digest {
            return Some("was read for another list".to_owned());
        }
        if self.shard != shard {
            return Some(format!("has the manifest of shard {}", self.shard));
        }
        None
    }
}
