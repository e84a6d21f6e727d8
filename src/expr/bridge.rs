//! Batches of arrow-rs as frames of Polars and back, over the Arrow C data interface.
//!
//! Buffers change hands without being copied, but for text: Polars keeps it as views, and views are made on the side
//! of arrow-rs.

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array, new_empty_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, SchemaRef, TimeUnit};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use polars::prelude::{Column, CompatLevel, DataFrame, PlSmallStr, Series};
use polars_arrow::array::Array as PolarsArray;
use polars_arrow::datatypes::Field as PolarsField;
use polars_arrow::ffi;

use crate::error::{Error, Result};

/// The rows of all batches as one frame. Batches without rows are left out, no batch at all is a frame without columns.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batches are not of one shape, or a type is none the engine computes with.
pub fn to_polars(batches: &[RecordBatch]) -> Result<DataFrame> {
    let Some(first) = batches.first() else {
        return Ok(DataFrame::empty());
    };
    let schema = first.schema_ref();
    for batch in batches {
        let is_same = batch.num_columns() == first.num_columns()
            && batch
                .schema_ref()
                .fields()
                .iter()
                .zip(schema.fields())
                .all(|(a, b)| a.name() == b.name() && a.data_type() == b.data_type());
        if !is_same {
            return Err(Error::internal("batches to compute with are not of one shape"));
        }
    }
    let mut with_rows: Vec<&RecordBatch> = batches.iter().filter(|batch| batch.num_rows() > 0).collect();
    if with_rows.is_empty() {
        with_rows.push(first);
    }
    let mut columns: Vec<Column> = Vec::with_capacity(schema.fields().len());
    for (at, field) in schema.fields().iter().enumerate() {
        let layout = layout(field.data_type())
            .ok_or_else(|| Error::internal("the engine has no such type"))
            .map_err(|e| e.at("column", field.name()).at("type", field.data_type()))?;
        let mut chunks = Vec::with_capacity(with_rows.len());
        for batch in &with_rows {
            chunks.push(export(&relayout(batch.column(at), &layout)?)?);
        }
        columns.push(Series::try_from((PlSmallStr::from_str(field.name()), chunks))?.into());
    }
    let rows = with_rows.iter().map(|batch| batch.num_rows()).sum();
    Ok(DataFrame::new(rows, columns)?)
}

/// The columns of `schema`, in its order and types; columns it does not name are left behind.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a column is missing, of another type, or null where it must not be.
pub fn to_arrow(frame: &DataFrame, schema: &SchemaRef) -> Result<RecordBatch> {
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let series = frame.column(field.name())?.as_materialized_series().rechunk();
        let array = if series.is_empty() {
            new_empty_array(field.data_type())
        } else {
            let array = import(series.to_arrow(0, CompatLevel::newest()))?;
            if layout(field.data_type()).as_ref() != Some(array.data_type()) {
                return Err(Error::internal("the engine gives another type than declared")
                    .at("column", field.name())
                    .at("type", array.data_type())
                    .at("declared", field.data_type()));
            }
            relayout(&array, field.data_type())?
        };
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(frame.height()));
    Ok(RecordBatch::try_new_with_options(
        SchemaRef::clone(schema),
        arrays,
        &options,
    )?)
}

/// How Polars lays a type out; `None` for those it is not asked to compute with.
fn layout(kind: &DataType) -> Option<DataType> {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(DataType::Utf8View),
        DataType::Dictionary(_, entries) => layout(entries),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            Some(DataType::BinaryView)
        }
        DataType::Boolean | DataType::Int64 | DataType::Date32 | DataType::Timestamp(TimeUnit::Millisecond, None) => {
            Some(kind.clone())
        }
        DataType::Decimal128(_, scale) if *scale >= 0 => Some(kind.clone()),
        _ => None,
    }
}

/// The same values in another layout of the same type.
fn relayout(array: &ArrayRef, kind: &DataType) -> Result<ArrayRef> {
    let strict = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    if array.data_type() == kind {
        return Ok(ArrayRef::clone(array));
    }
    if let DataType::FixedSizeBinary(_) = kind {
        // Views do not become fixed sizes in one step.
        let binary = cast_with_options(array, &DataType::Binary, &strict)?;
        return Ok(cast_with_options(&binary, kind, &strict)?);
    }
    Ok(cast_with_options(array, kind, &strict)?)
}

/// Hands an array of arrow-rs to Polars.
fn export(array: &ArrayRef) -> Result<Box<dyn PolarsArray>> {
    let (array, schema) = to_ffi(&array.to_data())?;
    // SAFETY: both are the `ArrowSchema` and `ArrowArray` of the C data interface: `repr(C)`, the same fields in the same
    // order (the compiler checks that the sizes agree). A move gives the one release callback to the new owner.
    #[expect(unsafe_code, reason = "the C data interface is made of raw structs")]
    let (array, schema) = unsafe {
        (
            std::mem::transmute::<FFI_ArrowArray, ffi::ArrowArray>(array),
            std::mem::transmute::<FFI_ArrowSchema, ffi::ArrowSchema>(schema),
        )
    };
    // SAFETY: arrow-rs made array and schema from one valid array, and no other owner holds them.
    #[expect(unsafe_code, reason = "the C data interface is made of raw structs")]
    let array = unsafe {
        let field = ffi::import_field_from_c(&schema)?;
        ffi::import_array_from_c(array, field.dtype)?
    };
    Ok(array)
}

/// Takes an array of Polars over into arrow-rs.
fn import(array: Box<dyn PolarsArray>) -> Result<ArrayRef> {
    let schema = ffi::export_field_to_c(&PolarsField::new("".into(), array.dtype().clone(), true));
    let array = ffi::export_array_to_c(array);
    // SAFETY: as in `export`, the other way round.
    #[expect(unsafe_code, reason = "the C data interface is made of raw structs")]
    let (array, schema) = unsafe {
        (
            std::mem::transmute::<ffi::ArrowArray, FFI_ArrowArray>(array),
            std::mem::transmute::<ffi::ArrowSchema, FFI_ArrowSchema>(schema),
        )
    };
    // SAFETY: Polars made array and schema from one valid array, and no other owner holds them.
    #[expect(unsafe_code, reason = "the C data interface is made of raw structs")]
    let data = unsafe { from_ffi(array, &schema) }?;
    Ok(make_array(data))
}
