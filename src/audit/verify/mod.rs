//! Proves a lake from its files alone: bytes, schemas, the ledger's identity, and that usage and charges are what its records
//! come to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use arrow_array::{Array, RecordBatch};

use self::counted::{CountedPlace, CountedRecords, count_history, count_records};
use self::summaries::SummarisedView;
use self::totals::VerifiedTotals;
use crate::error::{Error, Kind, Result};
use crate::lake::counted_records::{UncountedRecords, counts_running};
use crate::lake::refused_records::RefusedRecords;
use crate::lake::state::records_version;
use crate::lake::views::folded;
use crate::ledger::{Book, Outcome, Reason};
use crate::numbers::{count_u64, tally};
use crate::record::SiteMonth;
use crate::runtime::clock::Stopwatch;
use crate::schema;
use crate::schema::batch::{int, text};
use crate::store::lake::{self, LEDGER};
use crate::store::machinery::MACHINERY;
use crate::store::manifest::MANIFEST;
use crate::store::seal::SEAL;
use crate::store::{Fact, Holder, LockWatch, Manifest, Store, read_table, verify_store};
use crate::summarise::group::{Groups, UsageGroup};

mod added_up;
mod books;
mod charges;
mod corrections;
mod counted;
mod difference;
mod of_records;
mod recomputation;
mod recompute;
mod report;
mod summaries;
mod totals;

pub use recompute::Recomputed;
pub use report::VerifyReport;

/// Verifies the lake at a path or URL.
///
/// # Errors
/// [`crate::error::Kind::NoInput`] when there is no lake; [`crate::error::Kind::Io`] when it cannot be
/// read. What is wrong with it is in the report.
pub fn verify(output: &str) -> Result<VerifyReport> {
    verify_state(output, &[], false)
}

/// As [`verify`], concurrently with runs: data a run has not published yet is not damage, and a state between two is looked at again
/// until it has settled. Each of `heads` was the end of a book once, and must be a page of one.
///
/// # Errors
/// As [`verify`]; [`Kind::Busy`] when nothing has settled within `patience`.
pub fn verify_during_runs(
    output: &str,
    heads: &[String],
    patience: Duration,
    note: impl Fn(&str),
) -> Result<VerifyReport> {
    let store = Store::open_existing(output)?;
    let since = Stopwatch::start();
    let mut is_reported = false;
    let mut watch = LockWatch::new(&store);
    loop {
        let state = || Ok::<_, Error>((store.get(MANIFEST)?, store.get(SEAL)?));
        let (before, mut holder) = (state()?, watch.look()?);
        let was_locked = holder != Holder::Nobody;
        if was_locked && !is_reported {
            note("a run holds the lake: what it has not published yet is left out");
            is_reported = true;
        }
        let verdict = verify_state(output, heads, was_locked);
        let is_moving = was_locked || watch.look()? != Holder::Nobody || state()? != before;
        if !is_moving || verdict.as_ref().is_ok_and(VerifyReport::is_sound) {
            return verdict;
        }
        // A lock that a killed run left behind is found out after a while, however short the patience: what is wrong then
        // is damage.
        while holder == Holder::Unknown {
            std::thread::sleep(BETWEEN_LOOKS);
            holder = watch.look()?;
            if holder == Holder::Nobody {
                return verify_state(output, heads, false);
            }
        }
        if since.elapsed() >= patience {
            let message = format!(
                "a run is publishing, and has not ended within {} s: verify again when it has (--wait waits longer)",
                patience.as_secs()
            );
            return Err(Error::new(Kind::Busy, message).at("lake", store.url()));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// How soon a lake that changes is looked at again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Verifies the lake as it is now; while it is locked, the files in the machinery's folder belong to a run.
fn verify_state(output: &str, heads: &[String], is_locked: bool) -> Result<VerifyReport> {
    let (store, manifest) = books::open(output)?;
    let mut report = VerifyReport {
        output: store.url().to_owned(),
        ..VerifyReport::default()
    };
    let is_of_run = |path: &str| is_locked && path.split('/').next() == Some(MACHINERY);
    let verified = verify_store(&store)?;
    for finding in verified.findings {
        if is_of_run(&finding.path) {
            continue;
        }
        if finding.is_leftover {
            report.leftovers.push((finding.path, finding.problem));
        } else {
            report.unfinished_n += u64::from(finding.is_unfinished);
            report.find(&finding.path, finding.problem);
        }
    }
    books::check(&store, &verified.books, heads, &mut report)?;
    let Some(manifest) = manifest.filter(|_| report.is_sound()) else {
        return Ok(report); // files that are not what they were prove nothing about their content
    };
    report.is_content_verified = true;
    report.files_n = count_u64(manifest.files().len());
    let table = |path: &str| -> Result<Vec<RecordBatch>> { read_table(store.reader(path)?, None, 16_384)?.collect() };
    let book = Book::load(&table(lake::inputs_path(&manifest))?, &table(LEDGER)?)?;
    if let Err(e) = book.close() {
        report.find(LEDGER, e.to_string());
    }
    report.rows_n = book.inputs().values().map(|input| input.rows_read).sum();
    match manifest.facts.get(Fact::Schemas).filter(|was| *was != records_version()) {
        None => verify_content(&store, &manifest, &book, &mut report)?,
        Some(was) => report.not_recomputed.push(format!(
            "anything: another version of gridtally computed it (schemas {was}, here {}); the next run of its pipeline computes it again",
            records_version()
        )),
    }
    Ok(report)
}

/// Verifies what the datasets hold, against one another and by computing them again.
fn verify_content(store: &Store, manifest: &Manifest, book: &Book, report: &mut VerifyReport) -> Result<()> {
    let table = |path: &str| -> Result<Vec<RecordBatch>> { read_table(store.reader(path)?, None, 16_384)?.collect() };
    report.findings.extend(super::inventory::verify(store, manifest, book)?);
    report.findings.extend(super::capacity::verify(store, manifest)?);
    report.findings.extend(super::awards::verify(store, manifest)?);
    let refused = refused_records(store, manifest, book, report)?;
    let counts_running = counts_running(manifest);
    let mut counted = CountedRecords::new();
    let mut expected: BTreeMap<SiteMonth, VerifiedTotals> = BTreeMap::new();
    let summarised = summaries::count(store, manifest, &mut counted, report)?;
    let displaced = summaries::displaced(&summarised);
    report
        .findings
        .extend(crate::overhead::verify(store, manifest, &displaced)?);
    for file in manifest.dataset("records").chain(manifest.dataset("history")) {
        let Some(SiteMonth { site, month }) = lake::parse_month_path(&file.path) else {
            report.find(&file.path, "the path names no site and month");
            continue;
        };
        let place = CountedPlace {
            site: Some(site.clone()),
            month: Some(month),
        };
        let of = counted.entry(place).or_default();
        let mut totals = VerifiedTotals::default();
        let uncounted = UncountedRecords {
            refused: &refused,
            displaced: displaced.get(&folded(&SiteMonth::new(site.as_str(), month))),
        };
        let dataset = schema::dataset(&file.dataset)?;
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            if let Err(e) = dataset.admit(&batch) {
                report.find(&file.path, e.to_string());
                break;
            }
            if file.dataset == "records" {
                report.records_n += count_u64(batch.num_rows());
                count_records(&batch, uncounted, counts_running, of, &mut totals)?;
            } else {
                count_history(&batch, of)?;
            }
        }
        if file.dataset == "records" {
            expected.insert(SiteMonth { site, month }, totals);
        }
    }
    for (SummarisedView { place, .. }, totals) in summarised {
        let of_place = expected.entry(place).or_default();
        *of_place = of_place.plus(totals);
    }
    let mut parts = check_parts(store, manifest, expected, report)?;
    check_ledger(book, &counted, report);
    let mut usage: BTreeMap<String, VerifiedTotals> = BTreeMap::new();
    for file in manifest.dataset("usage") {
        let Some((site, _, _)) = lake::parse_usage_path(&file.path) else {
            report.find(&file.path, "the path names no site, VO and allocation year");
            continue;
        };
        let of_site = usage.entry(site).or_default();
        *of_site = of_site.plus(usage_totals(&table(&file.path)?)?);
    }
    parts.retain(|_, totals| *totals != VerifiedTotals::default());
    usage.retain(|_, totals| *totals != VerifiedTotals::default());
    if parts != usage {
        report.find(
            "usage",
            format!("usage holds {usage:?}, but its contributions are {parts:?}"),
        );
    }
    charges::check(store, manifest, report)?;
    let again = recompute::check(store, manifest, &refused, &displaced)?;
    report.findings.extend(again.findings);
    report.recomputed = again.recomputed;
    report.not_recomputed = again.not_recomputed;
    report.findings.sort();
    Ok(())
}

/// What is contributed against the records and the corrections; gives the contributions of each site.
fn check_parts(
    store: &Store,
    manifest: &Manifest,
    mut expected: BTreeMap<SiteMonth, VerifiedTotals>,
    report: &mut VerifyReport,
) -> Result<BTreeMap<String, VerifiedTotals>> {
    let table = |path: &str| -> Result<Vec<RecordBatch>> { read_table(store.reader(path)?, None, 16_384)?.collect() };
    let mut parts: BTreeMap<String, VerifiedTotals> = BTreeMap::new();
    let mut entries = VerifiedTotals::default();
    for file in manifest.dataset("usage_part") {
        let Some(SiteMonth { site, month }) = lake::parse_month_path(&file.path) else {
            report.find(&file.path, "the path names no site and month");
            continue;
        };
        let (recorded, corrected) = part_totals(&table(&file.path)?)?;
        let held = expected
            .remove(&SiteMonth::new(site.as_str(), month))
            // Fallback: a month that no records contribute to has sums of zero.
            .unwrap_or_default();
        if recorded != held {
            report.find(
                &file.path,
                format!("contributes {recorded:?}, but the records have {held:?}"),
            );
        }
        let of_site = parts.entry(site).or_default();
        *of_site = of_site.plus(recorded).plus(corrected);
        entries = entries.plus(corrected);
    }
    for (SiteMonth { site, month }, totals) in expected {
        if totals != VerifiedTotals::default() {
            let path = lake::month_path("usage_part", &site, month);
            report.find(&path, format!("contributes nothing, but the records have {totals:?}"));
        }
    }
    let mut reported = VerifiedTotals::default();
    for file in manifest.dataset("corrections") {
        reported = reported.plus(usage_totals(&table(&file.path)?)?);
    }
    if reported != entries {
        report.find(
            "corrections",
            format!("contain {reported:?}, but their entries in usage are {entries:?}"),
        );
    }
    Ok(parts)
}

fn sum(batch: &RecordBatch, name: &str) -> Result<i128> {
    Ok(int(batch, name)?.iter().flatten().map(i128::from).sum())
}

/// Records that are no usage, and the check that rejects hold the rows the ledger counts as rejected.
fn refused_records(
    store: &Store,
    manifest: &Manifest,
    book: &Book,
    report: &mut VerifyReport,
) -> Result<RefusedRecords> {
    let mut refused = RefusedRecords::default();
    // Rows by input and whether they were mended.
    let mut held: BTreeMap<(String, bool), i128> = BTreeMap::new();
    for file in manifest.dataset("rejects") {
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            refused.add(&batch)?;
            let (files, rows) = (text(&batch, "file_id")?, int(&batch, "row_n")?);
            // Lakes of earlier versions have no such column until their files change.
            // Fallback: a file of an earlier version has no repaired rows, and no column.
            let repaired = text(&batch, "repaired_by").ok();
            for row in 0..batch.num_rows() {
                let is_mended = repaired.is_some_and(|repaired| repaired.is_valid(row));
                let of = (files.value(row).to_owned(), is_mended);
                *held.entry(of).or_default() += i128::from(rows.value(row));
            }
        }
    }
    for file_id in book.inputs().keys() {
        let rejected = tally(book.outcomes(file_id).get(&Outcome::Rejected).copied());
        let places = book.places(file_id).into_iter().flatten();
        let repaired = places.filter(|(place, _)| place.reason == Reason::Repaired);
        let repaired: u64 = repaired.map(|(_, rows)| rows).sum();
        for (is_mended, stated, what) in [(false, rejected, "refused"), (true, repaired, "mended")] {
            let held = tally(held.remove(&(file_id.to_string(), is_mended)));
            if i128::from(stated) != held {
                report.find(
                    "rejects",
                    format!("hold {held} {what} rows of input {file_id}, the ledger counts {stated}"),
                );
            }
        }
    }
    for ((file_id, _), held) in held {
        report.find(
            "rejects",
            format!("hold {held} rows of input {file_id}, which the ledger does not know"),
        );
    }
    Ok(refused)
}

/// The ledger's lines about records and history against what these hold.
fn check_ledger(book: &Book, counted: &CountedRecords, report: &mut VerifyReport) {
    let mut stated = CountedRecords::new();
    for file_id in book.inputs().keys() {
        for (place, rows) in book.places(file_id).into_iter().flatten() {
            if crate::ledger::book::is_settled_by_merge(place.reason) {
                let counted_place = CountedPlace {
                    site: place.site.clone(),
                    month: place.month,
                };
                let of = stated.entry(counted_place).or_default();
                of.add(file_id, place.reason, *rows);
            }
        }
    }
    let keys: BTreeSet<_> = stated.keys().chain(counted.keys()).cloned().collect();
    for key in keys {
        let (stated, held) = (stated.get(&key), counted.get(&key));
        if stated != held {
            let CountedPlace { site, month } = key;
            let month = month.map_or_else(String::new, |month| month.to_string());
            report.find(
                LEDGER,
                format!(
                    "{} {month}: the ledger counts {stated:?}, the files hold {held:?}",
                    // Fallback: the message shows rows without a site without it.
                    site.unwrap_or_default()
                ),
            );
        }
    }
}

/// What records contribute, and what corrections do.
fn part_totals(batches: &[RecordBatch]) -> Result<(VerifiedTotals, VerifiedTotals)> {
    let mut groups = Groups::default();
    for batch in batches {
        groups.add_batch(batch)?;
    }
    let (mut recorded, mut corrected) = (VerifiedTotals::default(), VerifiedTotals::default());
    for UsageGroup { key, sums } in groups.into_sorted() {
        let totals = match key.correction_id {
            None => &mut recorded,
            Some(_) => &mut corrected,
        };
        *totals = totals.plus(VerifiedTotals {
            job_n: i128::from(sums.counted.job_n),
            wall_s: i128::from(sums.counted.wall_s),
            alloc_core_s: i128::from(sums.counted.alloc_core_s),
            cpu_ms: sums.cpu_ms.map_or(0, i128::from),
        });
    }
    Ok((recorded, corrected))
}

fn usage_totals(batches: &[RecordBatch]) -> Result<VerifiedTotals> {
    let mut totals = VerifiedTotals::default();
    for batch in batches {
        totals = totals.plus(VerifiedTotals {
            job_n: sum(batch, "job_n")?,
            wall_s: sum(batch, "wall_s")?,
            alloc_core_s: sum(batch, "alloc_core_s")?,
            cpu_ms: sum(batch, "cpu_ms")?,
        });
    }
    Ok(totals)
}
