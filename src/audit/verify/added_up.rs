//! Sums of parts: `charge_part` of `job_charges`, `usage` of `usage_part`, `charges` of `charge_part`, one site and allocation
//! year at a time.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;

use super::difference::Compared;
use super::of_records::usage_keys;
use super::recomputation::{READ_ROWS, Recomputation, RecomputedFindings, threads};
use crate::error::Result;
use crate::record::SiteMonth;
use crate::run::slices::{project, slices};
use crate::runtime::pool;
use crate::schema;
use crate::schema::batch::int;
use crate::store::{lake, read_table};
use crate::summarise::charges::{KEYS, part};
use crate::summarise::contributions::Contributions;
use crate::summarise::years::with_years;
use crate::time::Month;

/// Rows of charges that are held before they are added up.
const HELD_ROWS: usize = 65_536;

/// Compares what was added up with its parts.
pub(super) fn check(of: &Recomputation<'_>) -> Result<RecomputedFindings> {
    let mut findings = check_charge_parts(of)?;
    findings.extend(check_years(of, &USAGE)?);
    findings.extend(check_years(of, &CHARGES)?);
    Ok(findings)
}

/// Charges added up in bounded memory.
#[derive(Default)]
struct ChargeSums {
    batches: Vec<RecordBatch>,
    row_n: usize,
    summed_n: usize,
}

impl ChargeSums {
    fn add(&mut self, batch: RecordBatch) -> Result<()> {
        self.row_n += batch.num_rows();
        self.batches.push(batch);
        if self.row_n > self.summed_n + HELD_ROWS.max(self.summed_n / 2) {
            let total = part(&self.batches)?;
            self.row_n = total.num_rows();
            self.summed_n = self.row_n;
            self.batches = vec![total];
        }
        Ok(())
    }

    fn finish(self) -> Result<Option<RecordBatch>> {
        if self.row_n == 0 {
            return Ok(None);
        }
        part(&self.batches).map(Some)
    }
}

/// The file of `charge_part` into which a file of `job_charges` goes.
fn charge_part_of(path: &str) -> Option<String> {
    if let Some((month, year)) = lake::parse_bill_path(path) {
        let SiteMonth { site, .. } = lake::parse_month_path(path)?;
        return Some(lake::bill_path(
            "charge_part",
            &site,
            Month::of_day(month)?,
            month,
            year,
        ));
    }
    let SiteMonth { site, month } = lake::parse_month_path(path)?;
    if lake::is_month_path("job_charges", path) {
        return Some(lake::month_path("charge_part", &site, month));
    }
    let rest = path.strip_prefix("job_charges/")?;
    Some(format!("charge_part/{rest}"))
}

fn check_charge_parts(of: &Recomputation<'_>) -> Result<RecomputedFindings> {
    let mut parts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in of.manifest.dataset("charge_part") {
        parts.entry(file.path.clone()).or_default();
    }
    for file in of.manifest.dataset("job_charges") {
        if let Some(part) = charge_part_of(&file.path) {
            parts.entry(part).or_default().push(&file.path);
        }
    }
    let parts: Vec<(String, Vec<&str>)> = parts.into_iter().collect();
    let found = pool::each(&parts, threads(), |(path, charged)| {
        Recomputation::found(path, || {
            let mut sums = ChargeSums::default();
            for charged in charged {
                for batch in read_table(of.store.reader(charged)?, None, READ_ROWS)? {
                    sums.add(batch?)?;
                }
            }
            let computed = sums.finish()?;
            let problem = of.compare(path, "charge_part", computed.as_ref(), &Compared::all(&KEYS))?;
            Ok(problem.map(|problem| (path.clone(), problem)).into_iter().collect())
        })
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// A dataset that is kept by site, VO and allocation year, and made of one that is kept by site and month.
struct YearDataset {
    name: &'static str,
    part: &'static str,
    path: fn(&str, Option<&str>, i64) -> String,
    keys: fn() -> Vec<&'static str>,
    total: fn(&mut dyn Iterator<Item = Result<RecordBatch>>) -> Result<Option<RecordBatch>>,
}

const USAGE: YearDataset = YearDataset {
    name: "usage",
    part: "usage_part",
    path: lake::usage_path,
    keys: usage_keys,
    total: |batches| {
        let mut total = Contributions::default();
        for batch in batches {
            total.add(batch?)?;
        }
        total.finish().map(Some)
    },
};

const CHARGES: YearDataset = YearDataset {
    name: "charges",
    part: "charge_part",
    path: lake::charges_path,
    // Without those that are in the path.
    keys: || {
        KEYS.into_iter()
            .filter(|key| !["vo", "allocation_year"].contains(key))
            .collect()
    },
    total: |batches| {
        let mut sums = ChargeSums::default();
        for batch in batches {
            sums.add(batch?)?;
        }
        sums.finish()?.map(|rows| with_years(&rows)).transpose()
    },
};

/// A site and allocation year.
type SiteYear = (String, i64);

fn check_years(of: &Recomputation<'_>, dataset: &YearDataset) -> Result<RecomputedFindings> {
    let mut parts: BTreeMap<SiteYear, BTreeSet<&str>> = BTreeMap::new();
    for file in of.manifest.dataset(dataset.name) {
        if let Some((site, _, year)) = lake::parse_usage_path(&file.path) {
            parts.entry((site, year)).or_default();
        }
    }
    for file in of.manifest.dataset(dataset.part) {
        let Some(SiteMonth { site, .. }) = lake::parse_month_path(&file.path) else {
            continue;
        };
        for batch in read_table(of.store.reader(&file.path)?, Some(&["allocation_year"]), READ_ROWS)? {
            let years: BTreeSet<i64> = int(&batch?, "allocation_year")?.values().iter().copied().collect();
            for year in years {
                parts.entry((site.clone(), year)).or_default().insert(&file.path);
            }
        }
    }
    let parts: Vec<(SiteYear, BTreeSet<&str>)> = parts.into_iter().collect();
    let found = pool::each(&parts, threads(), |((site, year), parts)| {
        Recomputation::found(dataset.name, || check_year(of, dataset, site, *year, parts))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// Where rows of a VO and allocation year are published, also under a folder that an earlier version named; where they
/// should be, if nowhere.
fn published_path(of: &Recomputation<'_>, dataset: &YearDataset, site: &str, vo: Option<&str>, year: i64) -> String {
    let mut published = of.manifest.dataset(dataset.name);
    let is_here = |path: &str| {
        lake::parse_usage_path(path)
            .is_some_and(|(of_site, of_vo, of_year)| of_site == site && of_vo.as_deref() == vo && of_year == year)
    };
    let found = published.find(|file| is_here(&file.path));
    found.map_or_else(|| (dataset.path)(site, vo, year), |file| file.path.clone())
}

fn check_year(
    of: &Recomputation<'_>,
    dataset: &YearDataset,
    site: &str,
    year: i64,
    parts: &BTreeSet<&str>,
) -> Result<RecomputedFindings> {
    let mut tables = Vec::new();
    for path in parts {
        tables.push(read_table(of.store.reader(path)?, None, READ_ROWS)?);
    }
    let mut batches = tables.into_iter().flatten().map(|batch| {
        let batch = batch?;
        let years = int(&batch, "allocation_year")?;
        let is_of: BooleanArray = years.iter().map(|of| Some(of == Some(year))).collect();
        Ok(filter_record_batch(&batch, &is_of)?)
    });
    let computed = if parts.is_empty() {
        None
    } else {
        (dataset.total)(&mut batches)?
    };
    let declared = schema::dataset(dataset.name)?;
    let keys = (dataset.keys)();
    let compared = Compared::all(&keys);
    let (mut findings, mut due) = (RecomputedFindings::new(), BTreeSet::new());
    if let Some(rows) = computed.filter(|rows| rows.num_rows() > 0) {
        for (slice, range) in slices(&rows)? {
            let path = published_path(of, dataset, site, slice.vo.as_deref(), slice.allocation_year);
            let rows = project(&rows.slice(range.start, range.len()), declared)?;
            if let Some(problem) = of.compare(&path, dataset.name, Some(&rows), &compared)? {
                findings.push((path.clone(), problem));
            }
            due.insert(path);
        }
    }
    let published = of.manifest.dataset(dataset.name).map(|file| file.path.as_str());
    for path in published.filter(|path| !due.contains(*path)) {
        if lake::parse_usage_path(path).is_some_and(|(of_site, _, of_year)| of_site == site && of_year == year) {
            findings.push((path.to_owned(), "holds rows without a counterpart".to_owned()));
        }
    }
    Ok(findings)
}
