//! Summaries in the proof of a lake: they account for themselves, and contribute their own amounts.

use std::collections::BTreeMap;

use super::counted::{CountedPlace, CountedRecords};
use super::report::VerifyReport;
use super::totals::VerifiedTotals;
use crate::dedupe::summary::from_batch;
use crate::error::Result;
use crate::lake::views::{Views, folded};
use crate::ledger::Outcome;
use crate::record::SiteMonth;
use crate::schema::batch::addend;
use crate::store::{Manifest, Store, lake, read_table};

/// What summaries that count are of.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SummarisedView {
    pub(super) place: SiteMonth,
    pub(super) view: String,
}

/// What the summaries that count come to.
pub(super) type Summarised = BTreeMap<SummarisedView, VerifiedTotals>;

/// Counts the summaries, and gives what those that count come to. Sync records are no usage.
pub(super) fn count(
    store: &Store,
    manifest: &Manifest,
    counted: &mut CountedRecords,
    report: &mut VerifyReport,
) -> Result<Summarised> {
    let mut totals = BTreeMap::new();
    for file in manifest.dataset("summary").chain(manifest.dataset("summary_history")) {
        let Some(SiteMonth { site, month }) = lake::parse_month_path(&file.path) else {
            report.find(&file.path, "the path names no site and month");
            continue;
        };
        let place = CountedPlace {
            site: Some(site.clone()),
            month: Some(month),
        };
        let of = counted.entry(place).or_default();
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            for row in from_batch(&batch?, &site, month)? {
                of.add(&row.file_id, row.reason, 1);
                let is_accepted = row.reason.outcome() == Outcome::Accepted;
                if is_accepted != (file.dataset == "summary") {
                    report.find(
                        &file.path,
                        format!("holds a row whose outcome is {}", row.reason.outcome()),
                    );
                }
                if is_accepted && row.is_usage() {
                    let value = |number: Option<i64>| i128::from(addend(number));
                    let view = SummarisedView {
                        place: SiteMonth::new(site.as_str(), month),
                        // Fallback: a summary without a view is compared with those without one.
                        view: row.words.view.unwrap_or_default(),
                    };
                    let of_view: &mut VerifiedTotals = totals.entry(view).or_default();
                    *of_view = of_view.plus(VerifiedTotals {
                        job_n: value(row.numbers.job_n),
                        wall_s: value(row.numbers.wall_s),
                        alloc_core_s: value(row.numbers.wall_s) * value(row.numbers.alloc_core_n),
                        cpu_ms: value(row.numbers.cpu_ms),
                    });
                }
            }
        }
    }
    Ok(totals)
}

/// The views whose jobs do not count, because summaries of them do.
pub(super) fn displaced(summarised: &Summarised) -> Views {
    let mut displaced = Views::new();
    for SummarisedView { place, view } in summarised.keys() {
        displaced.entry(folded(place)).or_default().insert(view.clone());
    }
    displaced
}
