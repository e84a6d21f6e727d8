//! One shard, read: its files, as one process reads them, and what they came to in the folder.

use std::sync::Arc;

use super::facts::FileFacts;
use super::fingerprint::{FORM, VERSION};
use super::folder::{DigestedList, ShardFolder, ShardState};
use super::list::ListedFile;
use super::manifest::ShardManifest;
use super::product::{NewBlock, ProductWriter, Section, WrittenProduct};
use super::product_reader::ProductReader;
use super::restore::{RejectBlocks, place_word, write_summaries};
use super::roots::Roots;
use crate::config::{Plan, SourcePlan};
use crate::dedupe::keys::KeySample;
use crate::dedupe::shared_blocks::listed_word;
use crate::dedupe::spill::Spill;
use crate::error::{Error, Kind, Result};
use crate::ingest::identity_sources::{companion, index_of};
use crate::ingest::read_file::{ReadFile, Reading};
use crate::ingest::reading::read_all;
use crate::ingest::summary_limits::SummaryLimits;
use crate::ledger::Outcome;
use crate::ledger::file_paths::FilePaths;
use crate::numbers::count_u64;
use crate::runtime::progress::Progress;
use crate::sources::input::InputFile;

/// A shard of a list: number I of N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardNumber {
    /// Its number, from 1 on.
    pub shard: u32,
    /// How many there are.
    pub shard_n: u32,
}

impl std::str::FromStr for ShardNumber {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('/')
            .map(|(shard, shard_n)| (shard.parse(), shard_n.parse()));
        match parts {
            Some((Ok(shard), Ok(shard_n))) if (1..=shard_n).contains(&shard) => Ok(Self { shard, shard_n }),
            _ => Err(
                "I/N is needed, such as 7/64: the number of the shard, from 1 on, and how many there are".to_owned(),
            ),
        }
    }
}

/// How a shard is read. None of it changes what comes out.
#[derive(Clone, Debug)]
pub struct ShardMeans {
    /// Where this host has the files.
    pub roots: Roots,
    /// Threads to parse with.
    pub threads: usize,
    /// Bytes of records kept in memory.
    pub memory_byte_n: usize,
    /// How many summaries of a file are held.
    pub summary_limits: SummaryLimits,
}

/// What reading a shard came to.
#[derive(Clone, Debug)]
pub struct ReadShard {
    /// Its manifest.
    pub manifest: ShardManifest,
    /// Rows that were refused.
    pub refused_n: u64,
    /// Whether it was there already, so that nothing was read.
    pub is_unchanged: bool,
}

/// Reads a shard, unless it is there already, byte for byte. What is there and damaged, or of something else, is replaced.
///
/// # Errors
/// [`Kind::Usage`] for a number that the list does not have, [`Kind::Config`] when the pipeline or the program is another one
/// than that of the list, [`Kind::NoInput`] and [`Kind::Data`] when a file is not there as it was, and as reading in a run.
pub fn read_shard(
    plan: &Plan,
    folder: &ShardFolder,
    number: ShardNumber,
    means: &ShardMeans,
    progress: &dyn Progress,
) -> Result<ReadShard> {
    let list = folder.list()?;
    list.list.hold(plan)?;
    let shard_n = list.list.head.shard_n;
    if number.shard_n != shard_n {
        let message = format!("the list has {shard_n} shards, not {}", number.shard_n);
        return Err(Error::new(Kind::Usage, message).at("folder", folder.url()));
    }
    if let ShardState::Done(manifest) = folder.shard(&list, number.shard)?
        && is_intact(folder, &manifest)
    {
        return Ok(ReadShard {
            manifest,
            refused_n: 0,
            is_unchanged: true,
        });
    }
    let (places, files) = readings(plan, &list, number.shard, &means.roots)?;
    progress.begin("reading", files.iter().map(|reading| reading.file.bytes).sum(), "bytes");
    let mut spill = Spill::new(means.memory_byte_n);
    let window = list.list.window()?;
    let mut read = read_all(&files, window, means.threads, &spill, means.summary_limits, progress)?;
    for read in &mut read {
        read.hold_summaries(means.summary_limits.file_n)?;
    }
    progress.end();
    spill.name_files(
        &places
            .iter()
            .map(|place| listed_word(*place).into())
            .collect::<Vec<Arc<str>>>(),
    );
    let refused_n = read.iter().map(refused).sum();
    let (rows_read_n, candidate_n) = read.iter().fold((0, 0), |(rows, candidates), read| {
        (rows + read.rows_read, candidates + read.rows_candidate)
    });
    let WrittenProduct { content, bytes, index } = write(folder, &spill, &places, read)?;
    let manifest = ShardManifest {
        form: FORM,
        gridtally_version: VERSION.to_owned(),
        list: list.digest,
        shard: number.shard,
        shard_n,
        file_n: count_u64(files.len()),
        rows_read_n,
        candidate_n,
        candidates: content,
        bytes,
        index,
    };
    folder.put_manifest(&manifest)?;
    Ok(ReadShard {
        manifest,
        refused_n,
        is_unchanged: false,
    })
}

/// Whether the candidates of a shard are those that its manifest names, byte for byte, with their index where it states. Those
/// that cannot be read are not.
fn is_intact(folder: &ShardFolder, manifest: &ShardManifest) -> bool {
    let content = folder
        .candidates(&manifest.candidates)
        .and_then(|reader| reader.blake3());
    content.is_ok_and(|content| content == manifest.candidates) && ProductReader::open(folder, manifest).is_ok()
}

fn refused(read: &ReadFile) -> u64 {
    let refused = read.tally.iter();
    let refused = refused.filter(|(place, _)| place.reason.outcome() == Outcome::Rejected);
    refused.map(|(_, rows)| rows).sum()
}

/// The files of a shard to read, after their places in the list.
fn readings(plan: &Plan, list: &DigestedList, shard: u32, roots: &Roots) -> Result<(Vec<usize>, Vec<Reading>)> {
    let (mut places, mut readings) = (Vec::new(), Vec::new());
    for (place, listed) in list.list.of_shard(shard) {
        let file = listed.input(roots)?;
        listed.hold(&file)?;
        places.push(place);
        readings.push(Reading {
            file: Arc::new(file),
            source: source_of(plan, listed)?,
            grid: None,
            privacy: plan.privacy.clone(),
            dated_ms: None,
            known_paths: FilePaths::default(),
            new_copies: Vec::new(),
            first_path: None,
            listed: None,
        });
    }
    for source in plan.sources.iter().filter(|source| !source.blah.is_empty()) {
        let is_own = |reading: &Reading| reading.source.name == source.name && !reading.source.blah.is_empty();
        if !readings.iter().any(is_own) {
            continue;
        }
        let logs = list
            .list
            .files
            .iter()
            .filter(|of| of.is_log && of.source == source.name);
        let logs = logs.map(|listed| {
            let file = listed.input(roots)?;
            listed.hold(&file)?;
            Ok(file)
        });
        let index = index_of(logs.collect::<Result<Vec<InputFile>>>()?, source)?;
        for reading in readings.iter_mut().filter(|reading| is_own(reading)) {
            reading.grid = Some(Arc::clone(&index));
        }
    }
    Ok((places, readings))
}

/// The source a file of the list is read as.
///
/// # Errors
/// [`Kind::Internal`] when there is none: the list is of another pipeline.
pub(crate) fn source_of(plan: &Plan, listed: &ListedFile) -> Result<Arc<SourcePlan>> {
    let source = plan.sources.iter().find(|source| source.name == listed.source);
    let source = match source {
        Some(source) if listed.is_log => companion(source).map(Arc::new),
        source => source.cloned(),
    };
    source.ok_or_else(|| Error::internal("the pipeline has no such source").at("source", &listed.source))
}

/// Writes everything that was read into the folder.
fn write(folder: &ShardFolder, spill: &Spill, places: &[usize], read: Vec<ReadFile>) -> Result<WrittenProduct> {
    let mut writer = ProductWriter::default();
    for (place, days) in spill.partitions()? {
        for day in days {
            let site = place.site.as_str();
            spill.take_sorted(site, day, |block| {
                let new = NewBlock {
                    section: Section::Candidates,
                    site,
                    day,
                    row_n: block.row_n,
                    keys: block.keys,
                };
                writer.push(new, &block.packed)
            })?;
        }
    }
    let (mut facts, mut summaries, mut rejects) = (Vec::new(), Vec::new(), RejectBlocks::default());
    for (place, mut read) in places.iter().zip(read) {
        facts.push(FileFacts::of(*place, &read));
        for mut summary in std::mem::take(&mut read.summaries) {
            summary.file_id = place_word(*place);
            summaries.push(summary);
        }
        rejects.take(*place, read.rejects, &mut writer)?;
    }
    rejects.write(&mut writer)?;
    write_summaries(summaries, &mut writer)?;
    let facts = serde_json::to_vec(&facts).map_err(|why| Error::internal("facts cannot be written").because(why))?;
    let new = NewBlock {
        section: Section::Facts,
        site: "",
        day: 0,
        row_n: places.len(),
        keys: KeySample::default(),
    };
    writer.push_bytes(new, &facts, facts.len())?;
    writer.finish(folder)
}
