//! What a run reports of sites and months that summaries of several kinds describe. Their rows have no key in common, so that all
//! of them count, as on APEL's server: usage that was sent at several levels of aggregation counts once for each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use crate::amounts::add;
use crate::error::Result;
use crate::ledger::Book;
use crate::numbers::Extent;
use crate::record::{SiteMonth, Summary, SummaryKind};
use crate::schema::batch::addend;
use crate::time::Month;

/// Summaries of one kind, as one format contains them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SummaryKindReport {
    /// `summary` or `normalised_summary`.
    pub kind: &'static str,
    /// Dialect of the files.
    pub format: String,
    /// The sources they are of.
    pub sources: BTreeSet<String>,
    /// Their jobs.
    pub job_n: i64,
}

/// A view of a site and month with summaries of several kinds, among those this run processed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SummaryKindsReport {
    /// Site.
    pub site: String,
    /// Month, such as `2026-10`.
    pub month: String,
    /// View.
    pub view: String,
    /// The kinds, of which all count.
    pub kinds: Vec<SummaryKindReport>,
}

/// A view of a site and month: site names that differ in case alone are one site.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct KindsPlace {
    folded_site: String,
    view: String,
    month: Month,
}

/// Of what kind and format summaries are.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct KindFormat {
    kind: SummaryKind,
    format: String,
}

/// What one kind has at a place.
#[derive(Default)]
struct KindSums {
    sources: BTreeSet<String>,
    job_n: i64,
}

/// The kinds at a place, which has the name of the site as it was first met.
struct PlaceKinds {
    site: String,
    kinds: BTreeMap<KindFormat, KindSums>,
}

/// Kinds of summaries that count, by place.
#[derive(Default)]
pub(crate) struct SummaryKinds {
    places: BTreeMap<KindsPlace, PlaceKinds>,
}

impl SummaryKinds {
    /// Takes the summaries of a place that count. Those without jobs take others back, and have no usage.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when the jobs are too many to add up.
    pub(crate) fn add(&mut self, of: &SiteMonth, rows: &[&Summary], book: &Book) -> Result<()> {
        for row in rows.iter().filter(|row| row.is_usage() && row.numbers.job_n != Some(0)) {
            let place = KindsPlace {
                folded_site: of.site.to_lowercase(),
                // Fallback: a summary that states no view is of the view without a name.
                view: row.words.view.clone().unwrap_or_default(),
                month: of.month,
            };
            let place = self.places.entry(place).or_insert_with(|| PlaceKinds {
                site: of.site.clone(),
                kinds: BTreeMap::new(),
            });
            let input = book.inputs().get(&*row.file_id);
            let format = input.map_or_else(String::new, |input| input.format.clone());
            let kind = row.kind;
            let sums = place.kinds.entry(KindFormat { kind, format }).or_default();
            sums.sources.insert(row.source.clone());
            add(&mut sums.job_n, addend(row.numbers.job_n), "job_n")?;
        }
        Ok(())
    }

    /// The places with several kinds, by site and view, then month.
    pub(crate) fn reports(self) -> Vec<SummaryKindsReport> {
        let several = self.places.into_iter().filter(|(_, of)| of.kinds.len() > 1);
        let reports = several.map(|(place, of)| SummaryKindsReport {
            site: of.site,
            month: place.month.to_string(),
            view: place.view,
            kinds: (of.kinds.into_iter())
                .map(|(KindFormat { kind, format }, sums)| SummaryKindReport {
                    kind: kind.as_str(),
                    format,
                    sources: sums.sources,
                    job_n: sums.job_n,
                })
                .collect(),
        });
        reports.collect()
    }
}

impl SummaryKindReport {
    /// Its kind, format and sources.
    fn name(&self) -> String {
        let words = if self.kind == SummaryKind::NormalisedSummary.as_str() {
            "normalised summaries"
        } else {
            "summaries"
        };
        let sources: Vec<&str> = self.sources.iter().map(String::as_str).collect();
        format!("{words} of {} (source {})", self.format, sources.join(", "))
    }
}

/// Sites that are named to people; a program gets all of them.
const NAMED: usize = 10;

/// A line for each site, view and set of kinds.
pub(super) fn kinds_text(reports: &[SummaryKindsReport]) -> String {
    let mut lines: BTreeMap<(&str, &str, Vec<String>), Vec<&SummaryKindsReport>> = BTreeMap::new();
    for report in reports {
        let names = report.kinds.iter().map(SummaryKindReport::name).collect();
        lines
            .entry((&report.site, &report.view, names))
            .or_default()
            .push(report);
    }
    let mut text = String::new();
    for ((site, view, names), months) in lines.iter().take(NAMED) {
        let span = match months.as_slice() {
            [] => String::new(),
            [only] => only.month.clone(),
            [first, .., last] => format!("{} months from {} to {}", months.len(), first.month, last.month),
        };
        let kinds = names.iter().enumerate().map(|(at, name)| {
            let own = months.iter().filter_map(|month| month.kinds.get(at));
            let job_n: i128 = own.map(|kind| i128::from(kind.job_n)).sum();
            let jobs = if job_n == 1 { "job" } else { "jobs" };
            format!("{name}: {job_n} {jobs}")
        });
        let _ = writeln!(
            text,
            "  warning: {site} {span}, view {view}: all of {} count; where they describe the same jobs, take the files of all \
             kinds but one out of the paths of the sources",
            kinds.collect::<Vec<_>>().join(" and ")
        );
    }
    match lines.len().less(NAMED) {
        0 => {}
        more => {
            let _ = writeln!(text, "  warning: further sites with summaries of several kinds: {more}");
        }
    }
    text
}
