//! The lake's layout: which dataset lives where, and tables of the declared schema in and out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;

use super::manifest::Manifest;
use super::publish::Publication;
use super::staged::StagedWriter;
use super::table::{SCHEMA_VERSION_KEY, TableWriter};
use super::table_form::{TableForm, TableOptions};
use super::table_reader::read_table;
use crate::error::Result;
use crate::hive;
use crate::hive::segment;
use crate::record::SiteMonth;
use crate::schema::{self, Dataset};
use crate::time::{Day, Month};

/// Rows read at once from a published table.
const READ_ROWS: usize = 16_384;

/// Path of the ledger.
pub const LEDGER: &str = "ledger/ledger.parquet";

/// Path of the list of input files.
pub const INPUTS: &str = "inputs/inputs.parquet";

/// Where the list of input files of a lake is: earlier versions put it next to the ledger.
#[must_use]
pub fn inputs_path(manifest: &Manifest) -> &str {
    manifest.dataset("inputs").next().map_or(INPUTS, |file| &file.path)
}

/// Path of the file of a dataset that is kept by site and month, such as `records`, of one site and month.
#[must_use]
pub fn month_path(dataset: &str, site: &str, month: Month) -> String {
    let month = format!("{month}-01");
    format!(
        "{dataset}/{}/{}/{dataset}.parquet",
        segment("site", Some(site)),
        segment("record_month", Some(&month))
    )
}

/// Path of the file of `job_charges` or `charge_part` of one site and month for a subject other than jobs
/// (`reservations`, ...); for jobs it is [`month_path`].
#[must_use]
pub fn subject_path(dataset: &str, subject: &str, site: &str, month: Month) -> String {
    let month = format!("{month}-01");
    format!(
        "{dataset}/{}/{}/{subject}.parquet",
        segment("site", Some(site)),
        segment("record_month", Some(&month))
    )
}

/// The sites a lake holds anything of.
#[must_use]
pub fn sites(manifest: &Manifest) -> BTreeSet<String> {
    let segments = manifest.files().flat_map(|file| file.path.split('/'));
    let values = segments
        .filter(|segment| segment.starts_with("site="))
        .filter_map(hive::parse);
    values.filter_map(|(_, site)| site).collect()
}

/// Path of one `charges` file.
#[must_use]
pub fn charges_path(site: &str, vo: Option<&str>, allocation_year: i64) -> String {
    let year = allocation_year.to_string();
    format!(
        "charges/{}/{}/{}/charges.parquet",
        segment("site", Some(site)),
        segment("vo", vo),
        segment("allocation_year", Some(&year))
    )
}

/// Path of one `usage` file.
#[must_use]
pub fn usage_path(site: &str, vo: Option<&str>, allocation_year: i64) -> String {
    let year = allocation_year.to_string();
    format!(
        "usage/{}/{}/{}/usage.parquet",
        segment("site", Some(site)),
        segment("vo", vo),
        segment("allocation_year", Some(&year))
    )
}

/// Path of one file of the overhead datasets.
#[must_use]
pub fn overhead_path(dataset: &str, site: &str, allocation_year: i64, month: Day) -> String {
    let month = Month::of_day(month).map(|month| format!("{month}-01"));
    format!(
        "{dataset}/{}/{}/{}/{dataset}.parquet",
        segment("site", Some(site)),
        segment("allocation_year", Some(&allocation_year.to_string())),
        segment("month", month.as_deref())
    )
}

/// Site, allocation year and month of a path made by [`overhead_path`].
#[must_use]
pub fn parse_overhead_path(path: &str) -> Option<(String, i64, Month)> {
    let mut segments = path.split('/').skip(1);
    let (_, site) = hive::parse(segments.next()?)?;
    let (_, year) = hive::parse(segments.next()?)?;
    let (_, month) = hive::parse(segments.next()?)?;
    Some((site?, year?.parse().ok()?, month?.get(..7)?.parse().ok()?))
}

/// What the names of files of `job_charges` and `charge_part` begin with that hold what jobs are billed of their nodes.
const BILL: &str = "overhead-";

/// Path of what the jobs of one site are billed of their nodes in one period: in `job_charges` by the month of their
/// records, in `charge_part` by the month of the period.
#[must_use]
pub fn bill_path(dataset: &str, site: &str, record_month: Month, month: Day, allocation_year: i64) -> String {
    let month = Month::of_day(month).map(|month| month.to_string());
    let path = month_path(dataset, site, record_month);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    // Fallback: never taken, the day is the first of a month.
    format!("{folder}/{BILL}{}-{allocation_year}.parquet", month.unwrap_or_default())
}

/// The period of a path made by [`bill_path`]; `None` for other paths.
#[must_use]
pub fn parse_bill_path(path: &str) -> Option<(Day, i64)> {
    let (_, name) = path.rsplit_once('/')?;
    let (month, year) = name.strip_prefix(BILL)?.strip_suffix(".parquet")?.rsplit_once('-')?;
    Some((month.parse::<Month>().ok()?.first_day(), year.parse().ok()?))
}

/// Path of the page of a run in the dataset `runs`. Its id begins with its start, Unix milliseconds.
#[must_use]
pub fn run_path(run_id: &str) -> String {
    format!("runs/{run_id}.parquet")
}

/// When the run of a path made by [`run_path`] began, Unix milliseconds.
#[must_use]
pub fn parse_run_path(path: &str) -> Option<i64> {
    let (started_ms, _) = path.strip_prefix("runs/")?.split_once('-')?;
    started_ms.parse().ok()
}

/// Path of the awards.
pub const AWARDS: &str = "awards/awards.parquet";

/// Path of the entries of awards.
pub const AWARD_ENTRIES: &str = "award_entry/award_entry.parquet";

/// Path of the use of awards at one site in one allocation year.
#[must_use]
pub fn award_use_path(site: &str, allocation_year: i64) -> String {
    let (site, year) = (segment("site", Some(site)), allocation_year.to_string());
    format!(
        "award_use/{site}/{}/award_use.parquet",
        segment("allocation_year", Some(&year))
    )
}

/// Site and allocation year of a path made by [`award_use_path`].
#[must_use]
pub fn parse_award_use_path(path: &str) -> Option<(String, i64)> {
    let mut segments = path.strip_prefix("award_use/")?.split('/');
    let (_, site) = hive::parse(segments.next()?)?;
    let (_, year) = hive::parse(segments.next()?)?;
    Some((site?, year?.parse().ok()?))
}

/// Path of the installed capacity of one site.
#[must_use]
pub fn capacity_path(site: &str) -> String {
    format!("capacity/{}/capacity.parquet", segment("site", Some(site)))
}

/// Path of the fairshare of one cluster in one month.
#[must_use]
pub fn fairshare_path(site: &str, cluster: &str, month: Month) -> String {
    format!(
        "fairshare/{}/{}/{}/fairshare.parquet",
        segment("site", Some(site)),
        segment("cluster", Some(cluster)),
        segment("month", Some(&format!("{month}-01")))
    )
}

/// Site, cluster and month of a path made by [`fairshare_path`].
#[must_use]
pub fn parse_fairshare_path(path: &str) -> Option<(String, String, Month)> {
    let mut segments = path.split('/').skip(1);
    let (_, site) = hive::parse(segments.next()?)?;
    let (_, cluster) = hive::parse(segments.next()?)?;
    let (_, month) = hive::parse(segments.next()?)?;
    Some((site?, cluster?, month?.get(..7)?.parse().ok()?))
}

/// Path of the refusals of one input file.
#[must_use]
pub fn rejects_path(file_id: &str) -> String {
    format!("rejects/{}/{file_id}.parquet", segment("stage", Some("read")))
}

/// Path of the rows of one inventory file for one dataset.
#[must_use]
pub fn inventory_path(dataset: &str, source: &str, file_id: &str) -> String {
    format!("{dataset}/{}/{file_id}.parquet", segment("source", Some(source)))
}

/// Path of the records of one site and month that are no usage: no benchmark is known, or the sums cannot take them.
#[must_use]
pub fn refused_records_path(site: &str, month: Month) -> String {
    // The site is a path segment of its own elsewhere; here it is part of a file name.
    let site = segment("", Some(site));
    format!(
        "rejects/{}/{}-{month}.parquet",
        segment("stage", Some("normalise")),
        site.trim_start_matches('=')
    )
}

/// Path of the summaries of one site and month that are refused once the months are known.
#[must_use]
pub fn overlap_path(site: &str, month: Month) -> String {
    let site = segment("", Some(site));
    format!(
        "rejects/{}/{}-{month}.parquet",
        segment("stage", Some("summarise")),
        site.trim_start_matches('=')
    )
}

/// What the paths of refused windows of reservations begin with.
const REFUSED_RESERVATIONS: &str = "rejects/stage=charge/";

/// Path of the windows of reservations of one site and month that the sums cannot take.
#[must_use]
pub fn refused_reservations_path(site: &str, month: Month) -> String {
    let site = segment("", Some(site));
    format!("{REFUSED_RESERVATIONS}{}-{month}.parquet", site.trim_start_matches('='))
}

/// Whether a path is made by [`refused_reservations_path`].
#[must_use]
pub fn is_refused_reservations_path(path: &str) -> bool {
    path.starts_with(REFUSED_RESERVATIONS)
}

/// Site and month of a path made by [`month_path`].
#[must_use]
pub fn parse_month_path(path: &str) -> Option<SiteMonth> {
    let mut segments = path.split('/').skip(1);
    let (_, site) = hive::parse(segments.next()?)?;
    let (_, month) = hive::parse(segments.next()?)?;
    Some(SiteMonth::new(site?, month?.get(..7)?.parse().ok()?))
}

/// Site, VO and allocation year of a path made by [`usage_path`].
#[must_use]
pub fn parse_usage_path(path: &str) -> Option<(String, Option<String>, i64)> {
    let mut segments = path.split('/').skip(1);
    let (_, site) = hive::parse(segments.next()?)?;
    let (_, vo) = hive::parse(segments.next()?)?;
    let (_, year) = hive::parse(segments.next()?)?;
    Some((site?, vo, year?.parse().ok()?))
}

/// Whether a path is the one [`month_path`] makes for its dataset.
#[must_use]
pub fn is_month_path(dataset: &str, path: &str) -> bool {
    parse_month_path(path).is_some_and(|of| month_path(dataset, &of.site, of.month) == path)
}

/// A table on its way into the lake.
pub struct LakeTable<'a> {
    publication: &'a Publication,
    dataset: &'static Dataset,
    writer: TableWriter<StagedWriter>,
}

impl<'a> LakeTable<'a> {
    /// Starts a file of `dataset` at `path`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be staged.
    pub fn create(publication: &'a Publication, dataset: &str, path: &str) -> Result<Self> {
        let dataset = schema::dataset(dataset)?;
        let staged = publication.stage(path, &dataset.name, dataset.version)?;
        Ok(Self {
            publication,
            dataset,
            writer: TableWriter::of_form(staged, &form_of(dataset)?)?,
        })
    }

    /// Adds rows, after the check at the door.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are not what the schema declares.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.write_hurried(batch, || false)
    }

    /// As [`LakeTable::write`], each page on two threads while it is hurried.
    ///
    /// # Errors
    /// As [`LakeTable::write`].
    pub fn write_hurried(&mut self, batch: &RecordBatch, is_hurried: impl Fn() -> bool) -> Result<()> {
        self.dataset.admit(batch)?;
        self.writer.write_hurried(batch, is_hurried)
    }

    /// Ends the file with its provenance and hands it to the publication; gives its rows.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be staged.
    pub fn finish(mut self, provenance: &[(String, String)]) -> Result<u64> {
        self.writer.note(SCHEMA_VERSION_KEY, &self.dataset.version.to_string());
        for (key, value) in provenance {
            self.writer.note(key, value);
        }
        let (rows, staged) = self.writer.finish()?;
        self.publication.add(staged.finish(rows)?)?;
        Ok(rows)
    }
}

/// The form of the files of a dataset. A run writes thousands of them.
fn form_of(dataset: &'static Dataset) -> Result<TableForm> {
    static FORMS: Mutex<BTreeMap<&str, TableForm>> = Mutex::new(BTreeMap::new());
    let mut forms = FORMS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(form) = forms.get(dataset.name.as_str()) {
        return Ok(form.clone());
    }
    let columns = dataset.columns.iter();
    let options = TableOptions {
        sorting: dataset.sort.iter().map(String::as_str).collect(),
        bloom: dataset.bloom.iter().map(String::as_str).collect(),
        encodings: columns.map(|column| (column.name.as_str(), column.encoding)).collect(),
        footer: Vec::new(),
    };
    let form = TableForm::new(dataset.arrow(), &options)?;
    forms.insert(&dataset.name, form.clone());
    Ok(form)
}

/// The batches of a published table; `None` when it is not published.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be read.
pub fn batches(
    publication: &Publication,
    path: &str,
) -> Result<Option<Box<dyn Iterator<Item = Result<RecordBatch>> + Send>>> {
    column_batches(publication, path, None)
}

/// As [`batches`], with the named columns alone where any are named.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be read.
pub fn column_batches(
    publication: &Publication,
    path: &str,
    columns: Option<&[&str]>,
) -> Result<Option<Box<dyn Iterator<Item = Result<RecordBatch>> + Send>>> {
    if publication
        .published()
        .is_none_or(|manifest| manifest.file(path).is_none())
    {
        return Ok(None);
    }
    Ok(Some(Box::new(read_table(
        publication.reader(path)?,
        columns,
        READ_ROWS,
    )?)))
}
