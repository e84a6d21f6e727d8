//! Candidates wait here, sorted into (site, day) buckets, until every input is read. What does not fit the memory
//! budget goes to one unnamed temporary file, bucket by bucket, so that memory stays flat whatever the input's size.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;

use super::intake_rows::PlacedRows;
use super::keys::{DayCuts, KeySample, merge_bytes};
use super::packed::gather::with_words;
use super::packed::{GatherPart, WaitingBatch, gather, gather_sorted, pack};
use super::shared_blocks::{SharedBlock, SharedBlocks, listed_place};
use super::spill_key::{BucketRuns, SpillKey, bucket_order, by_bucket};
use super::spill_segment::{BatchRuns, SpillSegment};
use crate::error::{Error, Result};
use crate::numbers::{Extent, count_u64, index};
use crate::record::SiteMonth;
use crate::runtime::scratch::{PackedBatch, PackedRange, Scratch};
use crate::time::{Day, Month};

/// Bytes of Arrow data kept in memory.
pub const MEMORY_BUDGET: usize = 80 << 20;
/// Candidates go to disk in segments of at most this share of the budget, the oldest first, while others fill up.
const SEGMENTS: usize = 4;
/// Of an input that takes so many times the budget on disk, merging begins with no more than half of the budget in memory.
const LARGE_INPUT: u64 = 2;
/// Rows and packed bytes that are unpacked at once, about: of bytes no more than a slice takes, but for the least block.
const BLOCK_ROWS: usize = 1 << 15;
const BLOCK_BYTES: usize = 4 << 20;
const LEAST_BLOCK: usize = 1 << 18;
/// A day is held as a whole if that takes no more than this share of the budget: several sites and months are merged at the same time.
const DAY_SHARE: usize = 4;
/// Packed batches that are gathered at once at most: what is packed of a few rows takes more than these while it is unpacked.
const MOST_PARTS: usize = 64;
/// What a packed batch takes once it is loaded besides its bytes: a row in many columns is mostly this.
const LOADED_BYTES: usize = 64 << 10;
/// Slices of a larger one take this share: several are on their way to be written while one is merged.
const SLICE_SHARE: usize = 16;
/// No slice is cut smaller.
const LEAST_SLICE: usize = 1 << 14;

/// All candidates of one run.
pub struct Spill {
    budget: usize,
    file_ids: Vec<Arc<str>>,
    /// Ids of the files that other processes have read, by place in the list they share.
    listed_ids: Vec<Option<Arc<str>>>,
    resident: Mutex<Resident>,
    file: Mutex<SpillFile>,
}

/// What is in memory: the last segment is being filled.
#[derive(Default)]
struct Resident {
    segments: VecDeque<SpillSegment>,
    bytes: usize,
    days: BTreeSet<SpillKey>,
}

#[derive(Default)]
struct SpillFile {
    scratch: Scratch,
    index: BTreeMap<SpillKey, Vec<SpillPlace>>,
}

/// A packed batch that is not in memory.
#[derive(Clone)]
pub(super) struct SpillPlace {
    at: BlockPlace,
    pub(super) keys: KeySample,
}

impl SpillPlace {
    /// Bytes it takes as a waiting batch in memory, about.
    pub(super) fn loaded_byte_n(&self) -> usize {
        let byte_n = match &self.at {
            BlockPlace::Scratch(range) => range.unpacked_len(),
            BlockPlace::Shared(..) => self.keys.bytes(),
        };
        byte_n.further(LOADED_BYTES)
    }
}

/// Where a packed batch is.
#[derive(Clone)]
enum BlockPlace {
    /// In the temporary file.
    Scratch(PackedRange),
    /// Among the blocks of another process, with its number there.
    Shared(Arc<dyn SharedBlocks>, usize),
}

/// All that waits of one bucket.
pub(super) struct SpillBucket {
    pub(super) blocks: Vec<SpillBlock>,
    pub(super) places: Vec<SpillPlace>,
}

impl SpillBucket {
    /// Whether no row waits.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.places.is_empty()
    }

    /// What merging it takes, about.
    pub(super) fn bytes(&self) -> usize {
        let resident = self.blocks.iter().map(|block| merge_bytes(block.rows, block.bytes));
        let stored = self.places.iter().map(|place| place.keys.bytes());
        resident.chain(stored).fold(0, Extent::further)
    }

    /// Where slices end that take about `bytes` each.
    pub(super) fn cuts(&self, bytes: usize) -> Result<DayCuts> {
        let mut keys = KeySample::default();
        for place in &self.places {
            keys.append(place.keys.clone());
        }
        for block in &self.blocks {
            keys.append(KeySample::of(&block.parts, block.bytes)?);
        }
        Ok(keys.cuts(bytes))
    }
}

/// Rows that are unpacked together, and the bytes they take packed.
#[derive(Default)]
pub(super) struct SpillBlock {
    pub(super) parts: Vec<GatherPart>,
    rows: usize,
    bytes: usize,
}

/// Parts, in blocks that may be unpacked at once.
fn in_blocks(parts: Vec<GatherPart>, block_bytes: usize) -> Vec<SpillBlock> {
    let mut blocks: Vec<SpillBlock> = Vec::new();
    for part in parts {
        let rows: usize = part.runs.iter().map(|run| run.len).sum();
        let bytes = part.batch.data_byte_n() / part.batch.num_rows().max(1) * rows;
        let is_full = |block: &SpillBlock| block.rows >= BLOCK_ROWS || block.bytes >= block_bytes;
        if blocks.last().is_none_or(is_full) {
            blocks.push(SpillBlock::default());
        }
        if let Some(block) = blocks.last_mut() {
            block.parts.push(part);
            block.rows += rows;
            block.bytes += bytes;
        }
    }
    blocks
}

impl Spill {
    /// An empty store that keeps at most about `budget` bytes in memory.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self {
            budget,
            file_ids: Vec::new(),
            listed_ids: Vec::new(),
            resident: Mutex::default(),
            file: Mutex::default(),
        }
    }

    /// Sets the final order of the files: until then candidates hold the index of their file in this list.
    pub fn name_files(&mut self, file_ids: &[Arc<str>]) {
        file_ids.clone_into(&mut self.file_ids);
    }

    /// Sets the ids of the files that other processes have read: candidates of theirs name the place of a file in the list
    /// that these processes share.
    pub(crate) fn name_listed_files(&mut self, file_ids: Vec<Option<Arc<str>>>) {
        self.listed_ids = file_ids;
    }

    /// Adds candidates that another process has read; they stay where they are until they are taken.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a thread died holding the store.
    pub(crate) fn attach(&self, blocks: &Arc<dyn SharedBlocks>, index: Vec<SharedBlock>) -> Result<()> {
        for SharedBlock { nth, site, day, keys } in index {
            let key = SpillKey { site, day };
            lock(&self.resident)?.days.insert(key.clone());
            let at = BlockPlace::Shared(Arc::clone(blocks), nth);
            let mut spill = lock(&self.file)?;
            spill.index.entry(key).or_default().push(SpillPlace { at, keys });
        }
        Ok(())
    }

    /// Adds records.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub fn push(&self, rows: PlacedRows) -> Result<()> {
        let PlacedRows { batch, buckets, sites } = rows;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let mut batch = WaitingBatch::of(batch)?;
        let bytes = batch.held_byte_n();
        let in_buckets = if let Some(order) = bucket_order(&buckets)? {
            let moved = order.iter().filter_map(|row| buckets.get(index(*row)).copied());
            let in_buckets = by_bucket(moved, &sites)?;
            batch = batch.in_order(&order.into())?;
            in_buckets
        } else {
            by_bucket(buckets.iter().copied(), &sites)?
        };
        {
            let mut resident = lock(&self.resident)?;
            let Resident { segments, days, .. } = &mut *resident;
            if segments
                .back()
                .is_none_or(|segment| segment.bytes >= self.budget / SEGMENTS)
            {
                segments.push_back(SpillSegment::default());
            }
            let segment = segments.back_mut().ok_or_else(|| Error::internal("no segment"))?;
            let at = segment.batches.len();
            for BucketRuns { key, runs } in in_buckets {
                days.insert(key.clone());
                segment.index.entry(key).or_default().push(BatchRuns { at, runs });
            }
            segment.rows += batch.num_rows();
            segment.batches.push(batch);
            segment.bytes += bytes;
            resident.bytes += bytes;
        }
        match self.oldest_beyond(self.budget)? {
            Some(segment) => self.flush(&segment),
            None => Ok(()),
        }
    }

    /// Makes room for merging, once all candidates were added: a large input had most of its rows written to disk, and what
    /// is left of it in memory would stay there until the last months are merged.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn make_room(&self) -> Result<()> {
        if lock(&self.file)?.scratch.byte_n() < count_u64(self.budget).times(LARGE_INPUT) {
            return Ok(());
        }
        while let Some(segment) = self.oldest_beyond(self.budget / 2)? {
            self.flush(&segment)?;
        }
        Ok(())
    }

    /// Takes the oldest segment out where all together take so many bytes.
    fn oldest_beyond(&self, byte_n: usize) -> Result<Option<SpillSegment>> {
        let mut resident = lock(&self.resident)?;
        if resident.bytes < byte_n {
            return Ok(None);
        }
        let oldest = resident.segments.pop_front();
        resident.bytes -= oldest.as_ref().map_or(0, |segment| segment.bytes);
        Ok(oldest)
    }

    fn flush(&self, segment: &SpillSegment) -> Result<()> {
        for (key, runs) in &segment.index {
            for block in in_blocks(segment.parts(runs), self.block_bytes()) {
                let keys = KeySample::of(&block.parts, block.bytes)?;
                let packed = PackedBatch::pack(&pack(&gather(&block.parts)?)?)?;
                let mut spill = lock(&self.file)?;
                let range = packed.store(&mut spill.scratch)?;
                let places = spill.index.entry(key.clone()).or_default();
                let at = BlockPlace::Scratch(range);
                places.push(SpillPlace { at, keys });
            }
        }
        Ok(())
    }

    /// Every (site, month) that has candidates, with its days.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a thread died holding the store.
    pub fn partitions(&self) -> Result<BTreeMap<SiteMonth, Vec<Day>>> {
        let mut partitions: BTreeMap<SiteMonth, Vec<Day>> = BTreeMap::new();
        for SpillKey { site, day } in &lock(&self.resident)?.days {
            let month = Month::of_day(*day).ok_or_else(|| Error::internal("a day outside the calendar"))?;
            let place = SiteMonth::new(site.as_str(), month);
            partitions.entry(place).or_default().push(*day);
        }
        Ok(partitions)
    }

    /// Takes what waits of one bucket.
    pub(super) fn bucket(&self, site: &str, day: Day) -> Result<SpillBucket> {
        let key = SpillKey {
            site: site.to_owned(),
            day,
        };
        let resident = self.take_resident(&key)?;
        // Fallback: a bucket without spilled rows has no places in the file.
        let places = lock(&self.file)?.index.remove(&key).unwrap_or_default();
        Ok(SpillBucket {
            blocks: in_blocks(resident, self.block_bytes()),
            places,
        })
    }

    /// A bucket that takes no more is merged at once.
    pub(super) fn day_limit(&self) -> usize {
        (self.budget / DAY_SHARE).max(LEAST_SLICE)
    }

    /// What a slice of a larger one takes.
    pub(super) fn slice_limit(&self) -> usize {
        (self.budget / SLICE_SHARE).max(LEAST_SLICE)
    }

    /// What a block takes.
    fn block_bytes(&self) -> usize {
        self.slice_limit().clamp(LEAST_BLOCK, BLOCK_BYTES)
    }

    /// All rows of a bucket in the order of `records`.
    pub(super) fn whole_bucket(&self, bucket: SpillBucket) -> Result<RecordBatch> {
        let mut parts: Vec<GatherPart> = bucket.blocks.into_iter().flat_map(|block| block.parts).collect();
        if bucket.places.len() <= MOST_PARTS {
            for place in &bucket.places {
                parts.push(self.load(place)?);
            }
            return self.gathered(&parts);
        }
        let mut places = bucket.places.as_slice();
        while !places.is_empty() {
            let (few, rest) = self.few(places)?;
            places = rest;
            let gathered = gather(&few)?;
            // What holds no row has no columns once it is packed.
            match gathered.num_rows() {
                0 => parts.extend(few),
                _ => parts.push(GatherPart::of(pack(&gathered)?)?),
            }
        }
        self.gathered(&parts)
    }

    /// The first of these packed batches, as many as are gathered at once, and the places behind them.
    fn few<'p>(&self, places: &'p [SpillPlace]) -> Result<(Vec<GatherPart>, &'p [SpillPlace])> {
        let (mut parts, mut row_n, mut byte_n) = (Vec::new(), 0, 0_usize);
        let mut rest = places;
        while let Some((place, behind)) = rest.split_first() {
            let is_full =
                row_n >= BLOCK_ROWS || byte_n >= merge_bytes(BLOCK_ROWS, BLOCK_BYTES) || parts.len() == MOST_PARTS;
            if is_full {
                break;
            }
            let part = self.load(place)?;
            row_n += part.runs.iter().map(|run| run.len).sum::<usize>();
            byte_n = byte_n.further(place.keys.bytes());
            parts.push(part);
            rest = behind;
        }
        Ok((parts, rest))
    }

    /// Passes on the blocks of a bucket, each in the order of `records`.
    pub(super) fn each_block(
        &self,
        bucket: SpillBucket,
        mut each: impl FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        for block in bucket.blocks {
            each(&self.gathered(&block.parts)?)?;
        }
        let mut places = bucket.places.as_slice();
        while !places.is_empty() {
            let (few, rest) = self.few(places)?;
            places = rest;
            each(&self.gathered(&few)?)?;
        }
        Ok(())
    }

    /// A block, as a part to gather.
    pub(super) fn load(&self, place: &SpillPlace) -> Result<GatherPart> {
        match &place.at {
            BlockPlace::Scratch(range) => {
                let packed = PackedBatch::load(*range, &lock(&self.file)?.scratch)?;
                GatherPart::of(packed.unpack()?)
            }
            BlockPlace::Shared(blocks, nth) => blocks.load(*nth),
        }
    }

    /// The rows of a bucket that are in memory.
    fn take_resident(&self, key: &SpillKey) -> Result<Vec<GatherPart>> {
        let mut parts = Vec::new();
        for segment in &mut lock(&self.resident)?.segments {
            if let Some(runs) = segment.index.remove(key) {
                parts.append(&mut segment.parts(&runs));
                segment.rows -= runs.iter().flat_map(|of| &of.runs).map(|run| run.len).sum::<usize>();
                if segment.rows == 0 {
                    segment.batches = Vec::new();
                }
            }
        }
        Ok(parts)
    }

    /// Rows in the order of `records`, which name their files as the ledger does.
    pub(super) fn gathered(&self, parts: &[GatherPart]) -> Result<RecordBatch> {
        let own = |place: &str| place.parse().ok().and_then(|at: usize| self.file_ids.get(at));
        let listed = |place: &str| self.listed_ids.get(listed_place(place)?)?.as_ref();
        let name = |place: &str| own(place).or_else(|| listed(place));
        let gathered = gather_sorted(parts)?;
        with_words(&gathered, "file_id", |place| name(place).map_or(place, |id| &**id))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> Result<std::sync::MutexGuard<'_, T>> {
    mutex
        .lock()
        .map_err(|_| Error::internal("a thread died while it held the candidates"))
}
