//! Nodes over the rows of a batch: what all types have.

use std::convert::Infallible;
use std::fmt::Debug;

use arrow_array::RecordBatch;

use super::cell::{AnyCells, Cell, Cells};
use super::node::{AnyNode, Choice, Extreme, Node};
use crate::error::{Error, Result};

/// Cells of a type that has operations of its own.
pub(super) trait Operand: Cell {
    /// What only this type has.
    type Operation: Clone + Debug;

    fn compute(operation: &Self::Operation, rows: &Rows<'_>) -> Result<Cells<Self>>;
}

/// Texts have no operations but those of every type.
impl Operand for String {
    type Operation = Infallible;

    fn compute(operation: &Infallible, _rows: &Rows<'_>) -> Result<Cells<Self>> {
        match *operation {}
    }
}

/// The rows a formula is computed over.
pub(super) struct Rows<'a> {
    pub(super) batch: &'a RecordBatch,
    /// Earlier formulas, by name, as far as they were computed. The last one of a name counts.
    pub(super) computed: &'a [Computed<'a>],
}

/// A formula that was computed.
pub(super) struct Computed<'a> {
    pub(super) name: &'a str,
    /// `None` when nothing reads it.
    pub(super) cells: Option<AnyCells>,
}

impl Rows<'_> {
    pub(super) fn row_n(&self) -> usize {
        self.batch.num_rows()
    }

    /// An earlier formula, else a column of the batch.
    fn column<T: Cell>(&self, name: &str) -> Result<Cells<T>> {
        if let Some(earlier) = self.computed.iter().rev().find(|computed| computed.name == name) {
            let cells = earlier.cells.as_ref().and_then(T::of).cloned();
            return cells.ok_or_else(|| Error::internal("a formula gives another type").at("formula", name));
        }
        let array = self.batch.column_by_name(name);
        let array = array.ok_or_else(|| Error::internal(format!("no formula gives {name}")))?;
        T::read(array).map(Cells::Each).map_err(|why| why.at("column", name))
    }

    pub(super) fn any(&self, node: &AnyNode) -> Result<AnyCells> {
        Ok(match node {
            AnyNode::Number(node) => AnyCells::Number(self.compute(node)?),
            AnyNode::Text(node) => AnyCells::Text(self.compute(node)?),
            AnyNode::Truth(node) => AnyCells::Truth(self.compute(node)?),
        })
    }

    /// The cells that a node gives.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a number does not fit 38 digits, also where it is not chosen.
    pub(super) fn compute<T: Operand>(&self, node: &Node<T>) -> Result<Cells<T>> {
        match node {
            Node::Column(name) => self.column(name),
            Node::Constant(value) => Ok(Cells::One(value.clone())),
            Node::Choice(choice) => self.choice(choice),
            Node::Coalesce(nodes) => self.coalesce(nodes),
            Node::Extreme(extreme, nodes) => {
                let of: Vec<Cells<T>> = nodes.iter().map(|node| self.compute(node)).collect::<Result<_>>()?;
                Ok(self.by_row(&of, |row| {
                    let mut cells = of.iter().map(|cells| cells.get(row));
                    let first = cells.next().flatten()?;
                    cells.try_fold(first, |best, cell| {
                        let cell = cell?;
                        Some(match extreme {
                            Extreme::Least => best.min(cell),
                            Extreme::Greatest => best.max(cell),
                        })
                    })
                }))
            }
            Node::Operation(operation) => T::compute(operation, self),
        }
    }

    /// One cell for all rows where all of `from` are such, else a column.
    fn by_row<'a, T: Cell + 'a>(&self, from: &[Cells<T>], cell: impl Fn(usize) -> Option<T::Ref<'a>>) -> Cells<T> {
        let is_one = from.iter().all(|cells| matches!(cells, Cells::One(_)));
        let row_n = if is_one { 1 } else { self.row_n() };
        let column = T::column((0..row_n).map(cell));
        if is_one { one(&column) } else { Cells::Each(column) }
    }

    fn choice<T: Operand>(&self, choice: &Choice<T>) -> Result<Cells<T>> {
        let mut branches = Vec::new();
        let mut otherwise = Some(&choice.otherwise);
        for branch in &choice.branches {
            match self.compute(&branch.when)? {
                Cells::One(Some(false)) => {}
                Cells::One(Some(true)) => {
                    otherwise = Some(&branch.then);
                    break;
                }
                Cells::One(None) => {
                    otherwise = None;
                    break;
                }
                when @ Cells::Each(_) => branches.push((when, self.compute(&branch.then)?)),
            }
        }
        let otherwise = match otherwise {
            Some(node) => self.compute(node)?,
            None => Cells::One(None),
        };
        if branches.is_empty() {
            return Ok(otherwise);
        }
        let cells = (0..self.row_n()).map(|row| {
            for (when, then) in &branches {
                if when.get(row)? {
                    return then.get(row);
                }
            }
            otherwise.get(row)
        });
        Ok(Cells::Each(T::column(cells)))
    }

    fn coalesce<T: Operand>(&self, nodes: &[Node<T>]) -> Result<Cells<T>> {
        let mut of = Vec::with_capacity(nodes.len());
        for node in nodes {
            let cells = self.compute(node)?;
            let is_known = match &cells {
                Cells::One(cell) => cell.is_some(),
                Cells::Each(array) => T::known(array).is_none_or(|known| known.null_count() == 0),
            };
            if is_known && of.is_empty() {
                return Ok(cells);
            }
            of.push(cells);
            if is_known {
                break;
            }
        }
        Ok(self.by_row(&of, |row| of.iter().find_map(|cells| cells.get(row))))
    }
}

/// The one cell of a column of one row.
fn one<T: Cell>(column: &T::Array) -> Cells<T> {
    Cells::One(T::get(column, 0).map(T::owned))
}
