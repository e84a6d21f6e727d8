//! One day of one site, a piece at a time: what is published of it is merged with what was read, in bounded memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;

use super::days::{DayBatches, last_key, rows_until};
use super::fresh_days::DaySlices;
use super::partition_context::PartitionContext;
use crate::dedupe::fresh_slice::FreshSlice;
use crate::dedupe::history;
use crate::dedupe::keys::RecordKey;
use crate::dedupe::losers::{LoserSources, WinnerWalk};
use crate::dedupe::merge::{Loser, merge};
use crate::dedupe::reduced::ReducedJobs;
use crate::error::{Error, Result};
use crate::schema::batch::text;
use crate::time::Day;

/// Published rows of a piece, about.
const PIECE_ROWS: usize = 1 << 14;
/// Rows that lost in earlier runs and are held at once.
const KNOWN_MOST: usize = 1 << 16;
/// Rows of `history` that are made at a time.
pub(super) const HISTORY_ROWS: usize = 1 << 16;

/// What was published of one site and month.
pub(super) struct PublishedRows {
    records: DayBatches,
    losers: DayBatches,
    /// Rows of `losers` that were read and not yet used, in order.
    known: std::iter::Peekable<std::vec::IntoIter<Loser>>,
}

impl PublishedRows {
    pub(super) fn new(records: DayBatches, losers: DayBatches) -> Self {
        Self {
            records,
            losers,
            known: Vec::new().into_iter().peekable(),
        }
    }

    /// The next day that has accepted rows.
    pub(super) fn next_day(&mut self) -> Result<Option<Day>> {
        self.records.next_day()
    }

    /// Checks that all days were taken.
    pub(super) fn finish(&mut self) -> Result<()> {
        if self.known.peek().is_some() || self.losers.next_day()?.is_some() {
            return Err(Error::internal("history has days that records lacks"));
        }
        Ok(())
    }

    /// The next row of a day that lost in an earlier run, if it lies not behind `last`. Those of `files` are passed over.
    fn next_known(&mut self, day: Day, last: Option<RecordKey>, files: &BTreeSet<Arc<str>>) -> Result<Option<Loser>> {
        loop {
            let is_near = |loser: &Loser| last.is_none_or(|last| loser.key() <= last);
            if self.known.peek().is_some() {
                let Some(loser) = self.known.next_if(is_near) else {
                    return Ok(None);
                };
                if files.contains(&loser.file_id) {
                    continue;
                }
                return Ok(Some(loser));
            }
            // One batch of what is left of the day.
            let (batches, _) = self.losers.take(day, None, 1)?;
            let Some(batch) = batches.first() else {
                return Ok(None);
            };
            self.known = history::from_batch(batch)?.into_iter().peekable();
        }
    }
}

/// Some rows of a day: all rows of the jobs between two keys.
pub(super) struct DayPiece {
    /// The accepted rows, in order.
    pub(super) batches: Vec<RecordBatch>,
    losers: PieceLosers,
    /// Jobs whose accepted rows have less than others of them.
    pub(super) reduced: ReducedJobs,
}

/// Rows of a piece that lost.
enum PieceLosers {
    /// All of them.
    Settled(Vec<Loser>),
    /// Those of the lake, up to a key: nothing was merged.
    Published(Option<RecordKey>),
    /// Those of the lake and of the slice, up to a key, and those at hand.
    Waiting {
        last: Option<RecordKey>,
        held: Vec<Loser>,
        own: Vec<Loser>,
    },
}

/// A day that is merged piece by piece.
pub(super) struct DayMerge<'a> {
    context: &'a PartitionContext<'a>,
    day: Day,
    published: &'a mut PublishedRows,
    /// `None` for a day without new records.
    fresh: Option<DaySlices<'a>>,
    slice: Option<FreshSlice>,
    /// Whether all rows of the slice were returned.
    is_taken: bool,
}

impl<'a> DayMerge<'a> {
    /// A day, with what is new of it.
    pub(super) fn new(
        context: &'a PartitionContext<'a>,
        day: Day,
        fresh: Option<DaySlices<'a>>,
        published: &'a mut PublishedRows,
    ) -> Self {
        Self {
            context,
            day,
            published,
            fresh,
            slice: None,
            is_taken: false,
        }
    }

    /// The next piece; its losers are to be taken before the one after it.
    pub(super) fn next_piece(&mut self) -> Result<Option<DayPiece>> {
        if self.slice.is_none() || self.is_taken {
            self.slice = match (&mut self.fresh, &self.slice) {
                (Some(fresh), _) => fresh.next()?,
                (None, None) => Some(FreshSlice::default()),
                (None, Some(_)) => None,
            };
        }
        let Some(slice) = &mut self.slice else { return Ok(None) };
        let (batches, is_all) = self.published.records.take(self.day, slice.last, PIECE_ROWS)?;
        self.is_taken = is_all;
        let last = match batches.last() {
            Some(batch) if !is_all => last_key(batch)?,
            _ => slice.last,
        };
        if self.fresh.is_none() {
            let losers = PieceLosers::Published(last);
            return Ok(Some(DayPiece {
                batches,
                losers,
                reduced: ReducedJobs::default(),
            }));
        }
        let rows = slice.rows.take();
        let rows = match (rows, last) {
            (Some(rows), Some(last)) if !is_all => {
                let until = rows_until(&rows, last)?;
                slice.rows = Some(rows.slice(until, rows.num_rows() - until));
                Some(rows.slice(0, until)).filter(|rows| rows.num_rows() > 0)
            }
            (rows, _) => rows,
        };
        self.merged(batches, rows.as_ref(), last).map(Some)
    }

    /// Merges what is published with what is new, up to a key.
    fn merged(
        &mut self,
        published: Vec<RecordBatch>,
        fresh: Option<&RecordBatch>,
        last: Option<RecordKey>,
    ) -> Result<DayPiece> {
        let (order, files) = (self.context.order, &self.context.selection.read_again);
        let published = without(published, files)?;
        let mut held = Vec::new();
        let mut reduced = ReducedJobs::default();
        if let Some(slice) = &mut self.slice {
            reduced.add(std::mem::take(&mut slice.reduced));
        }
        if self.slice.as_ref().is_none_or(|slice| slice.losers.is_empty()) {
            while held.len() <= KNOWN_MOST
                && let Some(loser) = self.published.next_known(self.day, last, files)?
            {
                held.push(loser);
            }
            if held.len() <= KNOWN_MOST {
                let merged = merge(&published, fresh, held, order)?;
                reduced.add(merged.reduced);
                return Ok(DayPiece {
                    batches: vec![merged.winners],
                    losers: PieceLosers::Settled(merged.losers),
                    reduced,
                });
            }
        }
        let merged = merge(&published, fresh, Vec::new(), order)?;
        let own = merged.losers;
        reduced.add(merged.reduced);
        Ok(DayPiece {
            batches: vec![merged.winners],
            losers: PieceLosers::Waiting { last, held, own },
            reduced,
        })
    }

    /// Returns the superseded rows of a piece, in order, some at a time.
    pub(super) fn take_losers(&mut self, piece: DayPiece, take: &mut dyn FnMut(&[Loser]) -> Result<()>) -> Result<()> {
        match piece.losers {
            PieceLosers::Settled(losers) => losers.chunks(HISTORY_ROWS).try_for_each(take),
            PieceLosers::Published(last) => {
                let mut chunk = Vec::new();
                while let Some(loser) = self.published.next_known(self.day, last, &BTreeSet::new())? {
                    chunk.push(loser);
                    if chunk.len() == HISTORY_ROWS {
                        take(&std::mem::take(&mut chunk))?;
                    }
                }
                take(&chunk)
            }
            PieceLosers::Waiting { last, held, own } => {
                let [winners] = piece.batches.as_slice() else {
                    return Err(Error::internal("a piece was not merged"));
                };
                let (published, day, files) = (&mut *self.published, self.day, &self.context.selection.read_again);
                let mut held = held.into_iter();
                let known = || match held.next() {
                    Some(loser) => Ok(Some(loser)),
                    None => published.next_known(day, last, files),
                };
                let slice = &mut self.slice;
                let waiting = || match slice {
                    Some(slice) => slice.losers.next_until(last),
                    None => Ok(None),
                };
                LoserSources::new(known, waiting, own).settle(WinnerWalk::new(winners)?, HISTORY_ROWS, take)
            }
        }
    }
}

/// The rows of other files than these.
fn without(batches: Vec<RecordBatch>, files: &BTreeSet<Arc<str>>) -> Result<Vec<RecordBatch>> {
    if files.is_empty() {
        return Ok(batches);
    }
    let mut kept = Vec::with_capacity(batches.len());
    for batch in &batches {
        let of = text(batch, "file_id")?;
        let is_kept: BooleanArray = (0..batch.num_rows())
            .map(|row| Some(!files.contains(of.value(row))))
            .collect();
        let rows = filter_record_batch(batch, &is_kept)?;
        if rows.num_rows() > 0 {
            kept.push(rows);
        }
    }
    Ok(kept)
}
