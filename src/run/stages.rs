//! One run: read what is new, merge it, attribute it, publish all of it at once or nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::charges::{self, ChargePart};
use super::options::RunOptions;
use super::partition::{PartitionContext, PartitionResult, process};
use super::recompute::Outdated;
use super::run_report::RunReport;
use super::summaries::{self, SettledSummaries};
use super::usage::{UsagePart, publish_usage};
use super::{copied, corrections, limits, priced, recompute, reservations};
use crate::config::Plan;
use crate::dedupe::Window;
use crate::dedupe::file_order::FileOrder;
use crate::dedupe::spill::{MEMORY_BUDGET, Spill};
use crate::error::{Error, Kind, Result};
use crate::ingest::findings::Notes;
use crate::ingest::identity_sources::IdentitySources;
use crate::ingest::inputs;
use crate::ingest::reading::{ReadFile, Reading, read_all};
use crate::ingest::repair::{RepairMarks, Repairs, annotate, settle};
use crate::ingest::reread::read_again;
use crate::lake::benchmark_fact::ScaledData;
use crate::lake::state::State;
use crate::lake::{capacity, found, new_corrections, views};
use crate::ledger::book::{InputEntry, Places, is_settled_by_merge};
use crate::ledger::{Book, Outcome, Reason};
use crate::overhead;
use crate::overhead::sweep;
use crate::reference::correction::Correction;
use crate::reference::inventory::{self, InventoryPlaced};
use crate::runtime::clock::Stopwatch;
use crate::runtime::interruption::committing;
use crate::runtime::pool;
use crate::runtime::progress::Progress;
use crate::store::lake::{self, LakeTable};
use crate::store::machinery::COMMIT;
use crate::store::{LakeLock, Manifest, Publication, Store, TemporaryFolder};
use crate::time::{Day, Month};

/// Runs a pipeline.
///
/// # Errors
/// [`Kind::Config`] for a pipeline that cannot do what it says, [`Kind::NoInput`] for a pattern without a file,
/// [`Kind::Data`] when more rows are refused than the pipeline allows (nothing is published then), [`Kind::Busy`]
/// while another run holds the lake, [`Kind::Io`], and [`Kind::Internal`] when the ledger does not close.
pub fn run(plan: &Plan, options: &RunOptions, progress: &dyn Progress) -> Result<RunReport> {
    let mut report = RunReport::new(plan, options);
    run_into(plan, options, progress, &mut report)?;
    Ok(report)
}

/// As [`run`], with a report that also tells how far a run came that failed.
///
/// # Errors
/// As [`run`].
pub fn run_into(plan: &Plan, options: &RunOptions, progress: &dyn Progress, report: &mut RunReport) -> Result<()> {
    let mut stopwatch = Stopwatch::start();
    let (means @ (threads, memory_byte_n), window) = (means(options), window(options));
    let mut found = inputs::find(plan, options.output(plan))?;
    let (store, _elsewhere) = open(options.output(plan), options, progress)?;
    let publication = begin(&store, options)?;
    let mut state = State::load(&store, &publication)?;
    let fresh = new_corrections::fresh(plan, &state)?;
    inputs::hash(&mut found, &state.book, state.settings_changed(plan), threads, progress)?;
    let mut phases = BTreeMap::from([("hash".to_owned(), stopwatch.lap())]);
    let outdated = state.stale_inventories(plan, &found)?;
    let is_rebuild = state.wants_rebuild(plan, &found, window)? || state.is_reordered(plan, &found, window);
    let (grids, completion) =
        IdentitySources::prepare(plan, &found, &mut state, &store, &publication, is_rebuild, window)?;
    let again = read_again(completion, &state, progress);
    let former = is_rebuild.then(|| state.forget_records());
    let former = former.unwrap_or_default();
    report.find((!options.dry_run).then_some(&store), found.len());
    let (mut files, seen) = inputs::to_read(&mut state.book, &former, &found, window, (&outdated, &again));
    grids.hand_out(&mut files);
    let is_resummarised = is_rebuild || state.plan_changed(plan) || !state.is_laid_out();
    // After a rebuild the state knows of no place.
    let outdated = Outdated::find(&state, plan);
    let is_same = !is_resummarised && outdated.is_empty() && !overhead::is_changed(plan, &state);
    let is_settled = is_same && fresh.is_empty() && !capacity::is_changed(plan, &state) && state.is_laid_out();
    if files.is_empty() && seen.is_empty() && is_settled {
        report.settle(&state);
        report.finish_unchanged(&stopwatch, publication.seal().head("runs").blake3);
        return Ok(());
    }

    progress.begin("reading", files.iter().map(|f| f.file.bytes).sum(), "bytes");
    let mut spill = Spill::new(memory_byte_n);
    let mut read = read_all(&files, window, threads, &spill, progress)?;
    let file_ids = file_ids(&files, &read);
    let mut repairs = Repairs::load(&store, &publication, is_rebuild)?;
    let lake = (&store, &publication, &state);
    repairs.read((&files, &file_ids), &mut read, window, &spill, lake)?;
    progress.end();
    phases.insert("read".to_owned(), stopwatch.lap());
    forget_opened(&found, &file_ids, &mut state.book, &publication);
    let summed = summaries::fresh(&mut read, &file_ids);
    let marks = repairs.marks();
    let known = (&files[..], &file_ids[..], &marks);
    let notes = account(plan, known, read, &publication, (&mut state, &former), report)?;
    repairs.touch(&file_ids, (&store, &publication), &mut state)?;
    repairs.publish(&publication)?;
    spill.name_files(&file_ids);

    let how = (is_rebuild, is_resummarised);
    let mut partitions = partitions(plan, spill.partitions()?, &state, &file_ids, (fresh, &outdated), how);
    let months = summaries::months(plan, &state, &summed, &mut partitions, &outdated, how);
    let order = FileOrder::new(state.arrivals());
    let (hashes, paths, read_now) = (state.hashes(), state.paths(), file_ids.iter().cloned().collect());
    let context = PartitionContext {
        plan,
        store: &store,
        publication: &publication,
        spill: &spill,
        order: &order,
        hashes: &hashes,
        paths: &paths,
        is_rebuild,
        fresh: &read_now,
        again: &again,
        outdated: &outdated,
        displaced: &views::Views::new(),
    };
    let merge = |context: &PartitionContext<'_>| process_all(context, &partitions, threads, progress);
    let (summaries, done, overlaps) = summaries::settle(&context, &state, (summed, &months), merge, progress)?;
    report.overlaps = overlaps;
    phases.insert("merge".to_owned(), stopwatch.lap());
    copied::judge(plan, &done, &paths, (&mut report.copied_jobs, progress))?;
    note_done(plan, &done, &summaries, &mut state, report);
    let (parts, charged) = contributed(&context, done, summaries, &mut state.book)?;
    grids.settle(&mut state.book, &files, &file_ids);
    let findings = notes.settle((&files, &file_ids), &seen, &state.book);
    limits::hold(plan, findings, report)?;
    let is_fresh = |place: &(String, Month)| partitions.get(place).is_some_and(|days| !days.is_empty());
    report.recomputed = recompute::compare(&context, &outdated, &parts, is_fresh)?;
    if is_rebuild {
        // Before anybody asks which files there will be.
        forget_stale(&publication, &state, &partitions);
    }
    let present = found.iter().filter_map(found::FoundFile::file_id).chain(file_ids);
    let sweep = sweep::Sweep::new((plan, &store, &publication), present, (means, progress));
    report.overhead = overhead::publish(&sweep, &mut state, (&partitions, fresh), is_rebuild)?;
    let corrected = publish_sums(&context, &state, &parts, &charged, is_resummarised)?;
    let made = (parts.as_slice(), &corrected, is_rebuild);
    report.unmatched_corrections = corrections::publish(plan, made, (&store, &publication))?;
    note_corrections(report, progress);
    state.book.close()?;
    state.publish(plan, &publication)?;
    report.settle(&state);
    phases.insert("summarise".to_owned(), stopwatch.lap());
    report.phases = phases;
    if options.dry_run {
        report.finish_dry(&stopwatch);
        return Ok(());
    }
    publish((plan, options), publication, &state, report, (&mut stopwatch, progress))
}

/// Publishes all that was staged, and tells of the run.
fn publish(
    (plan, options): (&Plan, &RunOptions),
    publication: Publication,
    state: &State,
    report: &mut RunReport,
    (stopwatch, progress): (&mut Stopwatch, &dyn Progress),
) -> Result<()> {
    // The row of the run belongs to it.
    let commit = committing(&COMMIT);
    progress.begin("publishing", 0, "files");
    let mut head = String::new();
    publication.commit_recorded(state.facts(plan), |committed, seal| {
        report.finish(committed);
        let (path, page) = super::run_log::page(plan, options, report, stopwatch, seal)?;
        head = blake3::hash(&page).to_hex().to_string();
        Ok(Some((path, page)))
    })?;
    progress.end();
    report.phases.insert("publish".to_owned(), stopwatch.lap());
    commit.made();
    report.end(stopwatch, head);
    Ok(())
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
fn forget_opened(found: &[found::FoundFile], file_ids: &[Arc<str>], book: &mut Book, publication: &Publication) {
    let shut: BTreeSet<&Arc<str>> = file_ids.iter().collect();
    for file_id in found.iter().map(found::FoundFile::shut_file_id) {
        if !shut.contains(&file_id) && book.forget(&file_id) {
            publication.remove(&lake::rejects_path(&file_id));
        }
    }
}

/// The months asked for.
fn window(options: &RunOptions) -> Window {
    Window {
        from: options.from,
        to: options.to,
    }
}

fn note_corrections(report: &RunReport, progress: &dyn Progress) {
    for id in &report.unmatched_corrections {
        progress.note(&format!("correction {id} matches nothing"));
    }
    for addition in &report.unpriced_corrections {
        progress.note(&addition.text());
    }
}

/// What partitions and summaries contribute to usage, and what was charged for jobs and all else.
fn contributed(
    context: &PartitionContext<'_>,
    mut done: Vec<PartitionResult>,
    summaries: SettledSummaries,
    book: &mut Book,
) -> Result<(Vec<UsagePart>, Vec<ChargePart>)> {
    let mut charged = charges::of_jobs(context, &mut done)?;
    charged.append(&mut reservations::charge(context)?);
    Ok((summaries::contributions(context, done, summaries, book)?, charged))
}

/// Publishes usage and charges: what contributions come to. Gives the corrections that charges have entries of.
fn publish_sums(
    context: &PartitionContext<'_>,
    state: &State,
    parts: &[UsagePart],
    charged: &[ChargePart],
    is_everything: bool,
) -> Result<BTreeSet<String>> {
    publish_usage(context, state, parts, is_everything)?;
    charges::publish(context, charged, is_everything)?;
    charges::corrections(context, charged)
}

/// Threads and bytes of memory: as many as were asked for, or as the machine has and suit it.
fn means(options: &RunOptions) -> (usize, usize) {
    let available = || std::thread::available_parallelism().ok().map(Into::into);
    let threads = options.threads.or_else(available).unwrap_or(1).max(1);
    (threads, options.memory_byte_n.unwrap_or(MEMORY_BUDGET))
}

/// Writes down which benchmarks each place was scaled by, counts where they came from, and jobs by policy.
fn note_done(
    plan: &Plan,
    done: &[PartitionResult],
    summaries: &SettledSummaries,
    state: &mut State,
    report: &mut RunReport,
) {
    priced::count(done, report);
    for done in done {
        let place = (done.site.clone(), done.month);
        state.note_benchmarks(plan, ScaledData::Jobs, &place, done.asked_ms);
        for ((benchmark, origin), records) in &done.origins {
            let of = report.benchmarks.entry((*benchmark).to_owned()).or_default();
            *of.entry((*origin).to_owned()).or_default() += records;
        }
    }
    // Of a site that knows no benchmarks, none is missed.
    if plan.normalise.is_of_records_alone() && report.benchmarks.keys().all(|benchmark| benchmark == "none") {
        report.benchmarks.clear();
    }
    for (place, asked_ms) in &summaries.asked_ms {
        state.note_benchmarks(plan, ScaledData::Summaries, place, *asked_ms);
    }
}

/// The partitions to build, each with the days that have something new: beside those with new jobs, those that other
/// news touch.
fn partitions(
    plan: &Plan,
    mut partitions: BTreeMap<(String, Month), Vec<Day>>,
    state: &State,
    file_ids: &[Arc<str>],
    (fresh, outdated): (&[Correction], &Outdated),
    (is_rebuild, is_resummarised): (bool, bool),
) -> BTreeMap<(String, Month), Vec<Day>> {
    for place in &outdated.jobs {
        partitions.entry(place.clone()).or_default();
    }
    if is_resummarised && !is_rebuild {
        // Additions make contributions where there are no records.
        for published in state.partitions().iter().chain(state.contributions()) {
            partitions.entry(published.clone()).or_default();
        }
    }
    for touched in new_corrections::touched(plan, fresh, state) {
        partitions.entry(touched).or_default();
    }
    if is_rebuild {
        for made in corrections::additions(plan) {
            partitions.entry(made).or_default();
        }
    }
    for file_id in file_ids {
        // What the normalise room refused lies with its month, and may lie outside the months asked for.
        for (site, month, reason) in state.book.places(file_id).into_iter().flat_map(BTreeMap::keys) {
            if let (Some(site), Some(month), Reason::BenchmarkMissing) = (site, month, reason) {
                partitions.entry((site.clone(), *month)).or_default();
            }
        }
    }
    partitions
}

/// Enters what was read into the ledger and stages the refusals.
fn account(
    plan: &Plan,
    (files, file_ids, marks): (&[Reading], &[Arc<str>], &BTreeMap<String, RepairMarks>),
    read: Vec<ReadFile>,
    publication: &Publication,
    (state, former): (&mut State, &Book),
    report: &mut RunReport,
) -> Result<Notes> {
    let mut notes = Notes::begin(file_ids.iter(), &state.book, former);
    for ((reading, file_id), mut read) in files.iter().zip(file_ids).zip(read) {
        let elsewhere: u64 = read.tally.values().sum();
        if read.rows_read != elsewhere + read.rows_candidate {
            return Err(Error::internal(format!(
                "the reader framed {} rows but accounted for {elsewhere} + {}",
                read.rows_read, read.rows_candidate
            ))
            .at("file", &reading.file.path));
        }
        let refused: u64 = read
            .tally
            .iter()
            .filter(|((_, _, reason), _)| reason.outcome() == Outcome::Rejected)
            .map(|(_, n)| n)
            .sum();
        notes.take(file_id, reading, &mut read);
        report.read(&reading.source.name, &reading.file, read.rows_read, refused);
        report.mapped(&reading.source.name, &read.mapping);
        let mut paths: BTreeSet<String> = reading.copies.iter().cloned().collect();
        paths.insert(reading.file.path.clone());
        let format = read
            .dialect
            .map_or(reading.source.format().as_str(), |dialect| dialect.as_str());
        let entry = InputEntry {
            source: reading.source.name.clone(),
            paths,
            format: format.to_owned(),
            bytes: reading.file.bytes,
            blake3: read.blake3.clone(),
            rows_read: read.rows_read,
        };
        debug_assert!(read.tally.keys().all(|(_, _, reason)| !is_settled_by_merge(*reason)));
        let places: Places = read.tally;
        state.book.enter(file_id, entry, places);
        if reading.source.is_inventory() {
            super::inventory::publish(
                publication,
                &reading.source,
                as_of(plan, reading, &read.inventory)?,
                file_id,
                &read.blake3,
                &read.inventory,
            )?;
        }
        let marks = marks.get(&**file_id);
        settle(&mut state.book, file_id, marks)?;
        let path = lake::rejects_path(file_id);
        if read.rejects.is_empty() {
            publication.remove(&path);
        } else {
            let mut table = LakeTable::create(publication, "rejects", &path)?;
            read.rejects
                .into_batches(file_id, |batch| table.write(&annotate(batch, marks)?))?;
            table.finish(&[("gridtally.inputs_blake3".to_owned(), read.blake3)])?;
        }
    }
    Ok(notes)
}

/// Opens the output, and says so where nothing keeps a second run out. A dry run of what is no lake yet is made in a folder
/// of its own, which is gone with it.
fn open(output: &str, options: &RunOptions, progress: &dyn Progress) -> Result<(Store, Option<TemporaryFolder>)> {
    if options.dry_run && !Manifest::is_there(output)? {
        let (store, folder) = Store::temporary()?;
        return Ok((store, Some(folder)));
    }
    let store = Store::open(output)?;
    if store.is_web() {
        let place = store.url();
        progress.note(&format!(
            "{place} knows no lock: see to it that one run at a time writes there"
        ));
    }
    Ok((store, None))
}

/// Takes the lock, and begins to publish.
fn begin(store: &Store, options: &RunOptions) -> Result<Publication> {
    Publication::under(Arc::new(LakeLock::take(store, options.wait)?))
}

/// When a file of an inventory was true if its rows do not say, Unix milliseconds.
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

/// Partitions are independent of one another: workers take the next one until none is left.
fn process_all(
    context: &PartitionContext<'_>,
    partitions: &BTreeMap<(String, Month), Vec<Day>>,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Vec<PartitionResult>> {
    progress.begin("merging", u64::try_from(partitions.len()).unwrap_or(0), "partitions");
    // In the order of time, in which dumps mostly are: what waits in memory is given back soonest.
    let work: Vec<_> = partitions.iter().collect();
    // One more than there are threads: the last partitions of an odd number are then worked on side by side.
    let done = pool::each(&work, threads + 1, |((site, month), days)| {
        let done = process(context, site, *month, days);
        progress.add(1);
        done
    });
    progress.end();
    done
}

/// After a rebuild, takes away what the lake held before and no longer should.
fn forget_stale(publication: &Publication, state: &State, partitions: &BTreeMap<(String, Month), Vec<Day>>) {
    let Some(published) = publication.published() else {
        return;
    };
    for file in published.files() {
        let is_stale = match file.dataset.as_str() {
            // Charges of other subjects are not made of records.
            "job_charges" | "charge_part" if !lake::is_month_path(&file.dataset, &file.path) => false,
            "records" | "history" | "usage_part" | "job_charges" | "charge_part" => {
                lake::parse_month_path(&file.path).is_none_or(|partition| !partitions.contains_key(&partition))
            }
            "rejects" => !state
                .book
                .inputs()
                .keys()
                .any(|file_id| lake::rejects_path(file_id) == file.path),
            dataset if inventory::DATASETS.contains(&dataset) => !state
                .book
                .inputs()
                .iter()
                .any(|(file_id, input)| lake::inventory_path(dataset, &input.source, file_id) == file.path),
            _ => false,
        };
        if is_stale {
            publication.remove(&file.path);
        }
    }
}
