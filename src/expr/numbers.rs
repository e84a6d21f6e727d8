//! What gives a number.

use arrow_array::types::Decimal128Type;
use arrow_array::{Array, Decimal128Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};

use super::cell::Cells;
use super::compute::{Operand, Rows};
use super::decimal::{self, Divisor, Factor};
use super::node::{Arithmetic, NumberOperation, TierSteps};
use crate::error::{Error, Kind, Result};

/// The numbers of all rows.
type Numbers = Cells<i128>;

impl Operand for i128 {
    type Operation = NumberOperation;

    fn compute(operation: &NumberOperation, rows: &Rows<'_>) -> Result<Numbers> {
        match operation {
            NumberOperation::Arithmetic(arithmetic, left, right) => {
                let (left, right) = (rows.compute(left)?, rows.compute(right)?);
                match arithmetic {
                    Arithmetic::Plus => both(left, right, decimal::sum),
                    Arithmetic::Minus => both(left, right, decimal::difference),
                    Arithmetic::Times => product(left, right),
                    Arithmetic::Over => quotient(left, without_zeros(right)),
                }
            }
            NumberOperation::Negative(of) => each(rows.compute(of)?, |value| Some(-value)),
            NumberOperation::Absolute(of) => each(rows.compute(of)?, |value| Some(value.abs())),
            NumberOperation::Floor(of) => each(rows.compute(of)?, decimal::floor),
            NumberOperation::Ceil(of) => each(rows.compute(of)?, decimal::ceil),
            NumberOperation::Rounded(of, places) => each(rows.compute(of)?, |value| decimal::rounded(value, *places)),
            NumberOperation::Tier(steps) => Ok(tier(steps, &rows.compute(&steps.by)?)),
        }
    }
}

/// What `operation` gives of each number that is known.
fn each(numbers: Numbers, operation: impl Fn(i128) -> Option<i128>) -> Result<Numbers> {
    let checked = |value: i128| operation(value).ok_or_else(overflow);
    Ok(match numbers {
        Cells::One(value) => Cells::One(value.map(checked).transpose()?),
        Cells::Each(array) if array.null_count() == 0 => {
            Cells::Each(computed(array.values().iter().map(|value| operation(*value)))?)
        }
        Cells::Each(array) => Cells::Each(array.try_unary::<_, Decimal128Type, _>(checked)?),
    })
}

/// What `operation` gives of the two numbers of each row in which both are known.
fn both(left: Numbers, right: Numbers, operation: impl Fn(i128, i128) -> Option<i128>) -> Result<Numbers> {
    Ok(match (left, right) {
        (Cells::One(None), _) | (_, Cells::One(None)) => Cells::One(None),
        (left, Cells::One(Some(right))) => return each(left, |left| operation(left, right)),
        (Cells::One(Some(left)), right) => return each(right, |right| operation(left, right)),
        (Cells::Each(left), Cells::Each(right)) if left.null_count() + right.null_count() == 0 => {
            let pairs = left.values().iter().zip(right.values());
            Cells::Each(computed(pairs.map(|(left, right)| operation(*left, *right)))?)
        }
        (Cells::Each(left), Cells::Each(right)) => {
            let nulls = NullBuffer::union(left.nulls(), right.nulls());
            let is_known = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            let mut values = vec![0; left.len().min(right.len())];
            let pairs = left.values().iter().zip(right.values());
            for (row, (value, (left, right))) in values.iter_mut().zip(pairs).enumerate() {
                if is_known(row) {
                    *value = operation(*left, *right).ok_or_else(overflow)?;
                }
            }
            Cells::Each(Decimal128Array::new(values.into(), nulls))
        }
    })
}

/// Numbers of all rows, each of which must fit. None stands out before the end, so that the others are stored without a test
/// of the room for each.
fn computed(numbers: impl Iterator<Item = Option<i128>>) -> Result<Decimal128Array> {
    let mut do_fit = true;
    let values: ScalarBuffer<i128> = numbers
        .map(|number| {
            do_fit &= number.is_some();
            // Fallback: never given, as one that does not fit fails them all.
            number.unwrap_or_default()
        })
        .collect();
    do_fit.then(|| Decimal128Array::new(values, None)).ok_or_else(overflow)
}

/// Products, row by row.
fn product(left: Numbers, right: Numbers) -> Result<Numbers> {
    match (left, right) {
        (Cells::One(Some(factor)), of) | (of, Cells::One(Some(factor))) => {
            let factor = Factor::of(factor);
            each(of, |value| factor.times(value))
        }
        (left, right) => both(left, right, decimal::product),
    }
}

/// Quotients, row by row; no divisor is zero.
fn quotient(left: Numbers, right: Numbers) -> Result<Numbers> {
    match (left, right) {
        (of, Cells::One(Some(divisor))) => {
            let divisor = Divisor::of(divisor);
            each(of, |value| divisor.divide(value))
        }
        (left, right) => both(left, right, decimal::quotient),
    }
}

/// Divisors: zero is unknown.
fn without_zeros(divisors: Numbers) -> Numbers {
    match divisors {
        Cells::One(divisor) => Cells::One(divisor.filter(|divisor| *divisor != 0)),
        Cells::Each(array) if array.values().contains(&0) => Cells::Each(
            array
                .iter()
                .map(|divisor| divisor.filter(|divisor| *divisor != 0))
                .collect(),
        ),
        array @ Cells::Each(_) => array,
    }
}

fn tier(steps: &TierSteps, by: &Numbers) -> Numbers {
    let value = |by: i128| {
        let is_within = |bound: i128| by < bound || steps.is_upper_included && by == bound;
        let step = steps.steps.iter().find(|step| is_within(step.bound));
        step.map(|step| step.value).or(steps.above)
    };
    match by {
        Cells::One(by) => Cells::One(by.and_then(value)),
        Cells::Each(array) => Cells::Each(array.iter().map(|by| by.and_then(value)).collect::<Decimal128Array>()),
    }
}

const OVERFLOW: &str = "overflow: it has more than 38 digits";

/// Types were settled when the formulas were compiled: what fails now is a number.
fn overflow() -> Error {
    Error::new(Kind::Data, "a formula cannot be computed").because(OVERFLOW)
}
