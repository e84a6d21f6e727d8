//! Walking a lake, site by site: memory follows the number of groups of one site.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::cell::{PeerCell, PeerDimension, default_dimensions};
use super::gracc::GraccPeerBucket;
use super::group::{PeerGroups, PeerKey, PeerSums};
use super::job::{COLUMNS, PeerJobs};
use super::mode::PeerMode;
use super::names::PeerNames;
use super::rules::{PeerNumbers, publish};
use super::summary;
use crate::amounts::{add, total};
use crate::dedupe::summary::from_batch;
use crate::error::{Error, Kind, Result};
use crate::lake::refused_records::summed_records;
use crate::record::SiteMonth;
use crate::reference::benchmark::{Benchmark, BenchmarkLevel, BenchmarkPlace, BenchmarkTable};
use crate::reference::site_rename::SiteRenames;
use crate::report::apel::server_key::folded;
use crate::report::lake::{Lake, Selection};
use crate::schema::batch::addend;
use crate::store::{Manifest, Store, TableRows, lake, read_table};
use crate::summarise::correction_effect::Corrections;
use crate::time::Month;

/// Rows read at once.
const READ_ROWS: usize = 16_384;

/// What is asked.
#[derive(Clone, Debug)]
pub struct PeerReportQuestion<'a> {
    /// Whose rules.
    pub mode: PeerMode,
    /// Values of whole sites, for where OSG's exporter distrusts that of a CE.
    pub site_values: Option<&'a BenchmarkTable>,
    /// Dimensions of cells; `None` is the default of the mode.
    pub by: Option<Vec<PeerDimension>>,
    /// Which part of the lake.
    pub selection: &'a Selection,
    /// Sites that are published under another name.
    pub renames: &'a SiteRenames,
}

/// Jobs that are not published, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Left {
    /// They had not ended.
    pub not_ended_job_n: u64,
    /// They describe hours that other jobs describe too (pilots and payloads).
    pub other_view_job_n: u64,
    /// No benchmark is known.
    pub benchmark_missing_job_n: u64,
    /// They have no wall time, which AUDITOR leaves out.
    pub no_wall_job_n: u64,
    /// They are in received summaries, which the mode does not publish.
    pub summary_job_n: i64,
    /// Jobs that corrections added, which have no benchmark.
    pub added_job_n: i64,
}

/// What a mode publishes of a lake.
#[derive(Clone, Debug)]
pub struct WorkReport {
    /// Lake.
    pub output: String,
    /// Whose rules.
    pub mode: PeerMode,
    /// Dimensions of cells.
    pub by: Vec<PeerDimension>,
    /// By site, month and dimensions.
    pub cells: Vec<PeerCell>,
    /// What is not in them.
    pub left: Left,
}

/// Computes what a mode would have published from the lake at a path or URL.
///
/// # Errors
/// [`Kind::NoInput`] when there is no lake; [`Kind::Io`] when it cannot be read; [`Kind::Data`] when a sum is too large.
pub fn report(output: &str, question: &PeerReportQuestion<'_>) -> Result<WorkReport> {
    let lake = Lake::open(output)?;
    let summarised = lake.summarised_places()?;
    let Lake { store, manifest } = lake;
    let by = question.by.clone().unwrap_or_else(|| default_dimensions(question.mode));
    let corrections = Corrections::read(&store, &manifest)?;
    let mut walk = PeerReportWalk {
        corrections: &corrections,
        store: &store,
        manifest: &manifest,
        question,
        summarised,
        names: PeerNames::new(question.mode.folds_case()),
        buckets: BTreeMap::new(),
        cells: Cells::new(&by),
        left: Left::default(),
    };
    let mut sites: BTreeMap<String, Vec<PeerFile<'_>>> = BTreeMap::new();
    for (dataset, is_jobs) in [("records", true), ("summary", false)] {
        for file in manifest.dataset(dataset) {
            let Some(SiteMonth { site, month }) = lake::parse_month_path(&file.path) else {
                return Err(Error::new(Kind::Data, "the path names no site and month").at("path", &file.path));
            };
            // A job of a later month has not ended before it.
            let is_asked =
                question.selection.has_site(&site) && question.selection.days.last_month().is_none_or(|to| month <= to);
            if is_asked {
                let path = &file.path;
                let one = if question.mode.folds_case() {
                    folded(&site).into_owned()
                } else {
                    site.clone()
                };
                sites.entry(one).or_default().push(PeerFile {
                    site,
                    month,
                    is_jobs,
                    path,
                });
            }
        }
    }
    for files in sites.values() {
        walk.site(files)?;
    }
    let asked = question.selection;
    let added = corrections.additions().filter(|(site, month, rule)| {
        asked.has_site(site) && asked.has_month(*month) && asked.has_vo(rule.filter("vo").flatten())
    });
    walk.left.added_job_n = total(added.filter_map(|(.., rule)| rule.adds("job_n")), "job_n")?;
    walk.finish_buckets()?;
    let (cells, left) = (walk.cells.finish(), walk.left);
    Ok(WorkReport {
        output: store.url().to_owned(),
        mode: question.mode,
        by,
        cells,
        left,
    })
}

/// A file of jobs or summaries.
struct PeerFile<'f> {
    /// The site as it is filed.
    site: String,
    month: Month,
    is_jobs: bool,
    path: &'f str,
}

struct PeerReportWalk<'a> {
    store: &'a Store,
    manifest: &'a Manifest,
    question: &'a PeerReportQuestion<'a>,
    /// Sites, in lower case, and months in which summaries count in place of batch jobs.
    summarised: BTreeSet<(String, Month)>,
    names: PeerNames,
    /// Of renamed sites, by the name they get.
    buckets: BTreeMap<(String, PeerKey), GraccPeerBucket>,
    cells: Cells<'a>,
    left: Left,
    corrections: &'a Corrections,
}

impl PeerReportWalk<'_> {
    /// One site, or sites that a mode takes for one, which are shown in the first spelling by the order of bytes.
    fn site(&mut self, files: &[PeerFile<'_>]) -> Result<()> {
        let question = self.question;
        let Some(site) = files.iter().map(|file| file.site.as_str()).min() else {
            return Ok(());
        };
        if question.mode != PeerMode::Gracc {
            self.names = PeerNames::new(question.mode.folds_case());
        }
        let mut groups = PeerGroups::default();
        for file in files.iter().filter(|file| file.is_jobs) {
            let jobs = PeerJobs {
                mode: question.mode,
                selection: question.selection,
                effects: self.corrections.of_site(&file.site),
                is_summarised: self.summarised.contains(&(file.site.to_lowercase(), file.month)),
            };
            let columns: BTreeSet<&str> = COLUMNS.into_iter().chain(jobs.effects.columns()).collect();
            let columns: Vec<&str> = columns.into_iter().collect();
            let wanted = TableRows::of_columns(&columns, READ_ROWS);
            let batches = summed_records(self.store, self.manifest, file.path, &wanted)?;
            for batch in batches {
                let batch = batch?;
                jobs.add(&batch, &mut self.names, &mut groups, &mut self.left)?;
            }
        }
        let mut published: BTreeMap<PeerKey, PeerNumbers> = BTreeMap::new();
        for (key, sums) in &groups {
            if question.mode == PeerMode::Gracc {
                self.bucket(site, key, sums)?;
            } else {
                published.insert(*key, publish(question.mode, key, sums)?);
            }
        }
        for file in files.iter().filter(|file| !file.is_jobs) {
            self.summaries(&file.site, file.month, file.path, &mut published)?;
        }
        for (key, numbers) in &published {
            self.cells.add(site, key, numbers, &self.names)?;
        }
        Ok(())
    }

    /// Summaries replace what jobs come to under the same key, as rows of the server's table do. A mode without summaries
    /// counts their jobs as not published.
    fn summaries(
        &mut self,
        site: &str,
        month: Month,
        path: &str,
        published: &mut BTreeMap<PeerKey, PeerNumbers>,
    ) -> Result<()> {
        let question = self.question;
        if !question.selection.has_month(month) {
            return Ok(());
        }
        let is_asked = |vo: Option<&str>| question.selection.has_vo(vo);
        for batch in read_table(self.store.reader(path)?, None, READ_ROWS)? {
            for row in from_batch(&batch?, site, month)? {
                if row.is_usage() && row.words.view.as_deref() == Some("batch") && is_asked(row.words.vo.as_deref()) {
                    if !question.mode.takes_summaries() {
                        add(&mut self.left.summary_job_n, addend(row.numbers.job_n), "job_n")?;
                        continue;
                    }
                    question
                        .selection
                        .must_be_whole(month, &format!("the summaries of {site}"))?;
                    let key = summary::key(&row, &mut self.names);
                    published.insert(key, summary::numbers(question.mode, &row, &key)?);
                }
            }
        }
        Ok(())
    }

    fn bucket(&mut self, site: &str, key: &PeerKey, sums: &PeerSums) -> Result<()> {
        let [vo, ..] = key.words;
        let name = self.question.renames.name(site, self.names.text(vo));
        let bucket = GraccPeerBucket::new(key, sums, self.site_value_e4(name, sums.latest_ms))?;
        match self.buckets.entry((name.to_owned(), *key)) {
            Entry::Occupied(mut held) => held.get_mut().merge(&bucket),
            Entry::Vacant(place) => {
                place.insert(bucket);
                Ok(())
            }
        }
    }

    /// The table's value for a site as a whole.
    fn site_value_e4(&self, site: &str, at_ms: Option<i64>) -> Option<i64> {
        let table = self.question.site_values?.site(site);
        let values = table
            .factors(&[BenchmarkLevel::Site], &BenchmarkPlace::default(), at_ms?)
            .per_core;
        let known = Benchmark::ALL.into_iter().zip(values.scaled());
        let hepspec = known
            .filter(|(kind, _)| *kind != Benchmark::Si00)
            .find_map(|(_, e4)| e4)?;
        i64::try_from(hepspec).ok()
    }

    fn finish_buckets(&mut self) -> Result<()> {
        for ((site, key), bucket) in &self.buckets {
            self.cells.add(site, key, &bucket.numbers()?, &self.names)?;
        }
        Ok(())
    }
}

/// Cells by their dimensions.
struct Cells<'a> {
    by: &'a [PeerDimension],
    sums: BTreeMap<(String, Month, Vec<Option<String>>), PeerNumbers>,
}

impl<'a> Cells<'a> {
    fn new(by: &'a [PeerDimension]) -> Self {
        Self {
            by,
            sums: BTreeMap::new(),
        }
    }

    fn add(&mut self, site: &str, key: &PeerKey, numbers: &PeerNumbers, names: &PeerNames) -> Result<()> {
        let dimensions = self.by.iter().map(|dimension| dimension.value(key, names)).collect();
        let place = (site.to_owned(), key.month, dimensions);
        self.sums.entry(place).or_default().add(numbers)
    }

    fn finish(self) -> Vec<PeerCell> {
        let cells = self.sums.into_iter();
        cells
            .map(|((site, month, dimensions), numbers)| PeerCell {
                site,
                month,
                dimensions,
                numbers,
            })
            .collect()
    }
}
