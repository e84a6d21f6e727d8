//! Adding up: groups by keys and exact measures of them.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use polars::prelude::{Expr, IntoLazy, NULL, SortMultipleOptions, col, lit, when};

use super::bridge::{to_arrow, to_polars};
use super::exact;
use crate::error::{Error, Result};

/// How a measure of many rows becomes one. Nulls never count; of nothing but nulls it is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Exact sum of an `Int64` or decimal.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

/// A column to measure and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMeasure<'a> {
    /// Its name.
    pub column: &'a str,
    /// How.
    pub how: How,
}

/// One row per combination of `keys`, with the measures of its rows, in the columns of `schema`, which names keys and
/// measures alone. Null is a key like any other.
///
/// Rows are sorted by the keys in the order given: nulls first, text by its bytes. Without measures these are the
/// distinct keys.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the column when a sum does not fit it; [`crate::error::Kind::Internal`] when a
/// column is missing or of another type than `schema` declares.
pub fn add_up(
    batches: &[RecordBatch],
    keys: &[&str],
    measures: &[GroupMeasure<'_>],
    schema: &SchemaRef,
) -> Result<RecordBatch> {
    if keys.is_empty() {
        return Err(Error::internal("adding up needs keys"));
    }
    let split = batches
        .iter()
        .map(|batch| split(batch, keys, measures, schema))
        .collect::<Result<Vec<_>>>()?;
    let Some(first) = split.first() else {
        return Ok(RecordBatch::new_empty(SchemaRef::clone(schema)));
    };
    let split_schema = first.schema();
    let mut totals: Vec<Expr> = Vec::with_capacity(split_schema.fields().len());
    for measure in measures {
        match measure.how {
            How::Sum => {
                let limbs = exact::limbs(field(schema, measure.column)?.data_type())?;
                totals.extend((0..limbs).map(|limb| sum(&limb_name(measure.column, limb))));
            }
            How::Min => totals.push(col(measure.column).min()),
            How::Max => totals.push(col(measure.column).max()),
        }
    }
    let by: Vec<Expr> = keys.iter().map(|key| col(*key)).collect();
    let order = SortMultipleOptions::default()
        .with_order_descending(false)
        .with_nulls_last(false);
    let grouped = to_polars(&split)?.lazy().group_by(&by);
    let sorted = grouped.agg(totals).sort_by_exprs(&by, order).collect()?;
    join(&to_arrow(&sorted, &split_schema)?, measures, schema)
}

/// A sum that is null when nothing is known; Polars gives zero.
fn sum(column: &str) -> Expr {
    when(col(column).count().gt(lit(0)))
        .then(col(column).sum())
        .otherwise(lit(NULL))
        .alias(column)
}

/// Keys and measures of a batch, with the columns to be summed in limbs.
fn split(batch: &RecordBatch, keys: &[&str], measures: &[GroupMeasure<'_>], schema: &SchemaRef) -> Result<RecordBatch> {
    let mut fields: Vec<Field> = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    let wanted = keys.iter().map(|key| (*key, None));
    for (name, how) in wanted.chain(measures.iter().map(|m| (m.column, Some(m.how)))) {
        let declared = field(schema, name)?;
        let array = batch
            .column_by_name(name)
            .ok_or_else(|| Error::internal(format!("no column {name} to add up")))?;
        if array.data_type() != declared.data_type() {
            return Err(Error::internal("a column to add up is not of the type declared")
                .at("column", name)
                .at("type", array.data_type()));
        }
        if how == Some(How::Sum) {
            let limbs = exact::split(array).map_err(|e| e.at("column", name))?;
            for (at, limb) in limbs.into_iter().enumerate() {
                fields.push(Field::new(limb_name(name, at), exact::LIMB_TYPE, true));
                arrays.push(limb);
            }
        } else {
            fields.push(Field::new(name, DataType::clone(array.data_type()), true));
            arrays.push(ArrayRef::clone(array));
        }
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

/// The columns of `schema`, with limbs joined.
fn join(sums: &RecordBatch, measures: &[GroupMeasure<'_>], schema: &SchemaRef) -> Result<RecordBatch> {
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let name = field.name();
        let column = |name: &str| {
            sums.column_by_name(name)
                .cloned()
                .ok_or_else(|| Error::internal(format!("column {name} is neither key nor measure")))
        };
        let is_sum = measures.iter().any(|m| m.column == name && m.how == How::Sum);
        arrays.push(if is_sum {
            let limbs = (0..exact::limbs(field.data_type())?)
                .map(|limb| column(&limb_name(name, limb)))
                .collect::<Result<Vec<_>>>()?;
            exact::join(&limbs, field.data_type()).map_err(|e| e.at("column", name))?
        } else {
            column(name)?
        });
    }
    Ok(RecordBatch::try_new(SchemaRef::clone(schema), arrays)?)
}

fn limb_name(column: &str, limb: usize) -> String {
    format!("{column}#{limb}")
}

fn field<'a>(schema: &'a SchemaRef, name: &str) -> Result<&'a Field> {
    schema
        .field_with_name(name)
        .map_err(|_| Error::internal(format!("column {name} is not declared")))
}
