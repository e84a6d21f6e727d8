//! Core-, GPU- and equivalent years of charges. A year is the allocation year the row is in, with the days it has: none
//! of 8760 or 8766 hours is meant.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};

use crate::charge::amount::CHARGE_SCALE;
use crate::charge::span::{spanned, times_over};
use crate::error::Result;
use crate::schema::batch::{decimal, decimals, int, number, text, texts};

/// Rows of `charge_part` with their years: of raw usage, and of the charge where its unit is something held for a time.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is not a batch of `charge_part`.
pub fn with_years(batch: &RecordBatch) -> Result<RecordBatch> {
    let (length_s, units) = (int(batch, "year_s")?, text(batch, "unit")?);
    let (core_s, gpu_s) = (int(batch, "alloc_core_s")?, int(batch, "alloc_gpu_s")?);
    let core_fraction_ms = int(batch, "alloc_core_fraction_ms")?;
    let charge = decimal(batch, "charge")?;
    let rows = 0..batch.num_rows();
    let one = 10_i128.pow(CHARGE_SCALE);
    let mut years: [Vec<Option<i128>>; 3] = Default::default();
    let mut names = Vec::with_capacity(batch.num_rows());
    for row in rows {
        let span = spanned(units.value(row));
        let equivalent = number(charge, row)
            .zip(span.as_ref())
            .map(|(charge, (_, span_s))| (charge, *span_s));
        let exact_ms = i128::from(core_s.value(row)) * 1000 + i128::from(core_fraction_ms.value(row));
        let amounts = [
            Some((exact_ms, one / 1000)),
            Some((i128::from(gpu_s.value(row)), one)),
            equivalent,
        ];
        let of_year_s = number(length_s, row).map(i128::from);
        for (years, amount) in years.iter_mut().zip(amounts) {
            let in_years = amount.zip(of_year_s);
            years.push(in_years.and_then(|((amount, times), of_year_s)| times_over(amount, times, of_year_s)));
        }
        names.push(span.map(|(name, _)| format!("{name}_year")));
    }
    let [core, gpu, equivalent] = years.map(|years| decimals(years, 9));
    let made = [
        ("raw_core_year", core?),
        ("raw_gpu_year", gpu?),
        ("equivalent_year", equivalent?),
        ("equivalent_year_unit", texts(names)),
    ];
    let mut fields: Vec<Arc<Field>> = batch.schema_ref().fields().iter().cloned().collect();
    let mut arrays = batch.columns().to_vec();
    for (name, array) in made {
        fields.push(Arc::new(Field::new(name, array.data_type().clone(), true)));
        arrays.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}
