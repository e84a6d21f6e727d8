//! What a shard has read, in one file that is named by its content: blocks of sorted candidates, of refusals, of summaries
//! and of facts about the files, and an index of them at its end.

use std::io::Write;

use arrow_array::{ArrayRef, RecordBatch};
use xxhash_rust::xxh3::xxh3_64;

use super::folder::ShardFolder;
use super::manifest::IndexPlace;
use crate::dedupe::keys::{KeySample, RecordKey};
use crate::error::{Error, Kind, Result};
use crate::numbers::{count_i64, count_u64, counted_i64, index_u64, stored_u64};
use crate::runtime::scratch::{PackedBatch, Scratch, SpillRange};
use crate::schema::batch::{id, identities, identity, int, ints, text, texts, uint, uints};
use crate::time::Day;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Candidates for records, of one site and day.
    Candidates,
    /// Refused rows.
    Rejects,
    /// Summaries, of one site and month.
    Summaries,
    /// Facts about the files, as JSON.
    Facts,
}

impl Section {
    const ALL: [Self; 4] = [Self::Candidates, Self::Rejects, Self::Summaries, Self::Facts];

    fn as_str(self) -> &'static str {
        match self {
            Self::Candidates => "candidates",
            Self::Rejects => "rejects",
            Self::Summaries => "summaries",
            Self::Facts => "facts",
        }
    }
}

/// A block in the file.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) section: Section,
    /// Site of its rows, if they are of one.
    pub(crate) site: String,
    /// Days since 1970 of its rows, or the first day of their month.
    pub(crate) day: Day,
    /// How many rows.
    pub(crate) row_n: usize,
    /// Offset.
    pub(crate) at: u64,
    /// Length.
    pub(crate) len: usize,
    /// Length unpacked.
    pub(crate) unpacked_len: usize,
    /// XXH3 of its bytes.
    pub(crate) xxh3: u64,
    /// Some keys of its candidates.
    pub(crate) keys: KeySample,
}

/// The rows of a block, before they have a place.
pub(crate) struct NewBlock<'a> {
    pub(crate) section: Section,
    pub(crate) site: &'a str,
    pub(crate) day: Day,
    pub(crate) row_n: usize,
    pub(crate) keys: KeySample,
}

/// Collects blocks in a temporary file of this host until all are there and their name is known.
#[derive(Default)]
pub(crate) struct ProductWriter {
    scratch: Scratch,
    pieces: Vec<SpillRange>,
    hasher: blake3::Hasher,
    end: u64,
    blocks: Vec<Block>,
}

/// A file of a shard that is in the folder.
pub(crate) struct WrittenProduct {
    pub(crate) content: String,
    pub(crate) bytes: u64,
    pub(crate) index: IndexPlace,
}

impl ProductWriter {
    /// Adds a block.
    ///
    /// # Errors
    /// [`Kind::Io`] when the temporary file cannot be written.
    pub(crate) fn push(&mut self, new: NewBlock<'_>, packed: &PackedBatch) -> Result<()> {
        self.push_bytes(new, packed.bytes(), packed.unpacked_len())
    }

    /// Adds a block of bytes that unpack to so many.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub(crate) fn push_bytes(&mut self, new: NewBlock<'_>, bytes: &[u8], unpacked_len: usize) -> Result<()> {
        let at = self.append(bytes)?;
        self.blocks.push(Block {
            section: new.section,
            site: new.site.to_owned(),
            day: new.day,
            row_n: new.row_n,
            at,
            len: bytes.len(),
            unpacked_len,
            xxh3: xxh3_64(bytes),
            keys: new.keys,
        });
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let at = self.end;
        self.pieces.push(self.scratch.push(bytes)?);
        self.hasher.update(bytes);
        self.end += count_u64(bytes.len());
        Ok(at)
    }

    /// Writes the index, and all of it under its name into the folder, where it is not there already.
    ///
    /// # Errors
    /// [`Kind::Io`] when the folder cannot be written.
    pub(crate) fn finish(mut self, folder: &ShardFolder) -> Result<WrittenProduct> {
        let (blocks, keys) = (
            PackedBatch::pack(&block_table(&self.blocks)?)?,
            PackedBatch::pack(&key_table(&self.blocks)?)?,
        );
        let index = IndexPlace {
            at: self.append(blocks.bytes())?,
            blocks_len: blocks.bytes().len(),
            blocks_unpacked_len: blocks.unpacked_len(),
            keys_len: keys.bytes().len(),
            keys_unpacked_len: keys.unpacked_len(),
            xxh3: xxh3_64(&[blocks.bytes(), keys.bytes()].concat()),
        };
        self.append(keys.bytes())?;
        let content = self.hasher.finalize().to_hex().to_string();
        let Self {
            scratch,
            pieces,
            end: bytes,
            ..
        } = self;
        folder.put_candidates(&content, |writer: &mut dyn Write| {
            for piece in pieces {
                writer.write_all(&scratch.load(piece)?)?;
            }
            Ok(())
        })?;
        Ok(WrittenProduct { content, bytes, index })
    }
}

/// The blocks as a table.
fn block_table(blocks: &[Block]) -> Result<RecordBatch> {
    let length = |of: fn(&Block) -> usize| ints(blocks.iter().map(|block| Some(count_i64(of(block)))));
    Ok(RecordBatch::try_from_iter([
        (
            "section",
            texts(blocks.iter().map(|block| Some(block.section.as_str()))),
        ),
        ("site", texts(blocks.iter().map(|block| Some(&block.site)))),
        ("day", ints(blocks.iter().map(|block| Some(i64::from(block.day))))),
        ("row_n", length(|block| block.row_n)),
        ("at", ints(blocks.iter().map(|block| Some(counted_i64(block.at))))),
        ("len", length(|block| block.len)),
        ("unpacked_len", length(|block| block.unpacked_len)),
        ("xxh3", uints(blocks.iter().map(|block| block.xxh3))),
    ])?)
}

/// The keys of all blocks as a table.
fn key_table(blocks: &[Block]) -> Result<RecordBatch> {
    let (mut nth, mut instants, mut ids, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (at, block) in blocks.iter().enumerate() {
        for (key, taken) in block.keys.iter() {
            nth.push(Some(count_i64(at)));
            instants.push(Some(key.record_ms));
            ids.push(Some(key.record_id));
            bytes.push(Some(count_i64(taken)));
        }
    }
    let columns: [(&str, ArrayRef); 4] = [
        ("block", ints(nth)),
        ("record_ms", ints(instants)),
        ("record_id", identities(ids)?),
        ("bytes", ints(bytes)),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

/// The blocks that two such tables state.
///
/// # Errors
/// [`Kind::Data`] when they are not those of a shard.
pub(crate) fn blocks_of(table: &RecordBatch, keys: &RecordBatch) -> Result<Vec<Block>> {
    let damaged = || Error::new(Kind::Data, "the index of a shard is damaged");
    let (sections, sites, days) = (text(table, "section")?, text(table, "site")?, int(table, "day")?);
    let (rows, at, len) = (int(table, "row_n")?, int(table, "at")?, int(table, "len")?);
    let (unpacked, hashes) = (int(table, "unpacked_len")?, uint(table, "xxh3")?);
    let mut blocks = Vec::with_capacity(table.num_rows());
    for row in 0..table.num_rows() {
        let section = Section::ALL.into_iter().find(|of| of.as_str() == sections.value(row));
        let length = |n: i64, name: &str| Ok::<_, Error>(index_u64(stored_u64(n, name)?));
        blocks.push(Block {
            section: section.ok_or_else(damaged)?,
            site: sites.value(row).to_owned(),
            day: Day::try_from(days.value(row)).map_err(|_| damaged())?,
            row_n: length(rows.value(row), "row_n")?,
            at: stored_u64(at.value(row), "at")?,
            len: length(len.value(row), "len")?,
            unpacked_len: length(unpacked.value(row), "unpacked_len")?,
            xxh3: hashes.value(row),
            keys: KeySample::default(),
        });
    }
    let (nth, instants) = (int(keys, "block")?, int(keys, "record_ms")?);
    let (ids, bytes) = (id(keys, "record_id")?, int(keys, "bytes")?);
    for row in 0..keys.num_rows() {
        let block = blocks.get_mut(index_u64(stored_u64(nth.value(row), "block")?));
        let key = RecordKey {
            record_ms: instants.value(row),
            record_id: identity(ids, row)?,
        };
        let taken = index_u64(stored_u64(bytes.value(row), "bytes")?);
        block.ok_or_else(damaged)?.keys.push(key, taken);
    }
    Ok(blocks)
}
