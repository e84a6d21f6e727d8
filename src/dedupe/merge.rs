//! One bucket at a time: which row of each job is accepted, and what becomes of the others.
//!
//! The order among versions of one job is total and does not depend on when a row was read, so a lake built night by
//! night holds what a lake built in one go holds.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{Array, RecordBatch, UInt32Array, new_null_array};
use arrow_select::interleave::interleave;

use super::file_order::FileOrder;
use super::packed;
use super::reduced::{ReducedJobs, ReducedRow, RowAmounts};
use super::version::{RecordVersion, Versions};
use crate::error::{Error, Result};
use crate::ledger::Outcome;
use crate::numbers::Extent;
use crate::schema;
use crate::schema::batch::{decoded, id, identity, time};

/// A row that lost, as `history` keeps it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loser {
    /// Instant that places it.
    pub record_ms: i64,
    /// Identity.
    pub record_id: u128,
    /// Input file.
    pub file_id: Arc<str>,
    /// Line.
    pub line: i64,
    /// Steps that came with it.
    pub step_n: i64,
    /// Content.
    pub content_hash: u64,
    /// Duplicate or superseded.
    pub outcome: Outcome,
}

/// A bucket, resolved.
pub struct Merged {
    /// The accepted rows, sorted by (`record_utc`, `record_id`); texts may be coded.
    pub winners: RecordBatch,
    /// The others, sorted.
    pub losers: Vec<Loser>,
    /// Jobs whose accepted rows have less than others of them, among the rows at hand.
    pub reduced: ReducedJobs,
}

/// A row and what places it among the others.
struct MergePlace {
    record_ms: i64,
    record_id: u128,
    batch: usize,
    row: usize,
}

/// Resolves one bucket: `published` are the accepted rows of earlier runs, `fresh` the candidates of this one (a
/// gathered batch), `earlier` the rows that lost before. A row read again (same file, same line) is the same row, not
/// a duplicate.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a batch is not what the schema declares.
pub fn merge(
    published: &[RecordBatch],
    fresh: Option<&RecordBatch>,
    earlier: Vec<Loser>,
    order: &FileOrder,
) -> Result<Merged> {
    if let ([], [], Some(fresh)) = (published, &*earlier, fresh)
        && has_unique_ids(fresh)?
    {
        let winners = packed::to_records(fresh, None)?;
        return Ok(Merged {
            winners,
            losers: Vec::new(),
            reduced: ReducedJobs::default(),
        });
    }
    let ResolvedRows { rows, losers, reduced } = resolved(published, fresh, earlier, order)?;
    let winners = if let ([], Some(fresh)) = (published, fresh) {
        pick_fresh(fresh, &rows)?
    } else {
        let mut batches = published.iter().map(decoded).collect::<Result<Vec<_>>>()?;
        if let Some(fresh) = fresh {
            batches.push(decoded(&packed::to_records(fresh, None)?)?);
        }
        pick(&batches, &rows)?
    };
    let reduced = ReducedJobs::of(&reduced, &winners, |at| at)?;
    Ok(Merged {
        winners,
        losers,
        reduced,
    })
}

/// Which rows are accepted, and the others.
pub(super) struct ResolvedRows {
    /// Batch and row of each accepted row, sorted by (`record_utc`, `record_id`).
    pub(super) rows: Vec<(usize, usize)>,
    /// The others, sorted.
    pub(super) losers: Vec<Loser>,
    /// The accepted rows that have less than others of their jobs.
    pub(super) reduced: Vec<ReducedRow>,
}

/// As [`merge`], without making the accepted rows.
pub(super) fn resolved(
    published: &[RecordBatch],
    fresh: Option<&RecordBatch>,
    earlier: Vec<Loser>,
    order: &FileOrder,
) -> Result<ResolvedRows> {
    let batches = || published.iter().chain(fresh);
    let mut places = Vec::with_capacity(batches().map(RecordBatch::num_rows).sum());
    for (at, batch) in batches().enumerate() {
        collect(batch, at, &mut places)?;
    }
    places.sort_unstable_by_key(|place| (place.record_ms, place.record_id, place.batch, place.row));
    let mut lost: HashMap<u128, Vec<Loser>> = HashMap::new();
    for loser in earlier {
        lost.entry(loser.record_id).or_default().push(loser);
    }
    let mut batches: Vec<Versions<'_>> = batches().map(Versions::new).collect::<Result<_>>()?;
    let mut rows = Vec::with_capacity(places.len());
    let (mut losers, mut reduced) = (Vec::new(), Vec::new());
    for same in places.chunk_by(|a, b| a.record_id == b.record_id) {
        // Nearly every job has one row: then there is nothing to compare.
        if let [only] = same
            && (lost.is_empty() || !lost.contains_key(&only.record_id))
        {
            rows.push((only.batch, only.row));
            continue;
        }
        // Fallback: a job that lost no version before has none to compare.
        let known = lost.remove(&only_id(same)).unwrap_or_default();
        let mut resolved = resolve(same, &mut batches, order, known)?;
        let ResolvedJob { accepted, most, .. } = resolved;
        if accepted.is_less_than(most) {
            let at = rows.len();
            reduced.push(ReducedRow { at, accepted, most });
        }
        rows.push(resolved.winner);
        if losers.is_empty() {
            losers = resolved.losers;
        } else {
            losers.append(&mut resolved.losers);
        }
    }
    if !lost.is_empty() {
        return Err(Error::internal("history knows a job that records has lost"));
    }
    losers.sort_unstable();
    Ok(ResolvedRows { rows, losers, reduced })
}

/// The identity that rows of one job share.
fn only_id(same: &[MergePlace]) -> u128 {
    same.first().map_or(0, |place| place.record_id)
}

/// The rows of one job, resolved.
struct ResolvedJob {
    /// Place of the accepted row: its batch, and the row there.
    winner: (usize, usize),
    losers: Vec<Loser>,
    /// What the accepted row has.
    accepted: RowAmounts,
    /// The most that any of the rows at hand has. Of those that lost before, an earlier run has reported it.
    most: RowAmounts,
}

/// Resolves the rows of one job; `known` are those that lost before. One row may occur millions of times.
fn resolve(
    same: &[MergePlace],
    batches: &mut [Versions<'_>],
    order: &FileOrder,
    known: Vec<Loser>,
) -> Result<ResolvedJob> {
    let reported: HashSet<(Arc<str>, i64)> = known.iter().map(|of| (Arc::clone(&of.file_id), of.line)).collect();
    let mut losers = Vec::with_capacity(known.len() + same.len().less(1));
    losers.extend(known);
    let known_n = losers.len();
    let mut best: Option<(RecordVersion, &MergePlace)> = None;
    let mut most = RowAmounts { cpu_ms: -1, step_n: 0 };
    for place in same {
        let versions = batches.get_mut(place.batch);
        let versions = versions.ok_or_else(|| Error::internal("a row of no batch"))?;
        let mut other = (versions.version(place.row, order)?, place);
        most = most.most(other.0.amounts());
        match &mut best {
            // Of equal worth is the same row, read again: the first stays.
            Some(best) => {
                if other.0.worth > best.0.worth {
                    std::mem::swap(best, &mut other);
                }
            }
            none => {
                *none = Some(other);
                continue;
            }
        }
        let (version, at) = other;
        losers.push(Loser {
            record_ms: at.record_ms,
            record_id: at.record_id,
            file_id: version.file_id,
            line: version.line,
            step_n: version.step_n,
            content_hash: version.content_hash,
            // Settled below, when it is known which row is accepted.
            outcome: Outcome::Duplicate,
        });
    }
    let (winner, place) = best.ok_or_else(|| Error::internal("a job without a row"))?;
    let mut nth = 0;
    losers.retain(|loser: &Loser| {
        nth += 1;
        let is_winner = loser.file_id == winner.file_id && loser.line == winner.line;
        nth <= known_n
            || (!is_winner && (reported.is_empty() || !reported.contains(&(Arc::clone(&loser.file_id), loser.line))))
    });
    for loser in &mut losers {
        loser.outcome = outcome(loser.content_hash, winner.content_hash);
    }
    losers.sort_unstable();
    losers.dedup_by(|next, kept| next.file_id == kept.file_id && next.line == kept.line);
    Ok(ResolvedJob {
        winner: (place.batch, place.row),
        losers,
        accepted: winner.amounts(),
        most,
    })
}

/// Whether the rows are in order and no job occurs twice, as most days of most sites are: then nothing has to be
/// resolved.
fn has_unique_ids(fresh: &RecordBatch) -> Result<bool> {
    let (ids, _) = id(fresh, "record_id")?.value_data().as_chunks();
    let mut last = None;
    for (record_ms, id) in time(fresh, "record_utc")?.values().iter().zip(ids) {
        let this = (*record_ms, u128::from_be_bytes(*id));
        if last.is_some_and(|last: (i64, u128)| last >= this || last.1 == this.1) {
            return Ok(false);
        }
        last = Some(this);
    }
    Ok(true)
}

fn collect(batch: &RecordBatch, at: usize, into: &mut Vec<MergePlace>) -> Result<()> {
    let (record_id, record_utc) = (id(batch, "record_id")?, time(batch, "record_utc")?);
    for row in 0..batch.num_rows() {
        into.push(MergePlace {
            record_ms: record_utc.value(row),
            record_id: identity(record_id, row)?,
            batch: at,
            row,
        });
    }
    Ok(())
}

/// The rows picked from one gathered batch.
fn pick_fresh(fresh: &RecordBatch, rows: &[(usize, usize)]) -> Result<RecordBatch> {
    let is_all = rows.len() == fresh.num_rows() && rows.iter().enumerate().all(|(at, (_, row))| at == *row);
    if is_all {
        return packed::to_records(fresh, None);
    }
    let rows = rows.iter().map(|(_, row)| u32::try_from(*row));
    let rows: Vec<u32> = rows
        .collect::<std::result::Result<_, _>>()
        .map_err(|e| Error::internal("a bucket of more than 4 billion rows").because(e))?;
    packed::to_records(fresh, Some(&UInt32Array::from(rows)))
}

/// The rows picked from the batches. A dialect leaves a third of the columns empty: those are made, not copied.
fn pick(batches: &[RecordBatch], rows: &[(usize, usize)]) -> Result<RecordBatch> {
    let schema = schema::dataset("records")?.arrow();
    let columns = schema.fields().iter().enumerate().map(|(at, field)| {
        let arrays: Vec<&dyn Array> = batches
            .iter()
            .filter_map(|batch| Some(batch.columns().get(at)?.as_ref()))
            .collect();
        if arrays.iter().all(|array| array.null_count() == array.len()) {
            return Ok(new_null_array(field.data_type(), rows.len()));
        }
        Ok(interleave(&arrays, rows)?)
    });
    Ok(RecordBatch::try_new(
        Arc::clone(&schema),
        columns.collect::<Result<_>>()?,
    )?)
}

/// The outcome of a row other than the accepted one.
pub(super) fn outcome(content: u64, winner: u64) -> Outcome {
    if content == winner {
        Outcome::Duplicate
    } else {
        Outcome::Superseded
    }
}
