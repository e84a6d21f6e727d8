//! The summaries of the months a run touches: settled over all sites at once, published per site and month.
//!
//! A month is settled as a whole because a publication may name other sites than the one before it. Summaries are few, and
//! `ingest::summary_limits` holds their number: one month of all sites is held in memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tracing::info;

use super::charges::ChargePart;
use super::extent::RunSelection;
use super::overlap_report::OverlapReport;
use super::partition::{PartitionResult, Settled};
use super::partition_context::PartitionContext;
use super::summary_kinds::SummaryKinds;
use super::usage::{UsagePart, publish_part};
use crate::config::Plan;
use crate::config::plan::Overlap;
use crate::dedupe::summary::merge::merge;
use crate::dedupe::summary::publishing::Publishing;
use crate::dedupe::summary::{from_batch, to_batch};
use crate::error::{Error, Result};
use crate::ingest::reading::ReadFile;
use crate::ingest::reject_rows;
use crate::ingest::reject_rows::RefusedRow;
use crate::lake::addition_fact::additions;
use crate::lake::state::State;
use crate::lake::views::{RUN, Views, folded, has_view};
use crate::ledger::{Book, FileReason, Outcome, Reason};
use crate::normalise::Scale;
use crate::numbers::Extent;
use crate::record::{SiteMonth, Summary};
use crate::reference::benchmark::AskedSpan;
use crate::schema;
use crate::store::Manifest;
use crate::store::lake::{self, LakeTable};
use crate::summarise::held_groups::HeldGroups;
use crate::summarise::summaries::SummaryUsage;
use crate::summarise::sums;
use crate::time::{Day, Month};

/// The places where jobs and summaries cover the same usage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OverlapPlace {
    site: String,
    month: Month,
    view: String,
}

/// What settling the summaries came to.
#[derive(Default)]
pub(crate) struct SettledSummaries {
    /// The outcomes to enter into the ledger.
    settled: Vec<(SiteMonth, Settled)>,
    /// What they contribute to usage, also where that is nothing.
    parts: Vec<UsagePart>,
    /// The views in which they count.
    counting: Views,
    /// Between which instants benchmarks were looked for.
    pub(crate) asked: BTreeMap<SiteMonth, Option<AskedSpan>>,
    /// The places where both cover the same view.
    overlaps: BTreeSet<OverlapPlace>,
    /// The kinds of those that count.
    pub(crate) kinds: SummaryKinds,
}

/// The summaries that were read, by month, under the ids of their files.
pub(crate) fn fresh(read: &mut [ReadFile], file_ids: &[Arc<str>]) -> BTreeMap<Month, Vec<Summary>> {
    let mut fresh: BTreeMap<Month, Vec<Summary>> = BTreeMap::new();
    for (read, file_id) in read.iter_mut().zip(file_ids) {
        for mut row in std::mem::take(&mut read.summaries) {
            row.file_id = Arc::clone(file_id);
            fresh.entry(row.month).or_default().push(row);
        }
    }
    fresh
}

/// The months whose summaries are to be settled: where there are new ones, and where jobs came to published ones. The
/// jobs of their places are looked at again, for they may count now or no longer, and what counts of both is one
/// contribution.
pub(crate) fn months(
    plan: &Plan,
    state: &State,
    fresh: &BTreeMap<Month, Vec<Summary>>,
    partitions: &mut BTreeMap<SiteMonth, Vec<Day>>,
    selection: &RunSelection,
) -> BTreeSet<Month> {
    let is_everything = selection.extent.is_of_published_records();
    let published = state.summaries().iter();
    let jobs: BTreeSet<SiteMonth> = partitions.keys().map(folded).collect();
    let touched = published
        .clone()
        .filter(|place| is_everything || selection.outdated.summaries.contains(place) || jobs.contains(&folded(place)));
    let months: BTreeSet<Month> = touched.map(|of| of.month).chain(fresh.keys().copied()).collect();
    let new = fresh
        .values()
        .flatten()
        .map(|row| SiteMonth::new(row.site.to_lowercase(), row.month));
    let with_summaries: BTreeSet<SiteMonth> = published.map(folded).chain(new).collect();
    let known = state.partitions().iter().cloned().chain(additions(plan));
    for place in known.filter(|place| months.contains(&place.month) && with_summaries.contains(&folded(place))) {
        partitions.entry(place).or_default();
    }
    months
}

/// Enters the outcomes of jobs and summaries into the ledger, and returns the contribution of each place to usage (of a view its jobs
/// or its summaries, never both), and what the jobs of each were charged.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be written.
pub(crate) fn contributions(
    context: &PartitionContext<'_>,
    done: Vec<PartitionResult>,
    summaries: SettledSummaries,
    book: &mut Book,
) -> Result<(Vec<UsagePart>, Vec<ChargePart>)> {
    let mut parts = Vec::with_capacity(done.len());
    let mut charged = Vec::with_capacity(done.len());
    let mut places = BTreeMap::new();
    for done in done {
        book.settle(&done.site, done.month, &done.settled);
        places.insert((done.site, done.month), parts.len());
        parts.push(done.part);
        charged.push(done.charges);
    }
    for (SiteMonth { site, month }, settled) in &summaries.settled {
        book.settle_summaries(site, *month, settled);
    }
    for part in summaries.parts {
        let at = places.get(&(part.site.clone(), part.month));
        let Some(of_jobs) = at.and_then(|at| parts.get_mut(*at)) else {
            publish_part(context, &part)?;
            parts.push(part);
            continue;
        };
        if part.groups.is_empty() {
            continue;
        }
        let mut groups = of_jobs.groups.groups()?;
        groups.append(&mut part.groups.groups()?);
        groups.sort_by(|a, b| a.key.cmp(&b.key));
        of_jobs.groups = HeldGroups::new(groups)?;
        context
            .publication
            .take_back(&lake::month_path("usage_part", &part.site, part.month))?;
        publish_part(context, of_jobs)?;
    }
    Ok((parts, charged))
}

/// Settles summaries and merges jobs, those first that decide whether the others count. `merge` merges the jobs; those of
/// views in [`PartitionContext::displaced`] do not count. Returns with them the views that have both, and prints these.
///
/// # Errors
/// [`Kind::Config`] when jobs and summaries overlap and the pipeline does not set which count; [`Kind::Io`] when the lake cannot be read or written.
pub(crate) fn settle(
    context: &PartitionContext<'_>,
    state: &State,
    fresh: BTreeMap<Month, Vec<Summary>>,
    months: &BTreeSet<Month>,
    merge: impl FnOnce(&PartitionContext<'_>) -> Result<Vec<PartitionResult>>,
) -> Result<(SettledSummaries, Vec<PartitionResult>, Vec<OverlapReport>)> {
    let (mut summaries, done);
    if context.plan.overlap == Some(Overlap::Summaries) {
        summaries = settle_months(context, state, fresh, months, &Views::new())?;
        done = merge(&PartitionContext {
            displaced: &summaries.counting,
            ..*context
        })?;
        for (place, view) in views(&done) {
            if has_view(&summaries.counting, &place, view) {
                summaries.overlaps.insert(OverlapPlace {
                    site: place.site,
                    month: place.month,
                    view: view.to_owned(),
                });
            }
        }
    } else {
        done = merge(context)?;
        let mut of_jobs = Views::new();
        for (place, view) in views(&done) {
            of_jobs.entry(folded(&place)).or_default().insert(view.to_owned());
        }
        summaries = settle_months(context, state, fresh, months, &of_jobs)?;
    }
    let overlaps = std::mem::take(&mut summaries.overlaps);
    let Some(overlap) = context.plan.overlap else {
        return if overlaps.is_empty() {
            Ok((summaries, done, Vec::new()))
        } else {
            Err(undecided(&overlaps))
        };
    };
    let reported = overlaps.into_iter().map(|OverlapPlace { site, month, view }| {
        let word = overlap.as_str();
        info!(
            site,
            month = month.to_string(),
            view,
            overlap = word,
            "{site} {month} has jobs and summaries of the view {view}: overlap = \"{word}\""
        );
        OverlapReport {
            site,
            month: month.to_string(),
            view,
            overlap: word,
        }
    });
    let reported = reported.collect();
    Ok((summaries, done, reported))
}

/// The views of the jobs of each place.
pub(crate) fn views(done: &[PartitionResult]) -> impl Iterator<Item = (SiteMonth, &str)> {
    done.iter().flat_map(|done| {
        let views = done.views.iter();
        views.map(|view| (SiteMonth::new(done.site.as_str(), done.month), view.as_str()))
    })
}

/// Settles and publishes every month in `months`: published rows together with `fresh` ones. Of the views in `jobs` they
/// do not count.
fn settle_months(
    context: &PartitionContext<'_>,
    state: &State,
    mut fresh: BTreeMap<Month, Vec<Summary>>,
    months: &BTreeSet<Month>,
    jobs: &Views,
) -> Result<SettledSummaries> {
    let publishing: BTreeMap<&str, Publishing> = (context.plan.sources.iter())
        .map(|source| (source.name.as_str(), source.publishing))
        .collect();
    let mut settled = SettledSummaries::default();
    for &month in months {
        // Fallback: a month without new rows keeps its own.
        let mut rows = fresh.remove(&month).unwrap_or_default();
        if !context.selection.extent.is_rebuild() {
            read(context, state, month, &mut rows)?;
        }
        let mut by_site: BTreeMap<String, Vec<Summary>> = BTreeMap::new();
        for row in merge(rows, context.order, &publishing)? {
            by_site.entry(row.site.clone()).or_default().push(row);
        }
        for (site, rows) in by_site {
            let place = SiteMonth { site, month };
            settle_place(context, &state.book, place, rows, jobs, &mut settled)?;
        }
    }
    if context.selection.extent.is_rebuild() {
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

fn undecided(overlaps: &BTreeSet<OverlapPlace>) -> Error {
    /// Places named.
    const NAMED: usize = 5;
    let named: Vec<String> = (overlaps.iter().take(NAMED))
        .map(|OverlapPlace { site, month, view }| format!("{site} {month} ({view})"))
        .collect();
    let more = overlaps.len().less(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Error::config(format!(
        "jobs and summaries of the same usage: {}{more}; set in [pipeline] which of them counts: overlap = \"jobs\", \
         \"summaries\" or \"reject\"",
        named.join(", ")
    ))
}

/// Adds what is published of a month, of all sites.
pub(crate) fn read(context: &PartitionContext<'_>, state: &State, month: Month, rows: &mut Vec<Summary>) -> Result<()> {
    for SiteMonth { site, .. } in state.summaries().iter().filter(|of| of.month == month) {
        for dataset in ["summary", "summary_history"] {
            let path = lake::month_path(dataset, site, month);
            for batch in lake::batches(context.publication, &path)?.into_iter().flatten() {
                rows.append(&mut from_batch(&batch?, site, month)?);
            }
        }
    }
    Ok(())
}

/// Decides and publishes one site and month.
fn settle_place(
    context: &PartitionContext<'_>,
    book: &Book,
    place: SiteMonth,
    mut rows: Vec<Summary>,
    jobs: &Views,
    settled: &mut SettledSummaries,
) -> Result<()> {
    let SiteMonth { site, month } = &place;
    let mut usage = SummaryUsage::new(context.plan.summing(), site);
    for row in &mut rows {
        if row.reason == Reason::SummaryRecord && usage.scale(row) == Scale::Rejected {
            row.reason = Reason::SummaryBenchmarkMissing;
        }
    }
    rows.sort_by(|a, b| sorting(a).cmp(&sorting(b)));
    let lost = match context.plan.overlap {
        Some(Overlap::Reject) => Reason::OverlapsJobs,
        _ => Reason::JobsCount,
    };
    for row in rows.iter_mut().filter(|row| row.reason == Reason::SummaryRecord) {
        // Fallback: a summary of no stated view counts under the empty one.
        let view = row.words.view.as_deref().unwrap_or_default();
        if has_view(jobs, &place, view) {
            settled.overlaps.insert(OverlapPlace {
                site: site.clone(),
                month: *month,
                view: view.to_owned(),
            });
            row.reason = lost;
        } else if !usage.has_room(row) {
            row.reason = Reason::SummarySumLimit;
        } else {
            let counting = settled.counting.entry(folded(&place)).or_default();
            if !counting.contains(view) {
                counting.insert(view.to_owned());
            }
        }
    }
    let mut counts = Settled::new();
    for row in &rows {
        *counts.entry(FileReason::new(&row.file_id, row.reason)).or_default() += 1;
    }
    let (winners, others): (Vec<&Summary>, Vec<&Summary>) =
        rows.iter().partition(|row| row.reason.outcome() == Outcome::Accepted);
    publish(context, "summary", &place, &winners)?;
    publish(context, "summary_history", &place, &others)?;
    reject(context, &place, &others)?;
    settled.asked.insert(place.clone(), usage.asked());
    settled.kinds.add(&place, &winners, book)?;
    for row in winners {
        usage.add(row);
    }
    let groups = usage.into_sorted();
    sums::check(&groups).map_err(|e| e.at("month", month).at("site", site))?;
    settled.parts.push(UsagePart {
        site: site.clone(),
        month: *month,
        groups: HeldGroups::new(groups)?,
    });
    settled.settled.push((place, counts));
    Ok(())
}

/// The order of rows in a file; nulls first.
fn sorting(row: &Summary) -> (&str, [Option<&str>; 3], u128, &str, i64, i64) {
    let words = [&row.words.vo, &row.words.global_user, &row.words.submit_host].map(Option::as_deref);
    let kind = row.kind.as_str();
    (kind, words, row.summary_id, &row.file_id, row.line, row.byte_offset)
}

fn publish(
    context: &PartitionContext<'_>,
    dataset: &str,
    SiteMonth { site, month }: &SiteMonth,
    rows: &[&Summary],
) -> Result<()> {
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
        .filter_map(|row| context.hashes.get(&row.file_id).map(|blake3| &**blake3))
        .collect();
    let hashes: Vec<&str> = hashes.into_iter().collect();
    table.finish(&[
        ("gridtally.pipeline".to_owned(), context.plan.name.clone()),
        ("gridtally.inputs_blake3".to_owned(), hashes.join(" ")),
    ])?;
    Ok(())
}

/// Publishes the rows refused at this stage, or removes what is published of them. They stay in `summary_history`.
fn reject(context: &PartitionContext<'_>, SiteMonth { site, month }: &SiteMonth, rows: &[&Summary]) -> Result<()> {
    let path = lake::overlap_path(site, *month);
    let mut rows: Vec<&&Summary> = (rows.iter())
        .filter(|row| row.reason.outcome() == Outcome::Rejected)
        .collect();
    if rows.is_empty() {
        context.publication.remove(&path);
        return Ok(());
    }
    rows.sort_by_key(|row| (&row.file_id, row.line, row.byte_offset));
    let refused = rows.iter().map(|row| RefusedRow {
        source: &row.source,
        file_id: &row.file_id,
        path: context.paths.get(&row.file_id).map_or("", |path| path),
        line: row.line,
        byte_offset: row.byte_offset,
        reason: row.reason,
        detail: match row.reason {
            Reason::OverlapsJobs => Cow::Owned(format!(
                "{site} has jobs of the view {} in {month}, and the pipeline rejects summaries where there are jobs",
                // Fallback: the message shows a summary without a view as such.
                row.words.view.as_deref().unwrap_or_default()
            )),
            Reason::SummarySumLimit => Cow::Owned(format!(
                "the sums of {site} in {month} cannot take the summary: its summaries come to more than any site has"
            )),
            _ => Cow::Borrowed("no benchmark is known for the summary"),
        },
        rows: 1,
        raw_byte_n: 0,
        raw: None,
        record_id: Some(row.summary_id),
    });
    let mut table = LakeTable::create(context.publication, "rejects", &path)?;
    table.write(&reject_rows::batch(&refused.collect::<Vec<_>>())?)?;
    table.finish(&[])?;
    Ok(())
}
