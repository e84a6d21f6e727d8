//! How far the shards of a list are, from the files in the folder: nobody else is asked.

use std::fmt::Write as _;

use super::folder::{DigestedList, ShardFolder, ShardState};
use super::manifest::ShardManifest;
use crate::error::Result;
use crate::numbers::count_u64;

/// Shards that are named to people.
const NAMED: usize = 20;

/// How far the shards of a list are.
#[derive(Clone, Debug, Default)]
pub struct ShardStanding {
    /// How many the list has.
    pub shard_n: u32,
    /// Those that are done, in order.
    pub done: Vec<ShardManifest>,
    /// Those of which there is nothing.
    pub missing: Vec<u32>,
    /// Those that were read from something else, and what that is.
    pub foreign: Vec<ForeignShard>,
    /// Bytes of the input files of all shards.
    pub bytes_n: u64,
    /// Of these, bytes of the shards that are done.
    pub bytes_done_n: u64,
}

/// A shard that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignShard {
    /// Its number.
    pub shard: u32,
    /// Why, such as "was read for another list".
    pub why: String,
}

impl ShardStanding {
    /// Looks at the manifests in the folder.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the folder cannot be read.
    pub fn of(folder: &ShardFolder, list: &DigestedList) -> Result<Self> {
        let there = folder.with_manifest()?;
        let bytes = list.list.bytes();
        let mut standing = Self {
            shard_n: list.list.head.shard_n,
            bytes_n: bytes.iter().sum(),
            ..Self::default()
        };
        for (shard, bytes) in (1..=standing.shard_n).zip(bytes) {
            let state = match there.binary_search(&shard) {
                Ok(_) => folder.shard(list, shard)?,
                Err(_) => ShardState::Missing,
            };
            match state {
                ShardState::Missing => standing.missing.push(shard),
                ShardState::Foreign(why) => standing.foreign.push(ForeignShard { shard, why }),
                ShardState::Done(manifest) => {
                    standing.bytes_done_n += bytes;
                    standing.done.push(manifest);
                }
            }
        }
        Ok(standing)
    }

    /// The shards that have to be read, in order.
    #[must_use]
    pub fn to_read(&self) -> Vec<u32> {
        let foreign = self.foreign.iter().map(|of| of.shard);
        let mut shards: Vec<u32> = self.missing.iter().copied().chain(foreign).collect();
        shards.sort_unstable();
        shards
    }

    /// Why the shards cannot be merged; `None` where all are done.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        let to_read = self.to_read().len();
        if to_read == 0 {
            return None;
        }
        let mut text = format!(
            "{to_read} of {} shards cannot be merged: nothing was published",
            self.shard_n
        );
        for (nth, shard) in self.to_read().into_iter().enumerate() {
            if nth == NAMED {
                let _ = write!(text, "\n  and {} more", count_u64(to_read - NAMED));
                break;
            }
            let foreign = self.foreign.iter().find(|of| of.shard == shard);
            let why = foreign.map_or("is missing", |of| of.why.as_str());
            let _ = write!(text, "\n  shard {shard} {why}");
        }
        text.push_str("\nRead them with `gridtally run --shard I/N`, or submit them again with `--missing`");
        Some(text)
    }
}
