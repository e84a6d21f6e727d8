//! Rows of `job_charges`, from what was worked out to a batch.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, DictionaryArray, Int64Array, RecordBatch, UInt32Array, new_null_array};
use arrow::compute::{concat, take};
use arrow::datatypes::DataType;

use super::year_lengths::YearLengths;
use crate::charge::Tariff;
use crate::charge::amount::CHARGE_SCALE;
use crate::error::{Error, Result};
use crate::schema;
use crate::schema::batch::{column, dates, decimals, ints, plain, texts};
use crate::time::Calendar;
use crate::time::calendar::Period;

/// Columns of `job_charges` that are taken from `records` as they are.
pub const RECORDED: [&str; 10] = [
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

/// What one tariff charges a job in one period.
#[derive(Clone)]
pub(super) struct ChargeRow {
    /// The job, by its place in the batch.
    pub(super) job: usize,
    /// Where its recorded columns stand: in the batch, or behind it among jobs under other names.
    pub(super) record: usize,
    /// Place of the tariff.
    pub(super) tariff: usize,
    /// Which of the job's periods.
    pub(super) piece: usize,
    /// That period.
    pub(super) period: Period,
    /// Jobs charged.
    pub(super) job_n: i64,
    /// Jobs whose charge is unknown.
    pub(super) unpriced_job_n: i64,
    /// Raw core seconds.
    pub(super) alloc_core_s: i64,
    /// What those leave of wall time times cores, milliseconds.
    pub(super) alloc_core_fraction_ms: i64,
    /// Raw GPU seconds.
    pub(super) alloc_gpu_s: i64,
    /// The charge.
    pub(super) charge: Option<i128>,
    /// Why there is none.
    pub(super) why_unpriced: Option<Arc<str>>,
    /// The correction it is an entry of.
    pub(super) correction_id: Option<Arc<str>>,
}

impl ChargeRow {
    /// What takes this row out again, to the last digit, as an entry of a correction.
    pub(super) fn taken(&self, correction_id: &Arc<str>) -> Self {
        Self {
            job_n: -self.job_n,
            unpriced_job_n: -self.unpriced_job_n,
            alloc_core_s: -self.alloc_core_s,
            alloc_core_fraction_ms: -self.alloc_core_fraction_ms,
            alloc_gpu_s: -self.alloc_gpu_s,
            charge: self.charge.map(|charge| -charge),
            ..self.given(correction_id)
        }
    }

    /// The same row as an entry of a correction.
    pub(super) fn given(&self, correction_id: &Arc<str>) -> Self {
        Self {
            correction_id: Some(Arc::clone(correction_id)),
            ..self.clone()
        }
    }

    /// The order of the rows of a file after the record, as in its schema.
    pub(super) fn key(&self) -> (usize, usize, usize, Option<&str>) {
        (self.job, self.tariff, self.piece, self.correction_id.as_deref())
    }
}

/// Rows as a batch of `job_charges`. `records` hold the columns of [`RECORDED`], one batch behind the other.
pub(super) fn to_batch(
    rows: &[ChargeRow],
    records: &[&RecordBatch],
    tariffs: &[&Tariff],
    calendar: &Calendar,
) -> Result<RecordBatch> {
    let mut at = Vec::with_capacity(rows.len());
    for row in rows {
        let place = u32::try_from(row.record);
        at.push(place.map_err(|why| Error::internal("a batch of 4 billion rows").because(why))?);
    }
    let at = UInt32Array::from(at);
    let codes = rows.iter().map(|row| u32::try_from(row.tariff));
    let codes: Vec<u32> = codes
        .collect::<std::result::Result<_, _>>()
        .map_err(|why| Error::internal("4 billion policies").because(why))?;
    let named = |text: fn(&Tariff) -> &str| texts(tariffs.iter().map(|tariff| Some(text(tariff))));
    let ids = DictionaryArray::try_new(UInt32Array::from(codes), named(|tariff| &tariff.policy.id))?;
    // The codes are those of the ids.
    let of = |text: fn(&Tariff) -> &str| -> ArrayRef { Arc::new(ids.with_values(named(text))) };
    // Hardly any row is unpriced or corrected.
    let seldom = |of: fn(&ChargeRow) -> Option<&str>| {
        if rows.iter().all(|row| of(row).is_none()) {
            new_null_array(&DataType::Utf8, rows.len())
        } else {
            texts(rows.iter().map(of))
        }
    };
    let mut lengths = YearLengths::new(calendar);
    let year_s = rows.iter().map(|row| lengths.of(row.period.allocation_year));
    let charge_scale = i8::try_from(CHARGE_SCALE).unwrap_or(9);
    let made: Vec<(&str, ArrayRef)> = vec![
        ("subject", of(|tariff| tariff.policy.subject.as_str())),
        ("pool", of(|tariff| &tariff.policy.pool)),
        ("policy", of(|tariff| &tariff.policy.id)),
        ("policy_version", of(|tariff| &tariff.policy.version)),
        ("options", of(|tariff| &tariff.chosen)),
        ("unit", of(|tariff| &tariff.policy.unit)),
        ("allocation_year", counted(rows, |row| row.period.allocation_year)),
        ("year_s", ints(year_s)),
        ("month", dates(rows.iter().map(|row| Some(row.period.month)))),
        ("day", dates(rows.iter().map(|row| row.period.day))),
        ("job_n", counted(rows, |row| row.job_n)),
        ("unpriced_job_n", counted(rows, |row| row.unpriced_job_n)),
        ("alloc_core_s", counted(rows, |row| row.alloc_core_s)),
        (
            "alloc_core_fraction_ms",
            counted(rows, |row| row.alloc_core_fraction_ms),
        ),
        ("alloc_gpu_s", counted(rows, |row| row.alloc_gpu_s)),
        ("charge", decimals(rows.iter().map(|row| row.charge), charge_scale)?),
        ("why_unpriced", seldom(|row| row.why_unpriced.as_deref())),
        ("correction_id", seldom(|row| row.correction_id.as_deref())),
    ];
    job_charges(records, &at, &made)
}

fn counted(rows: &[ChargeRow], of: impl Fn(&ChargeRow) -> i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.iter().map(of)))
}

/// A batch of `job_charges`: rows of `records` by their place, as often as they are named, with what was worked out for
/// them. `records` hold the columns of [`RECORDED`], one batch behind the other.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a column is not made, or not as declared.
pub fn job_charges(records: &[&RecordBatch], at: &UInt32Array, made: &[(&str, ArrayRef)]) -> Result<RecordBatch> {
    let dataset = schema::dataset("job_charges")?;
    let record_n: usize = records.iter().map(|batch| batch.num_rows()).sum();
    let is_each_once = at.len() == record_n && (0..).zip(at.values()).all(|(place, at)| place == *at);
    let columns = dataset.columns.iter().map(|declared| {
        let name = declared.name.as_str();
        if RECORDED.contains(&name) {
            let parts: Vec<&ArrayRef> = records.iter().map(|batch| column(batch, name)).collect::<Result<_>>()?;
            return Ok(match parts.as_slice() {
                [only] if is_each_once => ArrayRef::clone(only),
                [only] => take(only, at, None)?,
                several => {
                    let several = several.iter().map(|part| plain(part)).collect::<Result<Vec<_>>>()?;
                    let several: Vec<&dyn Array> = several.iter().map(AsRef::as_ref).collect();
                    take(&concat(&several)?, at, None)?
                }
            });
        }
        let found = made.iter().find(|(made, _)| *made == name);
        let missing = || Error::internal(format!("nothing makes the column {name}"));
        found.map(|(_, array)| ArrayRef::clone(array)).ok_or_else(missing)
    });
    dataset.batch(columns.collect::<Result<_>>()?)
}
