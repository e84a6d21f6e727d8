//! What gives a truth value.

use arrow_array::{Array, BooleanArray};

use super::cell::{AnyCells, Cell, Cells, TextArray};
use super::compute::{Operand, Rows};
use super::node::{Comparison, TruthOperation};
use crate::error::Result;

/// The truth values of all rows.
type Truths = Cells<bool>;

impl Operand for bool {
    type Operation = TruthOperation;

    fn compute(operation: &TruthOperation, rows: &Rows<'_>) -> Result<Truths> {
        let row_n = rows.row_n();
        Ok(match operation {
            TruthOperation::Numbers(comparison, left, right) => {
                compared(*comparison, &rows.compute(left)?, &rows.compute(right)?, row_n)
            }
            TruthOperation::Texts(comparison, left, right) => {
                texts_compared(*comparison, &rows.compute(left)?, &rows.compute(right)?, row_n)
            }
            TruthOperation::Truths(comparison, left, right) => {
                compared(*comparison, &rows.compute(left)?, &rows.compute(right)?, row_n)
            }
            TruthOperation::NumberIn(of, list) => match rows.compute(of)? {
                Cells::One(number) => Cells::One(number.map(|number| list.contains(&number))),
                Cells::Each(array) => {
                    let is_in = array.iter().map(|number| number.map(|number| list.contains(&number)));
                    Cells::Each(is_in.collect())
                }
            },
            TruthOperation::TextIn(of, list) => {
                texts_judged(&rows.compute(of)?, |text| list.iter().any(|known| known == text))
            }
            TruthOperation::And(left, right) => joined(rows, [left, right], false)?,
            TruthOperation::Or(left, right) => joined(rows, [left, right], true)?,
            TruthOperation::Not(of) => match rows.compute(of)? {
                Cells::One(truth) => Cells::One(truth.map(|truth| !truth)),
                Cells::Each(array) => Cells::Each(BooleanArray::new(!array.values(), array.nulls().cloned())),
            },
            TruthOperation::IsUnknown(of) => match rows.any(of)? {
                AnyCells::Number(cells) => is_unknown(&cells),
                AnyCells::Text(cells) => is_unknown(&cells),
                AnyCells::Truth(cells) => is_unknown(&cells),
            },
        })
    }
}

/// Two cells of each row compared; unknown where one is.
fn compared<T: Cell>(comparison: Comparison, left: &Cells<T>, right: &Cells<T>, row_n: usize) -> Truths {
    let at = |row: usize| Some(comparison.holds(left.get(row)?.cmp(&right.get(row)?)));
    match (left, right) {
        (Cells::One(_), Cells::One(_)) => Cells::One(at(0)),
        (Cells::One(None), _) | (_, Cells::One(None)) => Cells::One(None),
        _ => Cells::Each((0..row_n).map(at).collect()),
    }
}

fn texts_compared(comparison: Comparison, left: &Cells<String>, right: &Cells<String>, row_n: usize) -> Truths {
    match (left, right) {
        (left, Cells::One(Some(right))) => texts_judged(left, |left| comparison.holds(left.cmp(right))),
        (Cells::One(Some(left)), right) => texts_judged(right, |right| comparison.holds(left.as_str().cmp(right))),
        _ => compared(comparison, left, right, row_n),
    }
}

/// What `verdict` gives of each text that is known: once for each text of a column of codes.
fn texts_judged(texts: &Cells<String>, verdict: impl Fn(&str) -> bool) -> Truths {
    match texts {
        Cells::One(text) => Cells::One(text.as_deref().map(verdict)),
        Cells::Each(TextArray::Plain(texts)) => Cells::Each(texts.iter().map(|text| text.map(&verdict)).collect()),
        Cells::Each(TextArray::Coded(codes, texts)) => {
            let verdicts: Vec<Option<bool>> = texts.iter().map(|text| text.map(&verdict)).collect();
            let of = |code: u32| verdicts.get(usize::try_from(code).ok()?).copied().flatten();
            Cells::Each(codes.iter().map(|code| code.and_then(of)).collect())
        }
    }
}

/// Conditions joined by the operator that `decisive` decides, whatever the other one is: false of `AND`, true of `OR`.
fn joined(rows: &Rows<'_>, conditions: [&super::node::Node<bool>; 2], decisive: bool) -> Result<Truths> {
    let [left, right] = conditions;
    let left = rows.compute(left)?;
    if matches!(left, Cells::One(Some(truth)) if truth == decisive) {
        return Ok(left);
    }
    let right = rows.compute(right)?;
    let at = |row: usize| match (left.get(row), right.get(row)) {
        (Some(left), Some(right)) => Some(if left == decisive { left } else { right }),
        (known, None) | (None, known) => known.filter(|truth| *truth == decisive),
    };
    Ok(match (&left, &right) {
        (Cells::One(_), Cells::One(_)) => Cells::One(at(0)),
        _ => Cells::Each((0..rows.row_n()).map(at).collect::<BooleanArray>()),
    })
}

fn is_unknown<T: Cell>(cells: &Cells<T>) -> Truths {
    match cells {
        Cells::One(cell) => Cells::One(Some(cell.is_none())),
        Cells::Each(array) => match T::known(array) {
            Some(known) => Cells::Each(BooleanArray::new(!known.inner(), None)),
            None => Cells::One(Some(false)),
        },
    }
}
