//! Formulas over the rows of a batch.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};

use super::cell::plain;
use super::compute::{Computed, Rows};
use super::formula::Formula;
use crate::error::{Error, Result};

/// The `wanted` columns after every formula was computed in its turn: a formula reads the columns of `batch` and what
/// the formulas before it gave. What nothing wanted depends on is not computed.
///
/// # Errors
/// [`crate::error::Kind::Data`] when a number does not fit 38 digits.
pub fn evaluate(batch: &RecordBatch, formulas: &[(&str, &Formula)], wanted: &[&str]) -> Result<RecordBatch> {
    let named = formulas.iter().map(|&(name, formula)| NamedFormula { name, formula });
    let named: Vec<NamedFormula<'_>> = named.collect();
    let mut computed: Vec<Computed<'_>> = Vec::with_capacity(named.len());
    for (NamedFormula { name, formula }, is_needed) in named.iter().zip(needed(&named, wanted)) {
        let rows = Rows {
            batch,
            computed: &computed,
        };
        let cells = is_needed.then(|| rows.any(&formula.node)).transpose()?;
        computed.push(Computed { name, cells });
    }
    let mut fields = Vec::with_capacity(wanted.len());
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(wanted.len());
    for name in wanted {
        let formula = computed.iter().rev().find(|computed| computed.name == *name);
        let array = if let Some(cells) = formula.and_then(|computed| computed.cells.as_ref()) {
            cells.write(batch.num_rows())?
        } else {
            let array = batch.column_by_name(name);
            plain(array.ok_or_else(|| Error::internal(format!("no formula gives {name}")))?)?
        };
        fields.push(Field::new(*name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        Arc::new(Schema::new(fields)),
        arrays,
        &options,
    )?)
}

/// A formula and what others call it.
struct NamedFormula<'a> {
    name: &'a str,
    formula: &'a Formula,
}

/// Which formulas something `wanted` depends on. Of several with one name, those behind see the last one before them.
fn needed(formulas: &[NamedFormula<'_>], wanted: &[&str]) -> Vec<bool> {
    let mut is_needed = vec![false; formulas.len()];
    let last = |name: &str, until: usize| formulas.iter().take(until).rposition(|known| known.name == name);
    let mut open: Vec<usize> = wanted.iter().filter_map(|name| last(name, formulas.len())).collect();
    while let Some(at) = open.pop() {
        let (Some(is_needed), Some(known)) = (is_needed.get_mut(at), formulas.get(at)) else {
            continue;
        };
        if !std::mem::replace(is_needed, true) {
            open.extend(known.formula.reads().iter().filter_map(|name| last(name, at)));
        }
    }
    is_needed
}
