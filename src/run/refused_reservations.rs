//! Windows of reservations that the sums of their site and month cannot take: refused one by one, by file and line.
//!
//! Windows of a month have the room that its jobs have in `usage` (see [`crate::summarise::budget`]), and take it in the order
//! of their start. Which these are depends on all windows that are listed, so that every run decides on all of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::partition_context::PartitionContext;
use crate::error::Result;
use crate::ingest::reject_rows;
use crate::ingest::reject_rows::RefusedRow;
use crate::ledger::{Book, Reason};
use crate::numbers::{Comparand, stored_u64};
use crate::record::SiteMonth;
use crate::schema::batch::{addend, int, number, time};
use crate::store::lake::{self, LakeTable};
use crate::summarise::RefusedJob;
use crate::summarise::budget::{self, LoadClass, MonthBudget, VAST_JOB};

/// Where a window was read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WindowOrigin {
    pub(crate) file_id: Arc<str>,
    pub(crate) line: i64,
    pub(super) source: String,
    pub(crate) name: String,
    /// Input rows it accounts for.
    pub(super) input_row_n: i64,
}

/// The windows of a month that its sums cannot take; `records` are those of all, in the order of their start.
pub(super) fn beyond_sums(records: &RecordBatch) -> Result<Vec<RefusedJob>> {
    let (start, end) = (time(records, "start_utc")?, time(records, "end_utc")?);
    let wall = int(records, "wall_s")?;
    let counts = ["alloc_core_n", "alloc_node_n", "alloc_gpu_n"].map(|name| int(records, name));
    let counts = counts.into_iter().collect::<Result<Vec<_>>>()?;
    let mut budget = MonthBudget::default();
    let mut refused = Vec::new();
    for row in 0..records.num_rows() {
        let (wall_s, start_ms, end_ms) = (wall.value(row), start.value(row), end.value(row));
        let held = counts
            .iter()
            .map(|counts| wall_s.product_to_compare(addend(number(counts, row))));
        let load = budget::load([1, wall_s].into_iter().chain(held));
        let class = LoadClass::of(load, VAST_JOB, start_ms, start_ms, end_ms);
        if !budget.admit(class, load) {
            let reason = Reason::ReservationSumLimit;
            refused.push(RefusedJob { row, reason });
        }
    }
    Ok(refused)
}

/// The refused windows of all sites and months.
#[derive(Debug, Default)]
pub(super) struct RefusedWindows(BTreeMap<SiteMonth, BTreeSet<WindowOrigin>>);

impl RefusedWindows {
    /// Adds those of a site and month.
    pub(super) fn add(&mut self, place: &SiteMonth, refused: impl Iterator<Item = WindowOrigin>) {
        let mut refused = refused.peekable();
        if refused.peek().is_some() {
            self.0.entry(place.clone()).or_default().extend(refused);
        }
    }

    /// Publishes them as `rejects`, takes away those that are not refused any more, and moves their rows in the ledger.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written; [`crate::error::Kind::Internal`] when the ledger does not
    /// have their rows.
    pub(super) fn publish(&self, context: &PartitionContext<'_>, book: &mut Book) -> Result<()> {
        for (place, windows) in &self.0 {
            publish_place(context, book, place, windows)?;
        }
        let kept: BTreeSet<String> = self.0.keys().map(path).collect();
        for path in context.publication.paths("rejects") {
            if lake::is_refused_reservations_path(&path) && !kept.contains(&path) {
                context.publication.remove(&path);
            }
        }
        let mut rows: BTreeMap<&str, u64> = BTreeMap::new();
        for window in self.0.values().flatten() {
            *rows.entry(&window.file_id).or_default() += stored_u64(window.input_row_n, "input_row_n")?;
        }
        book.settle_listings(Reason::ReservationSumLimit, &rows)
    }
}

fn path(place: &SiteMonth) -> String {
    lake::refused_reservations_path(&place.site, place.month)
}

fn publish_place(
    context: &PartitionContext<'_>,
    book: &Book,
    place: &SiteMonth,
    windows: &BTreeSet<WindowOrigin>,
) -> Result<()> {
    let path_of = |window: &WindowOrigin| book.inputs().get(&window.file_id)?.paths.first().map(|path| &**path);
    let refused = windows.iter().map(|window| RefusedRow {
        source: &window.source,
        file_id: &window.file_id,
        // Fallback: a file that the ledger no longer names has no path to show.
        path: path_of(window).unwrap_or_default(),
        line: window.line,
        byte_offset: 0,
        reason: Reason::ReservationSumLimit,
        detail: Cow::Owned(format!(
            "the sums of {} in {} cannot take reservation {:?}: its windows come to more than any site has",
            place.site, place.month, window.name
        )),
        rows: window.input_row_n,
        raw_byte_n: 0,
        raw: None,
        record_id: None,
    });
    let mut table = LakeTable::create(context.publication, "rejects", &path(place))?;
    table.write(&reject_rows::batch(&refused.collect::<Vec<_>>())?)?;
    table.finish(&[])?;
    Ok(())
}
