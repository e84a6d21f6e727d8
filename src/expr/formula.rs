//! Formulas: SQL expressions over typed columns, computed exactly.
//!
//! Every number is a decimal with [`super::SCALE`] places, columns, literals and results alike. Sums, differences and
//! products are exact as far as those places go; a product or quotient with more of them is rounded to the last place, half
//! to even. Nothing is ever a float, and nothing wraps: what does not fit 38 digits is an error.
//!
//! Unknown is null and stays unknown: `greatest(3, NULL)` is null (SQL engines differ), `CASE` on an unknown condition
//! is null, and so is a division by zero. Only `coalesce` and `IS NULL` make something of it.

use std::collections::BTreeMap;

use super::column_use::ColumnUse;
use super::mistake::Mistake;
use super::node::{AnyNode, Node, NumberOperation, TierStep, TierSteps};
use super::value::{Type, Value};
use super::{syntax, words};

/// A compiled formula.
#[derive(Clone, Debug)]
pub struct Formula {
    pub(super) node: AnyNode,
    reads: Vec<String>,
    columns: ColumnUse,
}

impl Formula {
    /// Compiles the SQL expression `sql` over `columns`.
    ///
    /// # Errors
    /// A [`Mistake`].
    pub fn compile(sql: &str, columns: &BTreeMap<String, Type>) -> Result<Self, Mistake> {
        words::check(sql)?;
        let read = syntax::read(sql, columns)?;
        Ok(Self {
            node: read.node,
            reads: read.reads,
            columns: read.columns,
        })
    }

    /// A number that depends on the range of another: `steps` ascend; `above` holds beyond the
    /// last bound. A bound belongs to its own step when `is_upper_included`, else to the next one.
    ///
    /// # Errors
    /// [`Mistake::Wrong`] when `by` is not a number.
    pub fn tier(by: &Self, steps: &[TierStep], above: Option<i128>, is_upper_included: bool) -> Result<Self, Mistake> {
        let AnyNode::Number(number) = &by.node else {
            let kind = by.kind().as_str();
            return Err(Mistake::wrong(format!("a tier is by a number, not {kind}")));
        };
        Ok(Self {
            node: AnyNode::Number(Node::operation(NumberOperation::Tier(TierSteps {
                by: number.clone(),
                steps: steps.to_vec(),
                above,
                is_upper_included,
            }))),
            reads: by.reads.clone(),
            columns: by.columns.clone(),
        })
    }

    /// The same value for every row; `None` is unknown.
    #[must_use]
    pub fn constant(value: Option<&Value>, kind: Type) -> Self {
        let node = match (value, kind) {
            (Some(Value::Number(value)), _) => AnyNode::Number(Node::Constant(Some(*value))),
            (Some(Value::Text(text)), _) => AnyNode::Text(Node::Constant(Some(text.clone()))),
            (None, Type::Number) => AnyNode::Number(Node::Constant(None)),
            (None, Type::Text) => AnyNode::Text(Node::Constant(None)),
            (None, Type::Truth) => AnyNode::Truth(Node::Constant(None)),
        };
        Self {
            node,
            reads: Vec::new(),
            columns: ColumnUse::default(),
        }
    }

    /// What it gives.
    #[must_use]
    pub fn kind(&self) -> Type {
        match self.node {
            AnyNode::Number(_) => Type::Number,
            AnyNode::Text(_) => Type::Text,
            AnyNode::Truth(_) => Type::Truth,
        }
    }

    /// The columns it reads, in the order they are named.
    #[must_use]
    pub fn reads(&self) -> &[String] {
        &self.reads
    }

    /// Of these, those that must be known: read other than under `IS NULL`, or where `coalesce` has another value.
    #[must_use]
    pub fn required(&self) -> &[String] {
        &self.columns.required
    }

    /// The columns of products and quotients that it rounds by `ceil` or `floor`.
    #[must_use]
    pub fn rounded_factors(&self) -> &[String] {
        &self.columns.rounded
    }
}
