//! All shards of a list together: what a run takes in place of reading files itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::facts::FileFacts;
use super::fingerprint::VERSION;
use super::folder::{DigestedList, ShardFolder};
use super::list::ListedFile;
use super::product::Section;
use super::product_reader::{ProductReader, ShardCandidates};
use super::read::source_of;
use super::restore::{rejects_of, summaries_of};
use super::roots::Roots;
use super::standing::ShardStanding;
use crate::config::Plan;
use crate::dedupe::packed::{gather, to_records};
use crate::dedupe::shared_blocks::{SharedBlock, SharedBlocks};
use crate::dedupe::spill::Spill;
use crate::error::{Error, Kind, Result};
use crate::ingest::identity_index::IdentityIndex;
use crate::ingest::read_file::{LedgerFiles, ReadFile, Reading};
use crate::lake::found::{FoundFile, ListedPlace};
use crate::schema::batch::decoded;

/// The shards of a list, all of them there.
pub struct CollectedShards {
    list: DigestedList,
    roots: Roots,
    products: Vec<ProductReader>,
    /// By place in the list: what reading the file came to.
    facts: BTreeMap<usize, FileFacts>,
}

impl CollectedShards {
    /// Opens every shard of the list.
    ///
    /// # Errors
    /// [`Kind::NoInput`] naming the shards that are missing or were read from something else, [`Kind::Config`] when the list is
    /// not of this pipeline and version, [`Kind::Data`] when a shard is damaged.
    pub fn open(folder: &ShardFolder, plan: &Plan, roots: Roots) -> Result<Self> {
        let list = folder.list()?;
        list.list.hold(plan)?;
        let standing = ShardStanding::of(folder, &list)?;
        if let Some(refusal) = standing.refusal() {
            return Err(Error::new(Kind::NoInput, refusal).at("folder", folder.url()));
        }
        let mut products = Vec::new();
        let mut facts = BTreeMap::new();
        for manifest in &standing.done {
            let product = ProductReader::open(folder, manifest)?;
            for (_, block) in product.blocks(Section::Facts) {
                let of_files: Vec<FileFacts> = serde_json::from_slice(&product.bytes(block)?).map_err(|why| {
                    let message = format!("the facts of shard {} cannot be read by {VERSION}", manifest.shard);
                    Error::new(Kind::Data, message).because(why)
                })?;
                facts.extend(of_files.into_iter().map(|of| (of.place, of)));
            }
            products.push(product);
        }
        let is_without = |(place, listed): &(usize, &ListedFile)| listed.shard.is_some() && !facts.contains_key(place);
        if let Some((_, listed)) = list.list.files.iter().enumerate().find(is_without) {
            let message = "no shard states what became of a file: read its shard again";
            return Err(Error::new(Kind::Data, message).at("file", &listed.path));
        }
        Ok(Self {
            list,
            roots,
            products,
            facts,
        })
    }

    /// The files of the list as a run finds them, with the hashes of the bytes that shards have read.
    ///
    /// # Errors
    /// [`Kind::Internal`] when the list is of another pipeline.
    pub(crate) fn found(&self, plan: &Plan) -> Result<Vec<FoundFile>> {
        let files = self.list.list.files.iter().enumerate();
        let found = files.map(|(place, listed)| {
            let as_of = plan.as_of.get(&listed.source);
            let facts = self.facts.get(&place);
            let blake3 = facts
                .map(|facts| facts.blake3.clone())
                .or_else(|| listed.blake3.clone());
            let is_read_here = facts.is_none() && !listed.is_known;
            Ok(FoundFile {
                dated_ms: as_of.and_then(|as_of| as_of.in_path(&listed.path)),
                file: Arc::new(listed.input(&self.roots)?),
                source: source_of(plan, listed)?,
                privacy: plan.privacy.clone(),
                blake3: blake3.filter(|blake3| !blake3.is_empty()),
                listed: (!is_read_here).then_some(ListedPlace { place }),
            })
        });
        found.collect()
    }

    /// Puts what shards have read where a run has it after reading: of `files`, which are those it would read.
    ///
    /// # Errors
    /// [`Kind::Config`] when a file has to be read that no shard has read, [`Kind::Data`] when a shard is damaged, [`Kind::Io`]
    /// when one cannot be read.
    pub(crate) fn deliver(self, files: LedgerFiles<'_>, read: &mut [ReadFile], spill: &mut Spill) -> Result<()> {
        let mut at_of: HashMap<usize, usize> = HashMap::new();
        let mut ids: Vec<Option<Arc<str>>> = vec![None; self.list.list.files.len()];
        for (at, (reading, file_id)) in files.readings.iter().zip(files.ids).enumerate() {
            let Some(ListedPlace { place }) = reading.listed else {
                continue;
            };
            at_of.insert(place, at);
            if let Some(id) = ids.get_mut(place) {
                *id = Some(Arc::clone(file_id));
            }
        }
        spill.name_listed_files(ids);
        for product in &self.products {
            for (_, block) in product.blocks(Section::Rejects) {
                rejects_of(&product.rows(block)?, |place, reject| {
                    match at_of.get(&place).and_then(|at| read.get_mut(*at)) {
                        Some(read) => read.rejects.push(vec![reject]),
                        None => Ok(()),
                    }
                })?;
            }
            for (_, block) in product.blocks(Section::Summaries) {
                for (place, summary) in summaries_of(&product.rows(block)?, &block.site, block.day)? {
                    if let Some(read) = at_of.get(&place).and_then(|at| read.get_mut(*at)) {
                        read.summaries.push(summary);
                    }
                }
            }
        }
        let joined = joined(files);
        for candidates in self.candidates(&at_of) {
            attach(candidates, &joined, spill)?;
        }
        Ok(())
    }

    /// Puts the facts of files where a run has them after reading, before their ids are known.
    ///
    /// # Errors
    /// [`Kind::Config`] when a file has to be read that no shard has read.
    pub(crate) fn put_facts(&self, readings: &[Reading], read: &mut [ReadFile]) -> Result<()> {
        for (reading, read) in readings.iter().zip(read) {
            let Some(ListedPlace { place }) = reading.listed else {
                continue;
            };
            let facts = self.facts.get(&place).ok_or_else(|| self.unread(place))?;
            facts.put_into(read)?;
        }
        Ok(())
    }

    fn unread(&self, place: usize) -> Error {
        let message = "the lake or the pipeline changed since the list of shards was made, and a file has to be read that \
                       no shard has read: make the list again with `gridtally plan`";
        // Fallback: never taken, places are those of the list.
        let path = self
            .list
            .list
            .files
            .get(place)
            .map_or("", |listed| listed.path.as_str());
        Error::config(message).at("file", path)
    }

    /// The candidates of each shard, without those of files that are not to be read.
    fn candidates(self, at_of: &HashMap<usize, usize>) -> impl Iterator<Item = ShardCandidates> {
        let counting: Vec<bool> = (0..self.list.list.files.len())
            .map(|place| at_of.contains_key(&place))
            .collect();
        let mut partial = BTreeSet::new();
        for (place, listed) in self.list.list.files.iter().enumerate() {
            if let Some(shard) = listed.shard.filter(|_| !at_of.contains_key(&place)) {
                partial.insert(shard);
            }
        }
        self.products.into_iter().zip(1..).map(move |(product, shard)| {
            let counting = partial.contains(&shard).then(|| counting.clone());
            ShardCandidates::new(product, counting)
        })
    }
}

/// The indexes that jobs of sources are completed from, by name of the source.
fn joined(files: LedgerFiles<'_>) -> BTreeMap<&str, &IdentityIndex> {
    let readings = files.readings.iter();
    let joined = readings.filter_map(|reading| Some((reading.source.name.as_str(), &**reading.grid.as_ref()?)));
    joined.collect()
}

/// Adds the candidates of a shard, which stay in its file, and marks the lines of logs that they were completed from.
fn attach(candidates: ShardCandidates, joined: &BTreeMap<&str, &IdentityIndex>, spill: &Spill) -> Result<()> {
    let is_looked_at = !joined.is_empty() || !candidates.is_whole();
    let blocks = candidates.product().blocks(Section::Candidates);
    let mut index: Vec<SharedBlock> = blocks
        .map(|(nth, block)| SharedBlock {
            nth,
            site: block.site.clone(),
            day: block.day,
            keys: block.keys.clone(),
        })
        .collect();
    if is_looked_at {
        let mut kept = Vec::with_capacity(index.len());
        for block in index {
            let part = candidates.load(block.nth)?;
            if part.runs.is_empty() {
                continue;
            }
            if !joined.is_empty() {
                let rows = decoded(&to_records(&gather(&[part])?, None)?)?;
                for (source, lines) in joined {
                    lines.mark(&rows, source, |_, _| ())?;
                }
            }
            kept.push(block);
        }
        index = kept;
    }
    let shared: Arc<dyn SharedBlocks> = Arc::new(candidates);
    spill.attach(&shared, index)
}
