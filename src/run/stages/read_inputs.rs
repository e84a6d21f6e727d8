//! Third stage: the input files, read; their candidates wait in the spill.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::debug;

use super::context::RunMonitor;
use super::entered::EnteredInputs;
use super::scope::RunScope;
use crate::config::Plan;
use crate::dedupe::spill::Spill;
use crate::error::{Error, Kind, Result};
use crate::ingest::findings::Notes;
use crate::ingest::reading::{LedgerFiles, ReadFile, Reading, read_all};
use crate::ingest::reject_buffer::RejectOrigin;
use crate::ingest::repair::{RepairMarks, Repairs, annotate, settle};
use crate::lake::found::{self, FoundFile};
use crate::ledger::book::{InputEntry, is_settled_by_merge};
use crate::ledger::file_paths::FilePaths;
use crate::ledger::path_contents::PathContents;
use crate::ledger::{Book, Outcome};
use crate::reference::inventory::InventoryPlaced;
use crate::run::{inventory, summaries};
use crate::store::Publication;
use crate::store::lake::{self, LakeTable};

/// What was read.
pub(super) struct ReadInputs<'a> {
    scope: RunScope<'a>,
    /// What each file came to, in the order of the files.
    read: Vec<ReadFile>,
    /// Their ids in the ledger.
    file_ids: Vec<Arc<str>>,
    /// Candidates for records.
    spill: Spill,
    repairs: Repairs,
}

impl<'a> ReadInputs<'a> {
    /// Reads the files of the scope; repair files after all others.
    ///
    /// # Errors
    /// [`Kind::Config`] for a mistake of the pipeline that only its files show, [`Kind::Io`] when a disk or the lake
    /// fails.
    pub(super) fn read(mut scope: RunScope<'a>, monitor: &mut RunMonitor<'_>) -> Result<Self> {
        let context = scope.context;
        let files = scope.files.as_slice();
        let of_here = files.iter().filter(|reading| reading.listed.is_none());
        let bytes = of_here.map(|reading| reading.file.bytes).sum();
        context.progress.begin("reading", bytes, "bytes");
        let mut spill = Spill::new(context.memory_byte_n);
        let limits = context.options.summary_limits;
        let mut read = read_all(files, context.window, context.threads, &spill, limits, context.progress)?;
        if let Some(shards) = &scope.shards {
            shards.put_facts(files, &mut read)?;
        }
        let file_ids = file_ids(files, &read);
        let ledger_files = LedgerFiles {
            readings: files,
            ids: &file_ids,
        };
        if let Some(shards) = scope.shards.take() {
            shards.deliver(ledger_files, &mut read, &mut spill)?;
        }
        for (reading, read) in files.iter().zip(&read) {
            debug!(
                source = reading.source.name,
                file = reading.file.path,
                bytes = reading.file.bytes,
                row_n = read.rows_read,
                "file read"
            );
        }
        let publication = &scope.lake.publication;
        let mut repairs = Repairs::load(publication, scope.selection.extent.is_rebuild())?;
        repairs.read(
            ledger_files,
            &mut read,
            context.window,
            &spill,
            publication,
            &scope.lake.state,
        )?;
        limits.hold(ledger_files, &mut read, &scope.lake.state.book)?;
        spill.make_room()?;
        for (reading, read) in files.iter().zip(&mut read) {
            scope.hashes.note(&reading.file, read.stamp.take(), &read.blake3);
        }
        scope.keep_hashes();
        context.progress.end();
        monitor.end_phase("read");
        forget_opened(&scope.found, &file_ids, &mut scope.lake.state.book, publication);
        spill.name_files(&file_ids);
        Ok(Self {
            scope,
            read,
            file_ids,
            spill,
            repairs,
        })
    }

    /// Enters what was read into the ledger, and stages refusals, listings of the machine and repairs.
    ///
    /// # Errors
    /// [`Kind::Internal`] when a reader accounts for other rows than it framed, [`Kind::Config`] for a listing without a
    /// date, [`Kind::Io`] when the lake cannot be written.
    pub(super) fn enter(self, monitor: &mut RunMonitor<'_>) -> Result<EnteredInputs<'a>> {
        let Self {
            mut scope,
            mut read,
            file_ids,
            spill,
            repairs,
        } = self;
        let summaries = summaries::fresh(&mut read, &file_ids);
        let marks = repairs.marks();
        let found_paths = scope.files.iter().flat_map(Reading::found_paths);
        let contents = PathContents::of(found_paths, &[&scope.lake.state.book, &scope.former_book]);
        let mut notes = Notes::begin(file_ids.iter(), &scope.lake.state.book, &scope.former_book);
        let mut undated = inventory::UndatedRows::default();
        for ((reading, file_id), mut read) in scope.files.iter().zip(&file_ids).zip(read) {
            undated.count(scope.context.plan, &reading.source, &read.inventory);
            let refused_n = balance(reading, &read)?;
            notes.take(file_id, &mut read);
            let source = &reading.source.name;
            monitor.report.read(source, &reading.file, read.rows_read, refused_n);
            monitor.report.mapped(source, &read.mapping);
            monitor.report.looked_for_cores(source, &reading.file.path, read.cores);
            if reading.source.reader.zone.is_some() {
                monitor.report.timed(source, read.times);
            }
            let file = EnteredFile {
                file_id,
                paths: reading.paths(&contents),
                read,
            };
            enter_file(
                scope.context.plan,
                reading,
                file,
                marks.get(&**file_id),
                &scope.lake.publication,
                &mut scope.lake.state.book,
            )?;
        }
        undated.warn();
        repairs.touch(&file_ids, &scope.lake.publication, &mut scope.lake.state)?;
        repairs.publish(&scope.lake.publication)?;
        Ok(EnteredInputs {
            scope,
            file_ids,
            spill,
            summaries,
            notes,
        })
    }
}

/// Ids of the files that were read.
fn file_ids(files: &[Reading], read: &[ReadFile]) -> Vec<Arc<str>> {
    let ids = files.iter().zip(read);
    ids.map(|(file, read)| match (&file.source.name, read.blake3.as_str()) {
        (source, "") => found::shut_file_id(source, &file.file.path),
        (source, blake3) => found::file_id(source, blake3, file.dated_ms),
    })
    .collect()
}

/// Forgets the refusals of files that could not be opened once, and can be now.
fn forget_opened(found: &[FoundFile], file_ids: &[Arc<str>], book: &mut Book, publication: &Publication) {
    let shut: BTreeSet<&Arc<str>> = file_ids.iter().collect();
    for file_id in found.iter().map(FoundFile::shut_file_id) {
        if !shut.contains(&file_id) && book.forget(&file_id) {
            publication.remove(&lake::rejects_path(&file_id));
        }
    }
}

/// The refused rows of a file.
///
/// # Errors
/// [`Kind::Internal`] when the reader accounts for other rows than it framed.
fn balance(reading: &Reading, read: &ReadFile) -> Result<u64> {
    let elsewhere = read.tally.row_n();
    if read.rows_read != elsewhere + read.rows_candidate {
        return Err(Error::internal(format!(
            "the reader framed {} rows but accounted for {elsewhere} + {}",
            read.rows_read, read.rows_candidate
        ))
        .at("file", &reading.file.path));
    }
    let refused = read.tally.iter();
    let refused = refused.filter(|(place, _)| place.reason.outcome() == Outcome::Rejected);
    Ok(refused.map(|(_, n)| n).sum())
}

/// A file that was read.
struct EnteredFile<'a> {
    file_id: &'a Arc<str>,
    /// Where its bytes were found.
    paths: FilePaths,
    read: ReadFile,
}

/// Enters one file into the ledger, and stages its refusals; those of a listing of the machine also its rows.
fn enter_file(
    plan: &Plan,
    reading: &Reading,
    file: EnteredFile<'_>,
    marks: Option<&RepairMarks>,
    publication: &Publication,
    book: &mut Book,
) -> Result<()> {
    let EnteredFile { file_id, paths, read } = file;
    let format = read
        .dialect
        .map_or(reading.source.format().as_str(), |dialect| dialect.as_str());
    let entry = InputEntry {
        source: reading.source.name.clone(),
        paths,
        format: format.to_owned(),
        bytes: reading.file.bytes,
        blake3: Arc::from(read.blake3.as_str()),
        rows_read: read.rows_read,
        sample: read.sample,
    };
    debug_assert!(read.tally.keys().all(|place| !is_settled_by_merge(place.reason)));
    book.enter(file_id, entry, read.tally);
    if reading.source.is_inventory() {
        inventory::publish(
            publication,
            &reading.source,
            as_of(plan, reading, &read.inventory)?,
            file_id,
            &read.blake3,
            &read.inventory,
        )?;
    }
    settle(book, file_id, marks)?;
    let path = lake::rejects_path(file_id);
    if read.rejects.is_empty() {
        publication.remove(&path);
        return Ok(());
    }
    let mut table = LakeTable::create(publication, "rejects", &path)?;
    let origin = RejectOrigin {
        source: &reading.source.name,
        file_id,
        path: reading.accounted_to(),
    };
    read.rejects
        .into_batches(origin, |batch| table.write(&annotate(batch, marks)?))?;
    table.finish(&[("gridtally.inputs_blake3".to_owned(), read.blake3)])?;
    Ok(())
}

/// When a file of an inventory was true if its rows do not state it, Unix milliseconds.
fn as_of(plan: &Plan, reading: &Reading, rows: &[InventoryPlaced]) -> Result<Option<i64>> {
    let Some(as_of) = plan.as_of.get(&reading.source.name) else {
        return Ok(None);
    };
    let found = as_of.of(&reading.file.path);
    if found.is_none() && rows.iter().any(|placed| placed.row.is_undated()) {
        let why = "as_of = \"path\", and the path names no day, such as nodes-2026-11-01.txt";
        return Err(Error::new(Kind::Config, why)
            .at("inventory", &reading.source.name)
            .at("file", &reading.file.path));
    }
    Ok(found)
}
