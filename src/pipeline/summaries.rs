//! The summaries of the months a run touches: settled over all sites at once, published per site and month.
//!
//! A month is settled as a whole because a publication may name other sites than the one before it. Summaries are few:
//! one month of all sites is held in memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::corrections::is_addition;
use super::partition::{Context, Done, Settled};
use super::reading::ReadFile;
use super::recompute::{Asked, Outdated};
use super::refused::{self, RefusedRow};
use super::state::State;
use super::usage::{Part, publish_part};
use crate::error::{Error, Kind, Result};
use crate::ledger::{Book, Outcome, Reason};
use crate::normalise::Scale;
use crate::pipeline::plan::{Overlap, Publishing};
use crate::pipeline::{Plan, Progress};
use crate::records::Summary;
use crate::records::summary::merge::merge;
use crate::records::summary::{from_batch, to_batch};
use crate::schema;
use crate::store::Manifest;
use crate::store::lake::{self, LakeTable};
use crate::summarise::summaries::SummaryUsage;
use crate::time::{Day, Month};

/// Versions of the summaries of one month, all sites, that are held in memory.
const MONTH_LIMIT: usize = 4_000_000;

/// A site and a month.
pub(super) type Place = (String, Month);

/// Places that have jobs, by [`folded`] place: site names that differ in case alone are one site, as for APEL's server.
pub(super) type JobPlaces = BTreeMap<Place, BTreeSet<Place>>;

/// A place as it is compared.
pub(super) fn folded((site, month): &Place) -> Place {
    (site.to_lowercase(), *month)
}

/// The places that have jobs, from all of them.
pub(super) fn job_places<'a>(places: impl IntoIterator<Item = &'a Place>) -> JobPlaces {
    let mut jobs = JobPlaces::new();
    for place in places {
        jobs.entry(folded(place)).or_default().insert(place.clone());
    }
    jobs
}

/// What settling the summaries came to.
#[derive(Default)]
pub(super) struct SettledSummaries {
    /// What the ledger must say.
    pub(super) settled: Vec<(Place, Settled)>,
    /// What they contribute to usage, also where that is nothing; not of places where jobs count.
    pub(super) parts: Vec<Part>,
    /// Places whose jobs do not count.
    pub(super) displaced: BTreeSet<Place>,
    /// Between which instants benchmarks were looked for.
    pub(super) asked_ms: BTreeMap<Place, Asked>,
    /// Places that have both, for people.
    pub(super) overlaps: BTreeSet<Place>,
}

/// The summaries that were read, by month, under the ids of their files.
pub(super) fn fresh(read: &mut [ReadFile], file_ids: &[Arc<str>]) -> BTreeMap<Month, Vec<Summary>> {
    let mut fresh: BTreeMap<Month, Vec<Summary>> = BTreeMap::new();
    for (read, file_id) in read.iter_mut().zip(file_ids) {
        for mut row in std::mem::take(&mut read.summaries) {
            row.file_id = Arc::clone(file_id);
            fresh.entry(row.month).or_default().push(row);
        }
    }
    fresh
}

/// The months whose summaries are to be settled: where there are new ones, and where jobs came to published ones. Where
/// summaries win over jobs, the jobs of these months are looked at again, for they may count now, or no longer.
pub(super) fn months(
    plan: &Plan,
    state: &State,
    fresh: &BTreeMap<Month, Vec<Summary>>,
    partitions: &mut BTreeMap<Place, Vec<Day>>,
    outdated: &Outdated,
    (is_rebuild, is_resummarised): (bool, bool),
) -> BTreeSet<Month> {
    let is_everything = is_resummarised && !is_rebuild;
    let published = state.summaries().iter();
    let jobs = job_places(partitions.keys());
    let touched = published
        .filter(|place| is_everything || outdated.summaries.contains(place) || jobs.contains_key(&folded(place)));
    let months: BTreeSet<Month> = touched.map(|(_, month)| *month).chain(fresh.keys().copied()).collect();
    if plan.overlap == Some(Overlap::Summaries) && !is_rebuild {
        for place in state.partitions().iter().filter(|(_, month)| months.contains(month)) {
            partitions.entry(place.clone()).or_default();
        }
    }
    months
}

/// Tells the ledger what became of jobs and summaries, and gives what each place contributes to usage: its jobs or
/// its summaries, never both.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be written.
pub(super) fn contributions(
    context: &Context<'_>,
    done: Vec<Done>,
    summaries: SettledSummaries,
    book: &mut Book,
) -> Result<Vec<Part>> {
    let mut parts = Vec::with_capacity(done.len());
    for done in done {
        let place = (done.site, done.month);
        if !summaries.displaced.contains(&place) {
            book.settle(&place.0, place.1, &done.settled);
            parts.push(Part {
                site: place.0,
                month: place.1,
                rows: done.part,
            });
            continue;
        }
        let mut settled = Settled::new();
        for ((file_id, reason), rows) in done.settled {
            let is_job = matches!(reason, Reason::Job | Reason::Step);
            let reason = if is_job { Reason::SummariesCount } else { reason };
            *settled.entry((file_id, reason)).or_default() += rows;
        }
        book.settle(&place.0, place.1, &settled);
        let path = lake::month_path("usage_part", &place.0, place.1);
        context.publication.take_back(&path)?;
        context.publication.remove(&path);
        // The summaries of the place say more about it below, unless they spell the site otherwise. What was added by
        // hand still counts; what was taken from or given to jobs goes with them.
        parts.push(Part {
            site: place.0,
            month: place.1,
            rows: done
                .part
                .into_iter()
                .filter(|(key, _)| is_addition(context.plan, key))
                .collect(),
        });
    }
    for ((site, month), settled) in &summaries.settled {
        book.settle_summaries(site, *month, settled);
    }
    for mut part in summaries.parts {
        let same = parts
            .iter_mut()
            .find(|own| own.site == part.site && own.month == part.month);
        if let Some(same) = same {
            part.rows.append(&mut same.rows);
            part.rows.sort_by(|a, b| a.0.cmp(&b.0));
        }
        publish_part(context, &part)?;
        parts.push(part);
    }
    Ok(parts)
}

/// Settles and publishes every month in `months`: published rows together with `fresh` ones. `jobs` says which places
/// have jobs.
///
/// # Errors
/// [`Kind::Config`] when jobs and summaries overlap and the pipeline does not say which count; [`Kind::Data`] when a
/// month has more rows than are held; [`Kind::Io`] when the lake cannot be read or written.
pub(super) fn settle(
    context: &Context<'_>,
    state: &State,
    mut fresh: BTreeMap<Month, Vec<Summary>>,
    months: &BTreeSet<Month>,
    jobs: &JobPlaces,
    progress: &dyn Progress,
) -> Result<SettledSummaries> {
    let publishing: BTreeMap<&str, Publishing> = (context.plan.sources.iter())
        .map(|source| (source.name.as_str(), source.publishing))
        .collect();
    let mut settled = SettledSummaries::default();
    for &month in months {
        let mut rows = fresh.remove(&month).unwrap_or_default();
        if !context.is_rebuild {
            read(context, state, month, &mut rows)?;
        }
        let mut by_site: BTreeMap<String, Vec<Summary>> = BTreeMap::new();
        for row in merge(rows, context.order, &publishing)? {
            by_site.entry(row.site.clone()).or_default().push(row);
        }
        for (site, rows) in by_site {
            place(context, (site, month), rows, jobs, &mut settled)?;
        }
    }
    match context.plan.overlap {
        Some(overlap) => {
            for (site, month) in &settled.overlaps {
                let word = overlap.as_str();
                progress.note(&format!("{site} {month} has jobs and summaries: overlap = \"{word}\""));
            }
        }
        None if settled.overlaps.is_empty() => {}
        None => return Err(undecided(&settled.overlaps)),
    }
    if context.is_rebuild {
        let published = context.publication.published();
        for file in published.into_iter().flat_map(Manifest::files) {
            if matches!(file.dataset.as_str(), "summary" | "summary_history") {
                // What was added again stays.
                context.publication.remove(&file.path);
            }
        }
    }
    Ok(settled)
}

fn undecided(overlaps: &BTreeSet<Place>) -> Error {
    /// Places named.
    const NAMED: usize = 5;
    let named: Vec<String> = (overlaps.iter().take(NAMED))
        .map(|(site, month)| format!("{site} {month}"))
        .collect();
    let more = overlaps.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Error::config(format!(
        "jobs and summaries of the same usage: {}{more}; say in [pipeline] which of them counts: overlap = \"jobs\", \
         \"summaries\" or \"reject\"",
        named.join(", ")
    ))
}

/// Adds what is published of a month, of all sites.
fn read(context: &Context<'_>, state: &State, month: Month, rows: &mut Vec<Summary>) -> Result<()> {
    for (site, _) in state.summaries().iter().filter(|(_, of)| *of == month) {
        for dataset in ["summary", "summary_history"] {
            let path = lake::month_path(dataset, site, month);
            for batch in lake::batches(context.store, context.publication, &path)?
                .into_iter()
                .flatten()
            {
                rows.append(&mut from_batch(&batch?, site, month)?);
            }
        }
    }
    if rows.len() > MONTH_LIMIT {
        let message = format!("{month} has more than {MONTH_LIMIT} versions of summaries");
        return Err(Error::new(Kind::Data, message));
    }
    Ok(())
}

/// Decides and publishes one site and month.
fn place(
    context: &Context<'_>,
    place: Place,
    mut rows: Vec<Summary>,
    jobs: &JobPlaces,
    settled: &mut SettledSummaries,
) -> Result<()> {
    let (site, month) = &place;
    let mut usage = SummaryUsage::new(context.plan, site);
    for row in &mut rows {
        if row.reason == Reason::SummaryRecord && usage.scale(row) == Scale::Rejected {
            row.reason = Reason::SummaryBenchmarkMissing;
        }
    }
    let has_usage = rows.iter().any(|row| row.reason == Reason::SummaryRecord);
    let rivals = jobs.get(&folded(&place));
    if let Some(rivals) = rivals.filter(|_| has_usage) {
        settled.overlaps.insert(place.clone());
        let lost = match context.plan.overlap {
            Some(Overlap::Jobs) | None => Some(Reason::JobsCount),
            Some(Overlap::Reject) => Some(Reason::OverlapsJobs),
            Some(Overlap::Summaries) => None,
        };
        match lost {
            Some(lost) => (rows.iter_mut())
                .filter(|row| row.reason == Reason::SummaryRecord)
                .for_each(|row| row.reason = lost),
            None => {
                settled.displaced.extend(rivals.iter().cloned());
            }
        }
    }
    rows.sort_by(|a, b| sorting(a).cmp(&sorting(b)));
    let mut counts = Settled::new();
    for row in &rows {
        *counts.entry((Arc::clone(&row.file_id), row.reason)).or_default() += 1;
    }
    let (winners, others): (Vec<&Summary>, Vec<&Summary>) =
        rows.iter().partition(|row| row.reason.outcome() == Outcome::Accepted);
    publish(context, "summary", &place, &winners)?;
    publish(context, "summary_history", &place, &others)?;
    reject(context, &place, &others)?;
    let has_jobs = rivals.is_some_and(|rivals| rivals.contains(&place));
    settled.asked_ms.insert(place.clone(), usage.asked_ms());
    if !has_jobs || settled.displaced.contains(&place) {
        for row in winners {
            usage.add(row);
        }
        settled.parts.push(Part {
            site: site.clone(),
            month: *month,
            rows: usage.into_sorted(),
        });
    }
    settled.settled.push((place, counts));
    Ok(())
}

/// The order of rows in a file; nulls first.
fn sorting(row: &Summary) -> (&str, [Option<&str>; 3], u128, &str, i64, i64) {
    let words = ["vo", "global_user", "submit_host"].map(|name| row.word(name));
    let kind = row.kind.as_str();
    (kind, words, row.summary_id, &row.file_id, row.line, row.byte_offset)
}

fn publish(context: &Context<'_>, dataset: &str, (site, month): &Place, rows: &[&Summary]) -> Result<()> {
    /// Rows of a batch.
    const RUN: usize = 16_384;
    let path = lake::month_path(dataset, site, *month);
    if rows.is_empty() {
        context.publication.remove(&path);
        return Ok(());
    }
    let mut table = LakeTable::create(context.publication, dataset, &path)?;
    for run in rows.chunks(RUN) {
        table.write(&to_batch(run, schema::dataset(dataset)?)?)?;
    }
    let hashes: BTreeSet<&str> = (rows.iter())
        .filter_map(|row| context.hashes.get(&row.file_id).map(String::as_str))
        .collect();
    let hashes: Vec<&str> = hashes.into_iter().collect();
    table.finish(&[
        ("gridtally.pipeline".to_owned(), context.plan.name.clone()),
        ("gridtally.inputs_blake3".to_owned(), hashes.join(" ")),
    ])?;
    Ok(())
}

/// Publishes the rows refused at this stage, or removes what is published of them. They stay in `summary_history`.
fn reject(context: &Context<'_>, (site, month): &Place, rows: &[&Summary]) -> Result<()> {
    let path = lake::overlap_path(site, *month);
    let mut rows: Vec<&&Summary> = (rows.iter())
        .filter(|row| row.reason.outcome() == Outcome::Rejected)
        .collect();
    if rows.is_empty() {
        context.publication.remove(&path);
        return Ok(());
    }
    rows.sort_by_key(|row| (&row.file_id, row.line, row.byte_offset));
    let overlap = format!("{site} has jobs in {month}, and the pipeline rejects summaries beside jobs");
    let refused = rows.iter().map(|row| RefusedRow {
        source: &row.source,
        file_id: &row.file_id,
        path: context.paths.get(&row.file_id).map_or("", String::as_str),
        line: row.line,
        byte_offset: row.byte_offset,
        reason: row.reason,
        detail: Cow::Borrowed(match row.reason {
            Reason::OverlapsJobs => &overlap,
            _ => "no benchmark is known for the summary",
        }),
        rows: 1,
        raw_byte_n: 0,
        raw: None,
        record_id: Some(row.summary_id),
    });
    let mut table = LakeTable::create(context.publication, "rejects", &path)?;
    table.write(&refused::batch(&refused.collect::<Vec<_>>())?)?;
    table.finish(&[])?;
    Ok(())
}
