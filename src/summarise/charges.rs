//! From job records to charges, job by job and period by period.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::take;

use super::apportion::{apportion, apportion_wide};
use super::pieces::Cutter;
use super::view::RecordView;
use crate::charge::facts::Facts;
use crate::charge::{Priced, Tariff, price};
use crate::engine::{How, Measure, add_up};
use crate::error::{Error, Kind, Result};
use crate::pipeline::Plan;
use crate::schema;
use crate::schema::batch::{column, dates, decimals, ints, number, texts};

/// Columns of `job_charges` that are taken from `records` as they are.
const RECORDED: [&str; 10] = [
    "record_utc",
    "record_id",
    "job_id",
    "vo",
    "source",
    "cluster",
    "account",
    "view",
    "partition",
    "qos",
];

/// Columns of `charge_part` that tell rows apart, in their order.
pub const KEYS: [&str; 16] = [
    "vo",
    "allocation_year",
    "year_s",
    "month",
    "day",
    "pool",
    "policy",
    "policy_version",
    "options",
    "unit",
    "source",
    "cluster",
    "account",
    "view",
    "partition",
    "qos",
];

/// Columns of `charge_part` that are added up.
pub const SUMMED: [&str; 5] = ["job_n", "unpriced_job_n", "alloc_core_s", "alloc_gpu_s", "charge"];

/// Charges the records of one site.
pub struct Charges<'a> {
    tariffs: &'a [Arc<Tariff>],
    /// When each tariff holds, Unix milliseconds, half-open.
    holds: Vec<(i64, i64)>,
    needs: BTreeSet<&'a str>,
    site: &'a str,
    cutter: Cutter,
    parts: Vec<RecordBatch>,
}

/// Columns of `job_charges` that are worked out, one value a row.
#[derive(Default)]
struct Rows {
    record: Vec<u32>,
    tariff: Vec<usize>,
    allocation_year: Vec<Option<i64>>,
    month: Vec<Option<i32>>,
    day: Vec<Option<i32>>,
    job_n: Vec<Option<i64>>,
    unpriced_job_n: Vec<Option<i64>>,
    alloc_core_s: Vec<Option<i64>>,
    alloc_gpu_s: Vec<Option<i64>>,
    charge: Vec<Option<i128>>,
    why_unpriced: Vec<Option<String>>,
}

impl<'a> Charges<'a> {
    /// Nothing yet.
    #[must_use]
    pub fn new(plan: &'a Plan, site: &'a str) -> Self {
        let cutter = Cutter::new(plan);
        let midnight = |day: Option<i32>, open: i64| day.map_or(open, |day| cutter.calendar.begins_ms(day));
        let holds = plan.tariffs.iter().map(|tariff| {
            let policy = &tariff.policy;
            (
                midnight(policy.valid_from, i64::MIN),
                midnight(policy.valid_to, i64::MAX),
            )
        });
        Self {
            tariffs: &plan.tariffs,
            holds: holds.collect(),
            needs: plan.tariffs.iter().flat_map(|tariff| tariff.policy.needs()).collect(),
            site,
            cutter,
            parts: Vec::new(),
        }
    }

    /// Charges a batch of `records` but for the rows in `refused`; gives the rows of `job_charges`.
    ///
    /// # Errors
    /// [`Kind::Data`] naming the policy when a number does not fit.
    pub fn add(&mut self, batch: &RecordBatch, refused: &[usize]) -> Result<Option<RecordBatch>> {
        if self.tariffs.is_empty() || batch.num_rows() == 0 {
            return Ok(None);
        }
        let view = RecordView::new(batch)?;
        let facts = Facts::of_records(batch, self.site, &self.needs)?;
        let priced: Vec<Priced> = self
            .tariffs
            .iter()
            .map(|tariff| price(&tariff.policy, &tariff.options, &facts, false))
            .collect::<Result<_>>()?;
        let mut rows = Rows::default();
        for row in 0..batch.num_rows() {
            if refused.binary_search(&row).is_ok() {
                continue;
            }
            let end_ms = number(view.end_utc, row);
            let Some(end_piece) = self.cutter.cut(&view, row, end_ms) else {
                continue;
            };
            for (nth, priced) in priced.iter().enumerate() {
                if priced.is_in_scope.get(row) == Some(&true) {
                    self.add_row(&view, row, (nth, priced), end_ms.map(|_| end_piece), &facts, &mut rows)?;
                }
            }
        }
        if rows.record.is_empty() {
            return Ok(None);
        }
        let charged = self.batch(batch, rows)?;
        self.parts.push(part(std::slice::from_ref(&charged))?);
        Ok(Some(charged))
    }

    /// One job under one tariff: its charge in proportion to the time it ran in each period while the policy held.
    fn add_row(
        &self,
        view: &RecordView<'_>,
        row: usize,
        (nth, priced): (usize, &Priced),
        end_piece: Option<usize>,
        facts: &Facts,
        rows: &mut Rows,
    ) -> Result<()> {
        let Some(&(from_ms, until_ms)) = self.holds.get(nth) else {
            return Ok(());
        };
        let cutter = &self.cutter;
        let is_instant = cutter.until_ms <= cutter.from_ms;
        let last = cutter.pieces.len().saturating_sub(1);
        let mut weights = Vec::with_capacity(cutter.pieces.len() + 1);
        let mut held = Vec::with_capacity(cutter.pieces.len());
        for (at, (period, weight)) in cutter.pieces.iter().zip(&cutter.weights).enumerate() {
            let start = if at == 0 { cutter.from_ms } else { period.from_ms };
            let within = (start + weight).min(until_ms).saturating_sub(start.max(from_ms)).max(0);
            // A job without length, and the empty piece after a job that ends on an edge, belong where they lie.
            let is_held =
                within > 0 || (*weight == 0 && from_ms <= start && start < until_ms && (is_instant || at == last));
            weights.push(within);
            held.push(is_held);
        }
        if !held.contains(&true) {
            return Ok(());
        }
        let outside = cutter.weights.iter().sum::<i64>() - weights.iter().sum::<i64>();
        if outside > 0 {
            weights.push(outside);
        }
        let charge = priced.charge.get(row).copied().flatten();
        let too_large = || Error::new(Kind::Data, "a charge is too large to be split");
        let shares = apportion_wide(charge.unwrap_or(0), &weights).ok_or_else(too_large)?;
        let mut walls = Vec::new();
        apportion(view.wall_s.value(row), &weights, &mut walls);
        let mut gpu_times = Vec::new();
        apportion(view.held_s(row), &weights, &mut gpu_times);
        let core_n = number(view.alloc_core_n, row).unwrap_or(0);
        let gpu_n = number(view.alloc_gpu_n, row).unwrap_or(0);
        // A job counts where it ends; a policy that no longer holds then charged it in part.
        let is_empty_end = cutter.weights.last().is_some_and(|weight| *weight == 0);
        let end_ms = cutter.until_ms - i64::from(!is_empty_end);
        let ends_here = from_ms <= end_ms && end_ms < until_ms;
        let why = charge.is_none().then(|| self.why_unpriced(nth, facts, row));
        for (at, period) in cutter.pieces.iter().enumerate() {
            let share = shares.get(at).copied().unwrap_or(0);
            if held.get(at) != Some(&true) && share == 0 {
                continue;
            }
            let counts = i64::from(end_piece == Some(at) && ends_here);
            let of = |shares: &[i64]| shares.get(at).copied().unwrap_or(0);
            rows.record
                .push(u32::try_from(row).map_err(|e| Error::internal("a batch of 4 billion rows").because(e))?);
            rows.tariff.push(nth);
            rows.allocation_year.push(Some(period.allocation_year));
            rows.month.push(Some(period.month));
            rows.day.push(period.day);
            rows.job_n.push(Some(if charge.is_some() { counts } else { 0 }));
            rows.unpriced_job_n
                .push(Some(if charge.is_none() { counts } else { 0 }));
            rows.alloc_core_s.push(Some(of(&walls).saturating_mul(core_n)));
            rows.alloc_gpu_s.push(Some(of(&gpu_times).saturating_mul(gpu_n)));
            rows.charge.push(charge.map(|_| share));
            rows.why_unpriced.push(why.clone());
        }
        Ok(())
    }

    fn why_unpriced(&self, nth: usize, facts: &Facts, row: usize) -> String {
        let tariff = self.tariffs.get(nth);
        tariff.map_or_else(String::new, |tariff| facts.why_unpriced(&tariff.policy, row))
    }

    fn batch(&self, records: &RecordBatch, rows: Rows) -> Result<RecordBatch> {
        let at = UInt32Array::from(rows.record);
        let tariffs = || rows.tariff.iter().map(|nth| self.tariffs.get(*nth));
        let of = |text: fn(&Tariff) -> &str| texts(tariffs().map(|tariff| tariff.map(|tariff| text(tariff))));
        let mut years = Vec::with_capacity(rows.allocation_year.len());
        for year in &rows.allocation_year {
            years.push(year.and_then(|year| self.cutter.calendar.year_s(year)));
        }
        let made: Vec<(&str, ArrayRef)> = vec![
            ("pool", of(|tariff| &tariff.policy.pool)),
            ("policy", of(|tariff| &tariff.policy.id)),
            ("policy_version", of(|tariff| &tariff.policy.version)),
            ("options", of(|tariff| &tariff.chosen)),
            ("unit", of(|tariff| &tariff.policy.unit)),
            ("allocation_year", ints(rows.allocation_year.iter().copied())),
            ("year_s", ints(years)),
            ("month", dates(rows.month)),
            ("day", dates(rows.day)),
            ("job_n", ints(rows.job_n)),
            ("unpriced_job_n", ints(rows.unpriced_job_n)),
            ("alloc_core_s", ints(rows.alloc_core_s)),
            ("alloc_gpu_s", ints(rows.alloc_gpu_s)),
            ("charge", decimals(rows.charge, 9)?),
            ("why_unpriced", texts(rows.why_unpriced)),
        ];
        let dataset = schema::dataset("job_charges")?;
        let columns = dataset.columns.iter().map(|declared| {
            if RECORDED.contains(&declared.name.as_str()) {
                return Ok(take(column(records, &declared.name)?, &at, None)?);
            }
            let found = made.iter().find(|(name, _)| *name == declared.name);
            let missing = || Error::internal(format!("nothing makes the column {}", declared.name));
            found.map(|(_, array)| ArrayRef::clone(array)).ok_or_else(missing)
        });
        dataset.batch(columns.collect::<Result<_>>()?)
    }

    /// What was charged, as a `charge_part` batch.
    ///
    /// # Errors
    /// [`Kind::Data`] when a sum does not fit.
    pub fn into_part(self) -> Result<RecordBatch> {
        part(&self.parts)
    }
}

/// Charges added up: one row for each combination of [`KEYS`], as a `charge_part` batch.
///
/// # Errors
/// [`Kind::Data`] when a sum does not fit.
pub fn part(batches: &[RecordBatch]) -> Result<RecordBatch> {
    let dataset = schema::dataset("charge_part")?;
    let measures = SUMMED.map(|column| Measure { column, how: How::Sum });
    let total = add_up(batches, &KEYS, &measures, &dataset.arrow())?;
    dataset.admit(&total)?;
    Ok(total)
}
