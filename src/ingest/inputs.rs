//! Which input files there are, and which of them this run has to read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::file_hashes::FileHashes;
use super::identity_sources;
use super::output_overlap::hold_apart;
use super::reading::Reading;
use super::reread::ReadAgain;
use super::seen::SeenFiles;
use crate::config::{Plan, SourcePlan};
use crate::dedupe::Window;
use crate::error::{Error, Result};
use crate::lake::found::FoundFile;
use crate::ledger::file_paths::FilePaths;
use crate::ledger::path_contents::PathContents;
use crate::ledger::{Book, Outcome};
use crate::runtime::pool;
use crate::runtime::progress::Progress;
use crate::schema;
use crate::sources::input::{HashedContent, InputFile, Location, clean, discover};
use crate::sources::location::is_url;

impl FoundFile {
    fn reading(&self, names: &FilePaths) -> Reading {
        let path = self.file.path.as_str();
        Reading {
            grid: None,
            dated_ms: self.dated_ms,
            listed: self.listed,
            first_path: names.first().filter(|first| &***first < path).cloned(),
            file: Arc::clone(&self.file),
            source: Arc::clone(&self.source),
            privacy: self.privacy.clone(),
            known_paths: names.clone(),
            new_copies: Vec::new(),
        }
    }
}

/// Finds every input of every source.
///
/// # Errors
/// [`crate::error::Kind::NoInput`] naming the patterns without a file, and [`crate::error::Kind::Config`] where inputs and
/// output overlap.
pub(crate) fn find(plan: &Plan, output: &str) -> Result<Vec<FoundFile>> {
    hold_apart(plan, output)?;
    // Table layouts are needed only when files are read, and then by all threads: they are parsed meanwhile.
    std::thread::spawn(|| schema::dataset("records").is_ok());
    let mut found = Vec::new();
    for source in plan.all_sources() {
        let files = plan.inputs(&source)?.into_iter();
        let as_of = plan.as_of.get(&source.name);
        found.extend(files.map(|file| FoundFile {
            dated_ms: as_of.and_then(|as_of| as_of.in_path(&file.path)),
            file: Arc::new(file),
            source: Arc::clone(&source),
            privacy: plan.privacy.clone(),
            blake3: None,
            listed: None,
        }));
    }
    Ok(found)
}

impl Plan {
    /// Sources and inventories, each followed by the logs that complete it.
    pub fn all_sources(&self) -> impl Iterator<Item = Arc<SourcePlan>> {
        self.sources.iter().flat_map(|source| {
            let companion = identity_sources::companion(source).map(Arc::new);
            [Arc::clone(source)].into_iter().chain(companion)
        })
    }

    /// The input files of one of its sources.
    ///
    /// # Errors
    /// As [`discover`], and [`crate::error::Kind::Config`] when one of them is in the output: files published there
    /// would be read.
    pub fn inputs(&self, source: &SourcePlan) -> Result<Vec<InputFile>> {
        let base = self.file.parent().unwrap_or(Path::new("/"));
        let files = discover(source.search_paths(), base)?;
        if !is_url(&self.output) {
            let output = clean(Path::new(&self.output));
            let is_inside = |file: &&InputFile| match &file.location {
                Location::Local(path) => clean(path).starts_with(&output),
                Location::Remote { .. } => false,
            };
            if let Some(inside) = files.iter().find(is_inside) {
                return Err(Error::config(format!(
                    "source {}: {} is in the output, {}: files published there would be read",
                    source.name,
                    inside.path,
                    output.display()
                )));
            }
        }
        Ok(files)
    }
}

/// Hashes the files that may be known already: those whose size is that of a known file, or which have the size and the
/// first bytes of another file here. All others are new for certain and are hashed while they are read. Of files in the list
/// of shards the hash is known already, and of files that are as they were when they were hashed last, `hashes` has it.
///
/// # Errors
/// [`crate::error::Kind::Io`] when a file cannot be read.
pub(crate) fn hash(
    found: &mut [FoundFile],
    book: &Book,
    hashes: &mut FileHashes,
    is_everything: bool,
    threads: usize,
    progress: &dyn Progress,
) -> Result<()> {
    let known: BTreeSet<u64> = book.inputs().values().map(|input| input.bytes).collect();
    let is_known = |f: &FoundFile| is_everything || known.contains(&f.file.bytes);
    let of_here = |f: &&FoundFile| f.listed.is_none();
    let sizes = count(found.iter().filter(of_here).map(|f| f.file.bytes));
    let is_repeated = |f: &FoundFile| sizes.get(&f.file.bytes).is_some_and(|n| *n > 1);
    let fresh: Vec<&FoundFile> = (found.iter().filter(of_here))
        .filter(|f| !is_known(f) && is_repeated(f))
        .collect();
    let glimpses = pool::each(&fresh, threads, |f| {
        let glimpse = unless_shut(f.file.glimpse())?;
        Ok(glimpse.map(|glimpse| (f.file.bytes, glimpse)))
    })?;
    let looks = count(glimpses.iter().flatten().copied());
    let mut glimpses = glimpses.into_iter();
    let is_wanted = |f: &FoundFile| {
        let is_alike = |look| looks.get(&look).is_some_and(|n| *n > 1);
        let is_here = f.listed.is_none();
        is_here && (is_known(f) || (is_repeated(f) && glimpses.next().flatten().is_some_and(is_alike)))
    };
    let wanted: Vec<bool> = found.iter().map(is_wanted).collect();
    let mut wanted: Vec<&mut FoundFile> = found
        .iter_mut()
        .zip(wanted)
        .filter_map(|(f, is)| is.then_some(f))
        .collect();
    wanted.retain_mut(|f| {
        f.blake3 = hashes.of(&f.file);
        f.blake3.is_none()
    });
    let files: Vec<&InputFile> = wanted.iter().map(|f| &*f.file).collect();
    progress.begin("hashing", files.iter().map(|file| file.bytes).sum(), "bytes");
    let contents = pool::each(&files, threads, |file| {
        let hash = unless_shut(file.hash_content());
        progress.add(file.bytes);
        hash
    });
    progress.end();
    for (found, hash) in wanted.iter_mut().zip(contents?) {
        found.blake3 = hash.map(|HashedContent { blake3, stamp }| {
            hashes.note(&found.file, stamp, &blake3);
            blake3
        });
    }
    Ok(())
}

/// What was read of a file; nothing of one that cannot be opened, which is counted when it is to be read.
fn unless_shut<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(why) if InputFile::is_shut(&why) => Ok(None),
        read => read.map(Some),
    }
}

/// How often each occurs.
fn count<T: Ord>(all: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    counts
}

/// Which files this run must read, and which known files were seen under new names. The names in `former` are kept, its
/// rows are not.
///
/// Files in `again` are read even if they are known.
pub(crate) fn to_read(
    book: &mut Book,
    former: &Book,
    found: &[FoundFile],
    window: Window,
    again: &ReadAgain,
) -> (Vec<Reading>, Vec<SeenFiles>) {
    let mut seen = Vec::new();
    // Files to read by id, with their place in `files`; none where they wait.
    let mut chosen: BTreeMap<Arc<str>, Option<usize>> = BTreeMap::new();
    let mut files: Vec<Reading> = Vec::new();
    // Repair files whose originals were not there: these may come with any file that is new.
    let mut waiting: Vec<Reading> = Vec::new();
    let paths = || found.iter().map(FoundFile::source_path);
    // Made when a known file is found under another name.
    let mut contents = None;
    for found in found {
        let file_id = found.file_id();
        let names = |book: &Book| Some(book.inputs().get(file_id.as_deref()?)?.paths.clone());
        // Fallback: a file that no book names has no former names.
        let names = names(book).or_else(|| names(former)).unwrap_or_default();
        let known = names.first();
        let path = found.file.path.as_str();
        if let Some(id) = &file_id {
            // Refusals name the path their file is accounted to; only reading it again puts them under another.
            let is_renamed =
                known.is_some_and(|first| path < &**first) && book.outcomes(id).contains_key(&Outcome::Rejected);
            let is_again = again.inventories.contains(&found.source.name) || again.files.contains(id);
            if !is_renamed && !is_again && book.is_done(id, |month| window.holds(month)) {
                if !names.contains(path) {
                    let contents = contents.get_or_insert_with(|| PathContents::of(paths(), &[&*book, former]));
                    book.seen(id, path, contents.next(found.source_path()));
                    seen.push(SeenFiles {
                        file_id: Arc::clone(id),
                        path: path.to_owned(),
                    });
                }
                if book.has_unmatched(id) && !chosen.contains_key(id) {
                    chosen.insert(Arc::clone(id), None);
                    waiting.push(found.reading(&names));
                }
                continue;
            }
            if let Some(place) = chosen.get(id) {
                if let Some(reading) = place.and_then(|place| files.get_mut(place)) {
                    reading.new_copies.push(path.to_owned());
                }
                continue;
            }
            chosen.insert(Arc::clone(id), Some(files.len()));
        }
        files.push(found.reading(&names));
    }
    if !files.is_empty() {
        files.append(&mut waiting);
    }
    (files, seen)
}
