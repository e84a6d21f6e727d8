//! The file of a shard, read block by block; what is damaged is an error.

use arrow_array::{Array, RecordBatch, StringArray};
use xxhash_rust::xxh3::xxh3_64;

use super::folder::ShardFolder;
use super::manifest::ShardManifest;
use super::product::{Block, Section, blocks_of};
use crate::dedupe::packed::{GatherPart, GatherRun, WaitingBatch};
use crate::dedupe::shared_blocks::{SharedBlocks, listed_place};
use crate::error::{Error, Kind, Result};
use crate::numbers::{Extent, count_u64};
use crate::runtime::scratch::PackedBatch;
use crate::schema::batch::{column, plain};
use crate::store::ObjectReader;

/// The file of one shard.
pub(crate) struct ProductReader {
    reader: ObjectReader,
    shard: u32,
    /// Where it is, for people.
    place: String,
    blocks: Vec<Block>,
}

impl ProductReader {
    /// Opens the file that a manifest names, and reads its index.
    ///
    /// # Errors
    /// [`Kind::Data`] when it is gone or damaged, [`Kind::Io`] when it cannot be read.
    pub(crate) fn open(folder: &ShardFolder, manifest: &ShardManifest) -> Result<Self> {
        let shard = manifest.shard;
        let place = folder.candidates_place(manifest);
        let reader = folder
            .candidates(&manifest.candidates)
            .map_err(|why| why.at("shard", shard))?;
        let index = manifest.index;
        let index_len = count_u64(index.blocks_len).further(count_u64(index.keys_len));
        if reader.size() != manifest.bytes || index.at.further(index_len) > manifest.bytes {
            return Err(damaged(shard, &place));
        }
        let blocks = reader.bytes(index.at, index.blocks_len)?;
        let keys = reader.bytes(index.at + count_u64(index.blocks_len), index.keys_len)?;
        if xxh3_64(&[&*blocks, &*keys].concat()) != index.xxh3 {
            return Err(damaged(shard, &place));
        }
        let table = PackedBatch::of_bytes(blocks.to_vec(), index.blocks_unpacked_len).unpack()?;
        let keys = PackedBatch::of_bytes(keys.to_vec(), index.keys_unpacked_len).unpack()?;
        Ok(Self {
            reader,
            shard,
            place,
            blocks: blocks_of(&table, &keys).map_err(|why| why.at("shard", shard))?,
        })
    }

    /// The blocks, with their numbers.
    pub(crate) fn blocks(&self, section: Section) -> impl Iterator<Item = (usize, &Block)> {
        self.blocks
            .iter()
            .enumerate()
            .filter(move |(_, block)| block.section == section)
    }

    /// The bytes of a block, packed.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn bytes(&self, block: &Block) -> Result<Vec<u8>> {
        let bytes = self
            .reader
            .bytes(block.at, block.len)
            .map_err(|why| why.at("shard", self.shard))?;
        if xxh3_64(&bytes) != block.xxh3 {
            return Err(damaged(self.shard, &self.place));
        }
        Ok(bytes.to_vec())
    }

    /// The rows of a block.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn rows(&self, block: &Block) -> Result<RecordBatch> {
        PackedBatch::of_bytes(self.bytes(block)?, block.unpacked_len).unpack()
    }

    fn block(&self, nth: usize) -> Result<&Block> {
        self.blocks
            .get(nth)
            .ok_or_else(|| Error::internal("a shard has no such block"))
    }
}

fn damaged(shard: u32, place: &str) -> Error {
    let message = format!("the candidates of shard {shard} are damaged: read it again with `gridtally run --shard`");
    Error::new(Kind::Data, message).at("path", place)
}

/// Candidates of one shard, those of some files left out.
pub(crate) struct ShardCandidates {
    product: ProductReader,
    /// By place in the list: whether the rows of a file count; `None` where those of all files of the shard do.
    counting: Option<Vec<bool>>,
}

impl ShardCandidates {
    /// Of the files that count.
    pub(crate) fn new(product: ProductReader, counting: Option<Vec<bool>>) -> Self {
        Self { product, counting }
    }

    /// The file.
    pub(crate) fn product(&self) -> &ProductReader {
        &self.product
    }

    /// Whether every row counts.
    pub(crate) fn is_whole(&self) -> bool {
        self.counting.is_none()
    }
}

impl SharedBlocks for ShardCandidates {
    fn load(&self, nth: usize) -> Result<GatherPart> {
        let batch = self.product.rows(self.product.block(nth)?)?;
        let batch = WaitingBatch::of(batch)?;
        Ok(match &self.counting {
            None => GatherPart::whole(batch),
            Some(counting) => GatherPart {
                runs: counting_runs(batch.batch(), counting)?,
                batch,
            },
        })
    }
}

/// The runs of rows whose file counts.
fn counting_runs(batch: &RecordBatch, counting: &[bool]) -> Result<Vec<GatherRun>> {
    let words = plain(column(batch, "file_id")?)?;
    let words = words.as_any().downcast_ref::<StringArray>();
    let words = words.ok_or_else(|| Error::internal("files are not named by texts"))?;
    let counts = |row: usize| {
        let place = listed_place(words.value(row)).and_then(|place| counting.get(place));
        place.is_some_and(|counts| *counts)
    };
    let mut runs: Vec<GatherRun> = Vec::new();
    for row in (0..words.len()).filter(|row| counts(*row)) {
        match runs.last_mut() {
            Some(run) if run.first + run.len == row => run.len += 1,
            _ => runs.push(GatherRun { first: row, len: 1 }),
        }
    }
    Ok(runs)
}
