//! Counts of jobs that sites sent to be compared (APEL's sync messages), next to the number that arrived.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use arrow_array::Array;
use serde::Serialize;

use crate::amounts::{add, add_known};
use crate::dedupe::summary::from_batch;
use crate::error::{Error, Kind, Result};
use crate::lake::refused_records::summed_records;
use crate::lake::views::folded;
use crate::record::{SiteMonth, Summary, SummaryKind};
use crate::schema::batch::{addend, text};
use crate::store::{Manifest, Store, TableRows, lake, read_table};

/// The jobs of one site, month and submit host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SyncCount {
    /// Site.
    pub site: String,
    /// UTC month in which the jobs ended.
    pub month: String,
    /// CE.
    pub submit_host: Option<String>,
    /// Jobs the site reports as sent; absent for a submit host without such a report.
    pub sent_job_n: Option<i64>,
    /// Jobs that are in `records`, those of payloads aside.
    pub record_n: i64,
    /// Jobs that are in summaries, those of payloads aside.
    pub summary_job_n: i64,
}

impl SyncCount {
    /// Whether what was sent is what arrived, one by one or added up.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.sent_job_n == Some(self.record_n) || self.sent_job_n == Some(self.summary_job_n)
    }
}

/// By folded place, then by submit host.
type SyncCounts = BTreeMap<SiteMonth, BTreeMap<Option<String>, SyncCount>>;

/// Every count that a site sent, and what arrived of the same site and month.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be read.
pub(crate) fn counts(store: &Store, manifest: &Manifest) -> Result<Vec<SyncCount>> {
    let mut counts = SyncCounts::new();
    for path in manifest.dataset("summary").map(|file| file.path.as_str()) {
        let place = place_of(path)?;
        for batch in read_table(store.reader(path)?, None, 16_384)? {
            let rows = from_batch(&batch?, &place.site, place.month)?;
            for row in rows.iter().filter(|row| row.kind == SummaryKind::Sync) {
                let count = count(&mut counts, &place, row.words.submit_host.as_deref());
                let sent = addend(row.numbers.sync_job_n);
                let added = add_known(&mut count.sent_job_n, Some(sent), "job_n");
                added.map_err(|e| at_place(e, &place))?;
            }
        }
    }
    // A year of jobs is not read for the sake of a month of counts.
    let announced = |counts: &SyncCounts, place: &SiteMonth| counts.contains_key(&folded(place));
    for path in manifest.dataset("summary").map(|file| file.path.as_str()) {
        let place = place_of(path)?;
        if !announced(&counts, &place) {
            continue;
        }
        for batch in read_table(store.reader(path)?, None, 16_384)? {
            let rows = from_batch(&batch?, &place.site, place.month)?;
            let counted = |row: &&Summary| row.is_usage() && row.words.view.as_deref() != Some("payload");
            for row in rows.iter().filter(counted) {
                let count = count(&mut counts, &place, row.words.submit_host.as_deref());
                let added = add(&mut count.summary_job_n, addend(row.numbers.job_n), "job_n");
                added.map_err(|e| at_place(e, &place))?;
            }
        }
    }
    let wanted = TableRows::of_columns(&["view", "submit_host"], 16_384);
    for path in manifest.dataset("records").map(|file| file.path.as_str()) {
        let place = place_of(path)?;
        if !announced(&counts, &place) {
            continue;
        }
        for batch in summed_records(store, manifest, path, &wanted)? {
            let batch = batch?;
            let (views, hosts) = (text(&batch, "view")?, text(&batch, "submit_host")?);
            for row in (0..batch.num_rows()).filter(|row| views.value(*row) != "payload") {
                let host = hosts.is_valid(row).then(|| hosts.value(row));
                count(&mut counts, &place, host).record_n += 1;
            }
        }
    }
    Ok(counts.into_values().flat_map(BTreeMap::into_values).collect())
}

fn place_of(path: &str) -> Result<SiteMonth> {
    lake::parse_month_path(path)
        .ok_or_else(|| Error::new(Kind::Data, "the path names no site and month").at("path", path))
}

fn at_place(error: Error, place: &SiteMonth) -> Error {
    error.at("site", &place.site).at("month", place.month)
}

fn count<'c>(counts: &'c mut SyncCounts, place: &SiteMonth, submit_host: Option<&str>) -> &'c mut SyncCount {
    let hosts = counts.entry(folded(place)).or_default();
    hosts
        .entry(submit_host.map(str::to_owned))
        .or_insert_with(|| SyncCount {
            site: place.site.clone(),
            month: place.month.to_string(),
            submit_host: submit_host.map(str::to_owned),
            ..SyncCount::default()
        })
}

/// The counts for people: those that differ one by one.
pub(crate) fn text_of(counts: &[SyncCount], out: &mut String) {
    let differing = || counts.iter().filter(|count| !count.agrees());
    let (all_n, differing_n) = (counts.len(), differing().count());
    if all_n == 0 {
        return;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "counts sent by sites: {} of {all_n} agree with what arrived",
        all_n - differing_n
    );
    for count in differing() {
        let host = count.submit_host.as_deref().unwrap_or("-");
        let sent = count.sent_job_n.map_or_else(|| "none".to_owned(), |n| n.to_string());
        let _ = writeln!(
            out,
            "    {} {} {host}: {sent} sent, {} records, {} in summaries",
            count.site, count.month, count.record_n, count.summary_job_n
        );
    }
}
