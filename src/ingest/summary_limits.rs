//! How many summaries are held in memory: what goes beyond is refused by file and line, and the rest is published.
//!
//! A month of summaries is settled at once, with all its versions of all sites. The room of a month goes to its files in the
//! order of their arrival, which is the order in which their versions replace each other: a lake made of files that came
//! run by run, in that order, is the lake of all of them at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::read_file::{LedgerFiles, ReadFile, Reading};
use crate::dedupe::file_order::FileOrder;
use crate::error::Result;
use crate::ledger::Book;
use crate::ledger::path_contents::PathContents;
use crate::numbers::{Extent, index_u64, tally};
use crate::time::Month;

/// How many summaries are held in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SummaryLimits {
    /// Of one file: a month of the largest central server has some 100 000.
    pub file_n: usize,
    /// Of one month: all versions of the summaries of all sites.
    pub month_n: usize,
}

impl Default for SummaryLimits {
    fn default() -> Self {
        Self {
            file_n: 2_000_000,
            month_n: 4_000_000,
        }
    }
}

impl SummaryLimits {
    /// Refuses the summaries that were read beyond the limits. `book` knows what the lake holds of other files.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when refusals cannot be stored.
    pub(crate) fn hold(&self, files: LedgerFiles<'_>, read: &mut [ReadFile], book: &Book) -> Result<()> {
        for read in &mut *read {
            read.hold_summaries(self.file_n)?;
        }
        let mut room = self.room(files, read, book);
        if room.is_empty() {
            return Ok(());
        }
        let contents = PathContents::of(files.readings.iter().flat_map(Reading::found_paths), &[book]);
        let arrived = files.readings.iter().zip(files.ids);
        let arrived = arrived.map(|(reading, file_id)| reading.arrived(file_id, &contents));
        let order = FileOrder::new(arrived.collect());
        let mut by_rank: Vec<(u32, &mut ReadFile)> = Vec::with_capacity(read.len());
        for (file_id, read) in files.ids.iter().zip(read) {
            by_rank.push((order.rank(file_id)?, read));
        }
        by_rank.sort_by_key(|(rank, _)| *rank);
        let detail = format!(
            "its month has {} versions of summaries without it, and no more are held",
            self.month_n
        );
        for (_, read) in by_rank {
            read.keep_summaries(&detail, |summary| {
                let Some(left) = room.get_mut(&summary.month) else {
                    return true;
                };
                let has_room = *left > 0;
                *left = left.less(1); // none left: the row is refused
                has_room
            })?;
        }
        Ok(())
    }

    /// How many more versions there is room for in the months that have too many.
    fn room(&self, files: LedgerFiles<'_>, read: &[ReadFile], book: &Book) -> BTreeMap<Month, usize> {
        let mut fresh: BTreeMap<Month, usize> = BTreeMap::new();
        for summary in read.iter().flat_map(|read| &read.summaries) {
            *fresh.entry(summary.month).or_default() += 1;
        }
        let read_now: BTreeSet<&Arc<str>> = files.ids.iter().collect();
        let mut held: BTreeMap<Month, usize> = BTreeMap::new();
        for file_id in book.inputs().keys().filter(|file_id| !read_now.contains(file_id)) {
            for (place, rows) in book.places(file_id).into_iter().flatten() {
                let is_held = |month: &Month| place.reason.is_of_summaries() && fresh.contains_key(month);
                if let Some(month) = place.month.filter(is_held) {
                    // More than there are addresses is beyond every limit.
                    let rows = index_u64(*rows);
                    let of_month = held.entry(month).or_default();
                    *of_month = of_month.further(rows);
                }
            }
        }
        let months = fresh.into_iter().filter_map(|(month, fresh_n)| {
            let held_n = tally(held.get(&month).copied());
            let left = self.month_n.less(held_n); // a lake of before the limit may hold more
            (fresh_n > left).then_some((month, left))
        });
        months.collect()
    }
}
