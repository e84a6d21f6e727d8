//! Rows of `job_charges` as columns that are filled row by row.

use std::sync::Arc;

use arrow_array::builder::{NullBufferBuilder, PrimitiveBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Date32Type, Int64Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, Decimal128Array, DictionaryArray, Int64Array, RecordBatch, UInt32Array, new_null_array,
};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::row::ChargeFigures;
use super::year_lengths::YearLengths;
use crate::charge::Tariff;
use crate::charge::amount::CHARGE_PLACES;
use crate::error::{Error, Result};
use crate::schema;
use crate::schema::batch::{addend, column, plain, texts};
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

/// Rows that follow each other in one period.
struct PeriodRows {
    period: Period,
    row_n: usize,
}

/// A text of one row.
struct RowText {
    row: usize,
    text: Arc<str>,
}

/// The columns of some rows.
pub(super) struct ChargeColumns {
    /// Where the recorded columns of each row stand.
    records: Vec<u32>,
    /// The place of its tariff.
    tariffs: Vec<u32>,
    periods: Vec<PeriodRows>,
    job_n: Vec<i64>,
    unpriced_job_n: Vec<i64>,
    alloc_core_s: Vec<i64>,
    alloc_core_fraction_ms: Vec<i64>,
    alloc_gpu_s: Vec<i64>,
    charge: Vec<i128>,
    is_charge_known: NullBufferBuilder,
    why_unpriced: Vec<RowText>,
    correction_id: Vec<RowText>,
}

impl ChargeColumns {
    /// Of no rows yet, with room for so many.
    pub(super) fn with_capacity(row_n: usize) -> Self {
        Self {
            records: Vec::with_capacity(row_n),
            tariffs: Vec::with_capacity(row_n),
            periods: Vec::new(),
            job_n: Vec::with_capacity(row_n),
            unpriced_job_n: Vec::with_capacity(row_n),
            alloc_core_s: Vec::with_capacity(row_n),
            alloc_core_fraction_ms: Vec::with_capacity(row_n),
            alloc_gpu_s: Vec::with_capacity(row_n),
            charge: Vec::with_capacity(row_n),
            is_charge_known: NullBufferBuilder::new(row_n),
            why_unpriced: Vec::new(),
            correction_id: Vec::new(),
        }
    }

    /// How many rows there are.
    pub(super) fn row_n(&self) -> usize {
        self.records.len()
    }

    /// Adds rows.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for more than 4 billion records or policies.
    pub(super) fn extend(&mut self, rows: &[ChargeFigures]) -> Result<()> {
        self.records.extend(places(rows, |row| row.record)?);
        self.tariffs.extend(places(rows, |row| row.tariff)?);
        if rows.iter().all(|row| row.charge.is_some()) {
            self.is_charge_known.append_n_non_nulls(rows.len());
        } else {
            for row in rows {
                self.is_charge_known.append(row.charge.is_some());
            }
        }
        for alike in rows.chunk_by(|row, next| row.period.from_ms == next.period.from_ms) {
            match (self.periods.last_mut(), alike.first()) {
                (Some(last), Some(first)) if last.period.from_ms == first.period.from_ms => last.row_n += alike.len(),
                (_, Some(ChargeFigures { period, .. })) => self.periods.push(PeriodRows {
                    period: *period,
                    row_n: alike.len(),
                }),
                (_, None) => {}
            }
        }
        self.job_n.extend(rows.iter().map(|row| row.job_n));
        self.unpriced_job_n.extend(rows.iter().map(|row| row.unpriced_job_n));
        self.alloc_core_s.extend(rows.iter().map(|row| row.alloc_core_s));
        let fractions = rows.iter().map(|row| row.alloc_core_fraction_ms);
        self.alloc_core_fraction_ms.extend(fractions);
        self.alloc_gpu_s.extend(rows.iter().map(|row| row.alloc_gpu_s));
        self.charge.extend(rows.iter().map(|row| addend(row.charge)));
        Ok(())
    }

    /// Notes why a row has no charge. Rows come in their order.
    pub(super) fn note_why_unpriced(&mut self, row: usize, text: Arc<str>) {
        self.why_unpriced.push(RowText { row, text });
    }

    /// Notes the correction that a row is an entry of. Rows come in their order.
    pub(super) fn note_correction_id(&mut self, row: usize, text: Arc<str>) {
        self.correction_id.push(RowText { row, text });
    }

    /// The rows as a batch of `job_charges`. `records` hold the columns of [`RECORDED`], one batch behind the other.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it is not as declared.
    pub(super) fn finish(
        mut self,
        records: &[&RecordBatch],
        tariffs: &[&Tariff],
        calendar: &Calendar,
    ) -> Result<RecordBatch> {
        let row_n = self.records.len();
        let mut tariffs = TariffTexts::new(self.tariffs, tariffs)?;
        let mut lengths = YearLengths::new(calendar);
        let mut year_s = |period: &Period| lengths.of(period.allocation_year);
        let periods = &self.periods;
        let charge = Decimal128Array::try_new(self.charge.into(), self.is_charge_known.finish())?;
        let charge_type = DataType::Decimal128(38, CHARGE_PLACES.cast_signed());
        let made: Vec<(&str, ArrayRef)> = vec![
            ("subject", tariffs.of(|tariff| tariff.policy.subject.as_str())?),
            ("pool", tariffs.of(|tariff| &tariff.policy.pool)?),
            ("policy", tariffs.of(|tariff| &tariff.policy.id)?),
            ("policy_version", tariffs.of(|tariff| &tariff.policy.version)?),
            ("options", tariffs.of(|tariff| &tariff.chosen)?),
            ("unit", tariffs.of(|tariff| &tariff.policy.unit)?),
            (
                "allocation_year",
                of_periods::<Int64Type>(periods, |period| Some(period.allocation_year)),
            ),
            ("year_s", of_periods::<Int64Type>(periods, &mut year_s)),
            ("month", of_periods::<Date32Type>(periods, |period| Some(period.month))),
            ("day", of_periods::<Date32Type>(periods, |period| period.day)),
            ("job_n", Arc::new(Int64Array::from(self.job_n))),
            ("unpriced_job_n", Arc::new(Int64Array::from(self.unpriced_job_n))),
            ("alloc_core_s", Arc::new(Int64Array::from(self.alloc_core_s))),
            (
                "alloc_core_fraction_ms",
                Arc::new(Int64Array::from(self.alloc_core_fraction_ms)),
            ),
            ("alloc_gpu_s", Arc::new(Int64Array::from(self.alloc_gpu_s))),
            ("charge", Arc::new(charge.with_data_type(charge_type))),
            ("why_unpriced", seldom(&self.why_unpriced, row_n)),
            ("correction_id", seldom(&self.correction_id, row_n)),
        ];
        job_charges(records, &UInt32Array::from(self.records), &made)
    }
}

/// Places of rows as columns have them.
fn places(rows: &[ChargeFigures], of: impl Fn(&ChargeFigures) -> usize) -> Result<impl Iterator<Item = u32>> {
    let bits = rows.iter().fold(0, |bits, row| bits | of(row));
    u32::try_from(bits).map_err(|why| Error::internal("4 billion at once").because(why))?;
    // Fallback: never taken, no place has more bits than all of them.
    Ok(rows.iter().map(move |row| u32::try_from(of(row)).unwrap_or(u32::MAX)))
}

/// What each row has of its period.
fn of_periods<T: ArrowPrimitiveType>(
    periods: &[PeriodRows],
    mut of: impl FnMut(&Period) -> Option<T::Native>,
) -> ArrayRef {
    let row_n = periods.iter().map(|of| of.row_n).sum();
    let mut column = PrimitiveBuilder::<T>::with_capacity(row_n);
    for PeriodRows { period, row_n } in periods {
        match of(period) {
            Some(value) => column.append_value_n(value, *row_n),
            None => column.append_nulls(*row_n),
        }
    }
    Arc::new(column.finish())
}

/// Codes that several columns of texts share.
struct SharedCodes {
    /// How many of them.
    row_n: usize,
    /// The code of the first entry for each row; made when a column needs it.
    first: Option<DictionaryArray<UInt32Type>>,
}

impl SharedCodes {
    fn new(row_n: usize) -> Self {
        Self { row_n, first: None }
    }

    /// A column that has one text in all rows: of the only entry a file takes no more than a number.
    fn only(&mut self, entry: ArrayRef) -> Result<ArrayRef> {
        // Codes are compared with the number of entries once.
        let coded = match self.first.take() {
            Some(coded) => coded.with_values(entry),
            None => DictionaryArray::try_new(UInt32Array::from(vec![0; self.row_n]), entry)?,
        };
        Ok(Arc::new(self.first.insert(coded).clone()))
    }
}

/// Texts of the tariffs of rows.
struct TariffTexts<'a> {
    /// The id of the tariff of each row.
    ids: DictionaryArray<UInt32Type>,
    shared: SharedCodes,
    tariffs: &'a [&'a Tariff],
}

impl<'a> TariffTexts<'a> {
    fn new(codes: Vec<u32>, tariffs: &'a [&'a Tariff]) -> Result<Self> {
        let ids = texts(tariffs.iter().map(|tariff| Some(&tariff.policy.id)));
        Ok(Self {
            shared: SharedCodes::new(codes.len()),
            ids: DictionaryArray::try_new(UInt32Array::from(codes), ids)?,
            tariffs,
        })
    }

    /// A text of each row's tariff.
    fn of(&mut self, text: fn(&Tariff) -> &str) -> Result<ArrayRef> {
        let entries: Vec<&str> = self.tariffs.iter().map(|tariff| text(tariff)).collect();
        match entries.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => {
                self.shared.only(texts([Some(first)]))
            }
            _ => Ok(Arc::new(self.ids.with_values(texts(entries.into_iter().map(Some))))),
        }
    }
}

/// A column of texts that hardly any row has.
fn seldom(texts_of: &[RowText], row_n: usize) -> ArrayRef {
    if texts_of.is_empty() {
        return new_null_array(&DataType::Utf8, row_n);
    }
    let mut next = texts_of.iter().peekable();
    texts((0..row_n).map(|row| next.next_if(|text| text.row == row).map(|text| &*text.text)))
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
    let mut shared = SharedCodes::new(at.len());
    let columns = dataset.columns.iter().map(|declared| {
        let name = declared.name.as_str();
        if RECORDED.contains(&name) {
            let parts: Vec<&ArrayRef> = records.iter().map(|batch| column(batch, name)).collect::<Result<_>>()?;
            return Ok(match parts.as_slice() {
                [only] if is_each_once => ArrayRef::clone(only),
                // Ids are many, and those of rows that repeat are not copied.
                [only] if name == "job_id" && only.data_type() == &DataType::Utf8 && only.null_count() == 0 => {
                    Arc::new(DictionaryArray::try_new(at.clone(), ArrayRef::clone(only))?)
                }
                // Most columns of texts have one text in all rows of a batch.
                [only] if let Some(entry) = only_entry(only) => shared.only(ArrayRef::clone(entry))?,
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

/// The entry that every row of a column of codes has.
fn only_entry(column: &ArrayRef) -> Option<&ArrayRef> {
    let coded = column.as_dictionary_opt::<UInt32Type>()?;
    (coded.values().len() == 1 && coded.null_count() == 0 && coded.values().null_count() == 0).then(|| coded.values())
}
