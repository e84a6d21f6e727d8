//! The files of records: what they span, and whether their jobs count.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{READ_ROWS, from_fact, to_fact};
use super::job_spans::{BATCH, Reach, SPAN_COLUMNS, join};
use super::sweep::Sweep;
use crate::error::Result;
use crate::lake::state::State;
use crate::lake::views;
use crate::record::SiteMonth;
use crate::runtime::pool;
use crate::store::Fact;
use crate::store::lake::{self, parse_month_path, refused_records_path};
use crate::store::{Current, Store, read_table};
use crate::time::{Day, Month, SecondSpan};

/// A file of records: its month, where it is published, where its bytes are now.
pub(crate) struct RecordFile {
    pub(crate) month: Month,
    pub(crate) path: String,
    pub(crate) place: String,
    pub(crate) reach: Reach,
    /// Where the bytes of those of its records are now that are no usage, if there are any.
    pub(crate) refused: Option<String>,
    /// Others were no usage when it was swept last.
    pub(crate) has_other_refused: bool,
    /// Summaries count in place of its jobs: what these held is in the ledger, and nobody pays for it here.
    pub(crate) is_displaced: bool,
}

/// Files of records by site.
pub(crate) type RecordFiles = BTreeMap<String, Vec<RecordFile>>;

/// The files of records as they will be published, by site, with what they span. A file is only read for that when no
/// run before has.
pub(crate) fn record_files(sweep: &Sweep<'_>, state: &mut State) -> Result<RecordFiles> {
    let current = sweep.publication.current("records");
    // Fallback: a reach that is not known is read from the file.
    let mut known: BTreeMap<String, Reach> = from_fact(state.fact(Fact::OverheadReach)).unwrap_or_default();
    let reaches = pool::each(&current, sweep.threads, |file| match known.get(&file.blake3) {
        Some(reach) if reach.is_current() => Ok(reach.clone()),
        _ => reach(sweep.publication.store(), &file.place),
    })?;
    known.clear();
    let refused = sweep.publication.current("rejects").into_iter();
    let refused: BTreeMap<String, Current> = refused.map(|file| (file.path.clone(), file)).collect();
    let mut sites = RecordFiles::new();
    for (file, reach) in current.into_iter().zip(reaches) {
        if let Some(SiteMonth { site, month }) = parse_month_path(&file.path) {
            known.insert(file.blake3, reach.clone());
            let path = refused_records_path(&site, month);
            let now = refused.get(&path);
            let was = sweep.publication.published().and_then(|manifest| manifest.file(&path));
            sites.entry(site).or_default().push(RecordFile {
                month,
                path: file.path,
                place: file.place,
                reach,
                refused: now.map(|file| file.place.clone()),
                has_other_refused: was.map(|file| &file.blake3) != now.map(|file| &file.blake3),
                is_displaced: false,
            });
        }
    }
    state.set_fact(Fact::OverheadReach, Some(to_fact(&known)?));
    Ok(sites)
}

/// Marks the files in whose site and month summaries of batch jobs count. Gives the sites and months where that is
/// otherwise than when bills were made last, by the first day of the month; none where none are made.
pub(crate) fn displace(
    sweep: &Sweep<'_>,
    state: &mut State,
    sites: &mut RecordFiles,
    is_charged: bool,
) -> Result<BTreeSet<(String, Day)>> {
    if !is_charged {
        state.set_fact(Fact::OverheadDisplaced, None);
        return Ok(BTreeSet::new());
    }
    let mut files: Vec<(SiteMonth, &mut RecordFile)> = (sites.iter_mut())
        .flat_map(|(site, files)| {
            files
                .iter_mut()
                .map(|file| (SiteMonth::new(site.as_str(), file.month), file))
        })
        .filter(|(_, file)| file.reach.span.is_some() || file.reach.loose.is_some())
        .collect();
    let held: BTreeSet<SiteMonth> = files.iter().map(|(place, _)| views::folded(place)).collect();
    let published = sweep.publication.current("summary").into_iter();
    let counting = views::counting(sweep.publication.store(), published, |place| held.contains(place))?;
    let mut now = BTreeSet::new();
    for (place, file) in &mut files {
        if views::has_view(&counting, place, BATCH) {
            file.is_displaced = true;
            now.insert((place.site.clone(), place.month.first_day()));
        }
    }
    // Fallback: a lake without the fact has no displaced months.
    let was: BTreeSet<(String, Day)> = from_fact(state.fact(Fact::OverheadDisplaced)).unwrap_or_default();
    let turned = was.symmetric_difference(&now).cloned().collect();
    let fact = if now.is_empty() { None } else { Some(to_fact(&now)?) };
    state.set_fact(Fact::OverheadDisplaced, fact);
    Ok(turned)
}

/// Sites with jobs that name their nodes.
pub(crate) fn with_nodes(sites: &RecordFiles) -> BTreeSet<String> {
    let has_nodes = |files: &&Vec<RecordFile>| files.iter().any(|file| !file.reach.clusters.is_empty());
    let named = sites.iter().filter(|(_, files)| has_nodes(files));
    named.map(|(site, _)| site.clone()).collect()
}

fn reach(store: &Store, place: &str) -> Result<Reach> {
    let mut reach = Reach::new();
    for batch in read_table(store.reader(place)?, Some(&SPAN_COLUMNS), READ_ROWS)? {
        reach.add(&batch?)?;
    }
    Ok(reach)
}

/// What the touched records of a site span, as they were and as they are.
pub(crate) fn reach_of_touched(
    sweep: &Sweep<'_>,
    site: &str,
    files: &[RecordFile],
    touched: &BTreeMap<SiteMonth, Vec<Day>>,
) -> Result<Option<SecondSpan>> {
    let mut span = None;
    for SiteMonth { month, .. } in touched.keys().filter(|of| of.site == site) {
        let now = files.iter().find(|file| file.month == *month);
        let path = lake::month_path("records", site, *month);
        let was = sweep.publication.published().and_then(|manifest| manifest.file(&path));
        let was = match was {
            // What was not written again did not change.
            Some(file) if now.is_some_and(|now| now.place != file.path) => {
                reach(sweep.publication.store(), &file.path)?.all()
            }
            Some(file) if now.is_none() => reach(sweep.publication.store(), &file.path)?.all(),
            _ => None,
        };
        let now = now.filter(|now| now.place != now.path).and_then(|now| now.reach.all());
        for part in [was, now].into_iter().flatten() {
            span = Some(join(span, part));
        }
    }
    Ok(span)
}
