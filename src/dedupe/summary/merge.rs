//! Which summaries of a month count: by key, as APEL's server replaces rows, or by publication.
//!
//! * **Upsert**: of the versions of a row (equal [`Summary::summary_id`]) the last to arrive counts. A row that a later
//!   publication no longer holds stays for ever: republishing with another benchmark, VO spelling, submit host or site
//!   name doubles the usage. That is what APEL's server does.
//! * **Snapshot**: of the publications of a month only the last to arrive counts, whole, for its source or for each site
//!   in it. A publication is one input file, or several of one folder or one time (see [`SummaryParts`]).
//!
//! The last is what was made last, as rows state it; where they do not, when their file arrived by its name; what has
//! none precedes the others, in the order of the paths.
//!
//! Both are computed from all versions ever read, so the order in which files are read does not matter.

use std::collections::{BTreeMap, BTreeSet};

use super::publishing::{Publishing, Replacement, SummaryParts, SummaryPublication};
use crate::dedupe::file_order::FileOrder;
use crate::error::Result;
use crate::ledger::Reason;
use crate::numbers::tally;
use crate::record::summary::{Summary, SummaryKind};

/// When something was made or arrived, and of equal instants by its file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SummaryInstant {
    /// Unix milliseconds.
    at_ms: Option<i64>,
    /// Of its file.
    rank: u32,
}

/// The place of a publication.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SummaryScope {
    source: String,
    kind: SummaryKind,
    /// Where a publication is one of a site.
    site: Option<String>,
}

/// Settles [`Summary::reason`] and [`Summary::is_stale`] of every version of the rows of one month, of all sites. A
/// row read twice is one row.
///
/// # Errors
/// [`crate::error::Kind::Internal`] for a file no ledger knows.
pub fn merge(
    mut rows: Vec<Summary>,
    order: &FileOrder,
    publishing: &BTreeMap<&str, Publishing>,
) -> Result<Vec<Summary>> {
    rows.sort_by(|a, b| (&a.file_id, a.line, a.byte_offset).cmp(&(&b.file_id, b.line, b.byte_offset)));
    rows.dedup_by(|a, b| (&a.file_id, a.line, a.byte_offset) == (&b.file_id, b.line, b.byte_offset));
    let of = |row: &Summary| tally(publishing.get(row.source.as_str()).copied());
    let mut files: BTreeMap<SummaryScope, (SummaryParts, BTreeMap<u32, Option<i64>>)> = BTreeMap::new();
    for row in &rows {
        if let Some(scope) = scope(row, of(row)) {
            let SummaryInstant { at_ms, rank } = instant(row, order)?;
            let (_, ranks) = files.entry(scope).or_insert_with(|| (of(row).parts, BTreeMap::new()));
            let newest_ms = ranks.entry(rank).or_default();
            *newest_ms = (*newest_ms).max(at_ms);
        }
    }
    let latest: BTreeMap<SummaryScope, BTreeSet<u32>> = (files.into_iter())
        .map(|(scope, (parts, ranks))| {
            let files = ranks
                .into_iter()
                .map(|(rank, at_ms)| SummaryInstant { at_ms, rank })
                .collect();
            (scope, last_publication(&files, parts, order))
        })
        .collect();
    let mut ranked: Vec<(SummaryInstant, Summary)> = Vec::with_capacity(rows.len());
    for mut row in rows {
        let at = instant(&row, order)?;
        row.is_stale =
            scope(&row, of(&row)).map(|scope| latest.get(&scope).is_some_and(|last| !last.contains(&at.rank)));
        ranked.push((at, row));
    }
    // The newest version of each row first.
    ranked.sort_by(|(a_at, a), (b_at, b)| {
        (a.summary_id, b_at, b.line, b.byte_offset).cmp(&(b.summary_id, a_at, a.line, a.byte_offset))
    });
    let mut settled = Vec::with_capacity(ranked.len());
    let mut is_taken = false;
    let mut newer: Option<(u128, u64)> = None;
    for (_, mut row) in ranked {
        let is_newest = newer.is_none_or(|(id, _)| id != row.summary_id);
        is_taken &= !is_newest;
        let is_dropped = row.is_stale == Some(true) && of(&row).replacement == Replacement::Snapshot;
        row.reason = if !is_taken && !is_dropped {
            is_taken = true;
            row.kind.accepted()
        } else if is_newest {
            Reason::StaleSummary
        } else if newer.is_some_and(|(_, hash)| hash == row.content_hash) {
            Reason::SameSummary
        } else {
            Reason::LaterSummary
        };
        newer = Some((row.summary_id, row.content_hash));
        settled.push(row);
    }
    Ok(settled)
}

/// When a row was made, or else when its file arrived.
fn instant(row: &Summary, order: &FileOrder) -> Result<SummaryInstant> {
    let rank = order.rank(&row.file_id)?;
    let arrived_ms = || order.origin(rank).and_then(|origin| origin.arrival_ms);
    Ok(SummaryInstant {
        at_ms: row.made_ms.or_else(arrived_ms),
        rank,
    })
}

/// The files, by rank, of the last publication among these.
fn last_publication(files: &BTreeSet<SummaryInstant>, parts: SummaryParts, order: &FileOrder) -> BTreeSet<u32> {
    let last = files
        .last()
        .and_then(|last| Some((last.at_ms, last.rank, order.origin(last.rank)?)));
    let Some((mut next_ms, last, origin)) = last else {
        return BTreeSet::new();
    };
    let mut held = BTreeSet::from([last]);
    for &SummaryInstant { at_ms, rank } in files.iter().rev().skip(1) {
        let Some(other) = order.origin(rank) else { continue };
        let is_part = match parts {
            SummaryParts::File => false,
            SummaryParts::Folder => other.folder == origin.folder,
            SummaryParts::Within { pause_ms } => {
                // Fallback: instants of messages are bounded by their years, far within 63 bits.
                let pause = next_ms.zip(at_ms).map(|(next, own)| next.saturating_sub(own));
                next_ms = at_ms;
                // A pause ends the publication, however close what came before it was.
                if pause.is_none_or(|pause| pause > pause_ms) {
                    break;
                }
                true
            }
        };
        if is_part {
            held.insert(rank);
        }
    }
    held
}

fn scope(row: &Summary, publishing: Publishing) -> Option<SummaryScope> {
    let site = match publishing.publication? {
        SummaryPublication::Source => None,
        SummaryPublication::Site => Some(row.site.clone()),
    };
    Some(SummaryScope {
        source: row.source.clone(),
        kind: row.kind,
        site,
    })
}
