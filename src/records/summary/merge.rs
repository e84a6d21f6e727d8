//! Which summaries of a month count: by key, as APEL's server replaces rows, or by publication.
//!
//! * **Upsert**: of the versions of a row (equal [`Summary::summary_id`]) the last to arrive counts. A row that a later
//!   publication no longer holds stays for ever: republishing with another benchmark, VO spelling, submit host or site
//!   name doubles the usage. That is what APEL's server does.
//! * **Snapshot**: of the publications of a month only the last to arrive counts, whole, for its source or for each site
//!   in it. A publication is one input file, or several of one folder or one time (see [`Parts`]).
//!
//! Both are computed from all versions ever read, so the order in which files are read does not matter.

use std::collections::{BTreeMap, BTreeSet};

use super::row::{Summary, SummaryKind};
use crate::error::Result;
use crate::ledger::Reason;
use crate::pipeline::plan::{Parts, Publication, Publishing, Replacement};
use crate::records::file_order::FileOrder;

/// A publication's place: source, kind, and the site where a publication is one of a site.
type Scope = (String, SummaryKind, Option<String>);

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
    let of = |row: &Summary| publishing.get(row.source.as_str()).copied().unwrap_or_default();
    let mut files: BTreeMap<Scope, (Parts, BTreeSet<u32>)> = BTreeMap::new();
    for row in &rows {
        if let Some(scope) = scope(row, of(row)) {
            let rank = order.rank(&row.file_id)?;
            let (_, ranks) = files.entry(scope).or_insert_with(|| (of(row).parts, BTreeSet::new()));
            ranks.insert(rank);
        }
    }
    let latest: BTreeMap<Scope, BTreeSet<u32>> = (files.into_iter())
        .map(|(scope, (parts, ranks))| (scope, last_publication(&ranks, parts, order)))
        .collect();
    let mut ranked: Vec<(u32, Summary)> = Vec::with_capacity(rows.len());
    for mut row in rows {
        let rank = order.rank(&row.file_id)?;
        row.is_stale = scope(&row, of(&row)).map(|scope| latest.get(&scope).is_some_and(|last| !last.contains(&rank)));
        ranked.push((rank, row));
    }
    // The newest version of each row first.
    ranked.sort_by(|(a_rank, a), (b_rank, b)| {
        (a.summary_id, b_rank, b.line, b.byte_offset).cmp(&(b.summary_id, a_rank, a.line, a.byte_offset))
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

/// The files, by rank, of the last publication among these.
fn last_publication(ranks: &BTreeSet<u32>, parts: Parts, order: &FileOrder) -> BTreeSet<u32> {
    let Some((&last, origin)) = ranks.last().and_then(|last| Some((last, order.origin(*last)?))) else {
        return BTreeSet::new();
    };
    let mut held = BTreeSet::from([last]);
    let mut next_ms = origin.arrival_ms;
    for &rank in ranks.iter().rev().skip(1) {
        let Some(other) = order.origin(rank) else { continue };
        let is_part = match parts {
            Parts::File => false,
            Parts::Folder => other.folder == origin.folder,
            Parts::Within { pause_ms } => {
                let pause = next_ms
                    .zip(other.arrival_ms)
                    .map(|(next, own)| next.saturating_sub(own));
                next_ms = other.arrival_ms;
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

fn scope(row: &Summary, publishing: Publishing) -> Option<Scope> {
    let site = match publishing.publication? {
        Publication::Source => None,
        Publication::Site => Some(row.site.clone()),
    };
    Some((row.source.clone(), row.kind, site))
}
