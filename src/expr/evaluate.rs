//! Formulas over the rows of a batch.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema};
use polars::prelude::{Expr, IntoLazy, PolarsError};

use super::bridge::{to_arrow, to_polars};
use super::formula::{Formula, Type, column};
use crate::error::{Error, Kind, Result};

/// The `wanted` columns after every formula was computed in its turn: a formula reads the columns of `batch` and what
/// the formulas before it gave.
///
/// # Errors
/// [`Kind::Data`] when a number does not fit 38 digits.
pub fn evaluate(batch: &RecordBatch, formulas: &[(&str, &Formula)], wanted: &[&str]) -> Result<RecordBatch> {
    let fields: Vec<Field> = wanted
        .iter()
        .map(|name| {
            let formula = formulas.iter().rev().find(|(given, _)| given == name);
            let kind = if let Some((_, formula)) = formula {
                arrow(formula.kind())
            } else {
                let field = batch.schema_ref().field_with_name(name);
                let field = field.map_err(|_| Error::internal(format!("no formula gives {name}")))?;
                match field.data_type() {
                    DataType::Dictionary(_, entries) => DataType::clone(entries),
                    kind => DataType::clone(kind),
                }
            };
            Ok(Field::new(*name, kind, true))
        })
        .collect::<Result<_>>()?;
    let is_read = |name: &str| {
        wanted.contains(&name)
            || formulas
                .iter()
                .any(|(_, formula)| formula.reads().iter().any(|read| read == name))
    };
    let read: Vec<usize> = (batch.schema_ref().fields().iter().enumerate())
        .filter(|(_, field)| is_read(field.name()))
        .map(|(at, _)| at)
        .collect();
    let read = if read.is_empty() {
        batch.clone()
    } else {
        batch.project(&read)?
    };
    let mut frame = to_polars(&[read])?.lazy();
    for (name, formula) in formulas {
        frame = frame.with_columns([formula.expr.clone().alias(*name)]);
    }
    let wanted: Vec<Expr> = wanted.iter().map(|name| column(name)).collect();
    let values = frame.select(wanted).collect().map_err(failure)?;
    to_arrow(&values, &Arc::new(Schema::new(fields)))
}

/// How arrow-rs holds a type.
#[must_use]
pub fn arrow(kind: Type) -> DataType {
    match kind {
        Type::Number => DataType::Decimal128(38, 12),
        Type::Text => DataType::Utf8,
        Type::Truth => DataType::Boolean,
    }
}

/// Types were settled when the formulas were compiled: what fails now is a number.
fn failure(why: PolarsError) -> Error {
    Error::new(Kind::Data, "a formula cannot be computed").because(why)
}
