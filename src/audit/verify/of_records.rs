//! What the records and summaries of a site and month come to: contributions to usage, and charges job by job.

use std::collections::BTreeSet;

use arrow_array::{Array, RecordBatch};
use arrow_select::concat::concat_batches;

use super::difference::Compared;
use super::recomputation::{READ_ROWS, Recomputation, RecomputedFindings, threads};
use crate::charge::policy::Subject;
use crate::dedupe::summary::from_batch;
use crate::error::Result;
use crate::lake::counted_records::UncountedRecords;
use crate::lake::views::folded;
use crate::normalise::kept_factors;
use crate::record::SiteMonth;
use crate::runtime::pool;
use crate::schema;
use crate::schema::batch::{decoded, int, text};
use crate::store::{lake, read_table};
use crate::summarise::Usage;
use crate::summarise::charges::Charges;
use crate::summarise::group::{DIMENSIONS, to_batch};
use crate::summarise::summaries::SummaryUsage;
use crate::summarise::sums::WORK_COLUMNS;

/// The key of contributions.
pub(super) fn usage_keys() -> Vec<&'static str> {
    let mut keys = vec!["month", "day"];
    keys.extend(DIMENSIONS);
    keys.push("correction_id");
    keys
}

/// The key of charges of jobs.
const CHARGE_KEYS: [&str; 8] = [
    "record_id",
    "job_id",
    "policy",
    "policy_version",
    "options",
    "month",
    "day",
    "correction_id",
];

/// Counts of benchmarks: like work they follow from the table of benchmarks, which the lake does not keep.
const BENCHMARK_COUNTS: [&str; 2] = ["benchmark_missing_job_n", "benchmark_fallback_job_n"];

/// Compares `usage_part` and the `job_charges` of jobs with what records, summaries and corrections come to.
pub(super) fn check(of: &Recomputation<'_>) -> Result<RecomputedFindings> {
    let files = ["records", "summary", "usage_part"].map(|dataset| of.manifest.dataset(dataset));
    let reported = files
        .into_iter()
        .flatten()
        .filter_map(|file| lake::parse_month_path(&file.path));
    let added = of.corrections.additions();
    let added = added.map(|(site, month, _)| SiteMonth::new(site, month));
    let charged = of.manifest.dataset("job_charges");
    let charged = charged
        .filter(|file| lake::is_month_path("job_charges", &file.path))
        .filter_map(|file| lake::parse_month_path(&file.path));
    let places: BTreeSet<SiteMonth> = reported.chain(added).chain(charged).collect();
    let places: Vec<SiteMonth> = places.into_iter().collect();
    let found = pool::each(&places, threads(), |place| {
        let path = lake::month_path("usage_part", &place.site, place.month);
        Recomputation::found(&path, || check_place(of, place))
    })?;
    Ok(found.into_iter().flatten().collect())
}

fn check_place(of: &Recomputation<'_>, place: &SiteMonth) -> Result<RecomputedFindings> {
    let (site, month) = (place.site.as_str(), place.month);
    let mut usage = Usage::new(of.settings(), site);
    let mut charges = Charges::new(of.settings(), site, Subject::Jobs);
    let mut held = HeldCharges::open(of, lake::month_path("job_charges", site, month))?;
    // Sources whose times arrived scaled to a reference: what its value was the lake does not keep.
    let mut scaled = BTreeSet::new();
    if let Some(rows) = charges.add_corrections(month)? {
        held.compare(&decoded(&rows)?)?;
    }
    let records = lake::month_path("records", site, month);
    if of.manifest.file(&records).is_some() {
        for batch in read_table(of.store.reader(&records)?, None, READ_ROWS)? {
            let batch = counting(of, place, batch?)?;
            note_scaled(&batch, &mut scaled)?;
            usage.add(&batch, &kept_factors(&batch)?)?;
            if let Some(rows) = charges.add(&batch, &[])? {
                held.compare(&decoded(&rows)?)?;
            }
        }
    }
    usage.add_corrections(month);
    let mut rows = usage.into_groups().into_sorted();
    let mut summaries = SummaryUsage::new(of.settings(), site);
    let summary = lake::month_path("summary", site, month);
    if of.manifest.file(&summary).is_some() {
        for batch in read_table(of.store.reader(&summary)?, None, READ_ROWS)? {
            for row in from_batch(&batch?, site, month)? {
                summaries.add(&row);
            }
        }
    }
    rows.append(&mut summaries.into_sorted());
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    let computed = to_batch(&rows, schema::dataset("usage_part")?)?;
    let without_work: Vec<bool> = rows
        .iter()
        .map(|of| {
            let key = of.key.borrow();
            let is_summary = key.dimension("view").is_some_and(|view| view.starts_with("summary"));
            is_summary || key.dimension("source").is_some_and(|source| scaled.contains(source))
        })
        .collect();
    let is_benchmark = |name: &str| WORK_COLUMNS.contains(&name) || BENCHMARK_COUNTS.contains(&name);
    let keys = [&["vo", "allocation_year"], usage_keys().as_slice()].concat();
    let compared = Compared {
        keys: &keys,
        is_computed: &|name, row| without_work.get(row) != Some(&true) || !is_benchmark(name),
    };
    let part = lake::month_path("usage_part", site, month);
    let mut findings = held.findings()?;
    if let Some(problem) = of.compare(&part, "usage_part", Some(&computed), &compared)? {
        findings.push((part, problem));
    }
    Ok(findings)
}

/// The records that count: not refused, and not of a view that summaries cover.
fn counting(of: &Recomputation<'_>, place: &SiteMonth, batch: RecordBatch) -> Result<RecordBatch> {
    let uncounted = UncountedRecords {
        refused: of.refused,
        displaced: of.displaced.get(&folded(place)),
    };
    uncounted.without(batch)
}

fn note_scaled(batch: &RecordBatch, scaled: &mut BTreeSet<String>) -> Result<()> {
    let (cpu, wall) = (int(batch, "scaled_cpu_ms")?, int(batch, "scaled_wall_ms")?);
    if cpu.null_count() == batch.num_rows() && wall.null_count() == batch.num_rows() {
        return Ok(());
    }
    let sources = text(batch, "source")?;
    for row in 0..batch.num_rows() {
        if (cpu.is_valid(row) || wall.is_valid(row)) && !scaled.contains(sources.value(row)) {
            scaled.insert(sources.value(row).to_owned());
        }
    }
    Ok(())
}

/// The published charges of the jobs of a site and month, read along with those that are computed.
struct HeldCharges {
    path: String,
    batches: Box<dyn Iterator<Item = Result<RecordBatch>>>,
    /// What was read and not yet compared.
    ahead: RecordBatch,
    /// The first difference.
    problem: Option<String>,
    is_compared: bool,
}

impl HeldCharges {
    fn open(of: &Recomputation<'_>, path: String) -> Result<Self> {
        let batches: Box<dyn Iterator<Item = Result<RecordBatch>>> = if of.manifest.file(&path).is_some() {
            Box::new(read_table(of.store.reader(&path)?, None, READ_ROWS)?)
        } else {
            Box::new(std::iter::empty())
        };
        Ok(Self {
            path,
            batches,
            ahead: RecordBatch::new_empty(schema::dataset("job_charges")?.arrow()),
            problem: None,
            is_compared: of.is_priced(),
        })
    }

    /// The next rows of the file, as many as there are of `rows`.
    fn next(&mut self, rows: usize) -> Result<RecordBatch> {
        let mut taken = vec![self.ahead.clone()];
        let mut taken_n = self.ahead.num_rows();
        while taken_n < rows {
            let Some(batch) = self.batches.next() else { break };
            let batch = batch?;
            taken_n += batch.num_rows();
            taken.push(batch);
        }
        let all = concat_batches(&self.ahead.schema(), &taken)?;
        let rows = rows.min(taken_n);
        self.ahead = all.slice(rows, taken_n - rows);
        Ok(all.slice(0, rows))
    }

    fn compare(&mut self, computed: &RecordBatch) -> Result<()> {
        if !self.is_compared || self.problem.is_some() {
            return Ok(());
        }
        let held = self.next(computed.num_rows())?;
        self.problem = Compared::all(&CHARGE_KEYS).difference(computed, &held)?;
        Ok(())
    }

    fn findings(mut self) -> Result<RecomputedFindings> {
        if self.is_compared && self.problem.is_none() {
            let none = RecordBatch::new_empty(self.ahead.schema());
            let rest = self.next(1)?;
            self.problem = Compared::all(&CHARGE_KEYS).difference(&none, &rest)?;
        }
        Ok(self.problem.map(|problem| (self.path, problem)).into_iter().collect())
    }
}
