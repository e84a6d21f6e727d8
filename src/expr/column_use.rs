//! How an expression uses columns: which of them must be known, and which are part of a product that is rounded to a whole number.

use sqlparser::ast::{BinaryOperator, Expr};

use super::syntax::arguments;

/// How an expression uses columns.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnUse {
    /// Columns that are read other than under `IS NULL`, `IS TRUE` and the like, or where `coalesce` has another value for them.
    pub(super) required: Vec<String>,
    /// Columns of products and quotients under `ceil` or `floor`.
    pub(super) rounded: Vec<String>,
}

impl ColumnUse {
    pub(super) fn of(expr: &Expr) -> Self {
        let mut found = Self::default();
        found.read(expr);
        found
    }

    fn read(&mut self, expr: &Expr) {
        match expr {
            Expr::Identifier(name) => note(&mut self.required, &name.value),
            Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => self.read(inner),
            Expr::BinaryOp { left, right, .. } => self.all([&**left, &**right]),
            Expr::InList { expr, list, .. } => self.all(std::iter::once(&**expr).chain(list)),
            Expr::Between { expr, low, high, .. } => self.all([&**expr, &**low, &**high]),
            Expr::Case {
                operand,
                conditions,
                else_result,
                ..
            } => {
                self.all(operand.as_deref());
                self.all(conditions.iter().flat_map(|branch| [&branch.condition, &branch.result]));
                self.all(else_result.as_deref());
            }
            Expr::Ceil { expr: inner, .. } | Expr::Floor { expr: inner, .. } => self.whole(inner),
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                // Fallback: what is no call was refused when the formula was read.
                let arguments = arguments(function).unwrap_or_default();
                match (name.as_str(), arguments.as_slice()) {
                    ("ceil" | "ceiling" | "floor", [of]) => self.whole(of),
                    ("coalesce" | "ifnull", [.., last]) => self.read(last),
                    (_, all) => self.all(all.iter().copied()),
                }
            }
            // `IS NULL` and the like are known of whatever is unknown, and values read no column.
            _ => {}
        }
    }

    fn all<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expr>) {
        for expr in expressions {
            self.read(expr);
        }
    }

    fn whole(&mut self, of: &Expr) {
        factors(of, false, &mut self.rounded);
        self.read(of);
    }
}

/// Adds the columns of products and quotients.
fn factors(expr: &Expr, is_factor: bool, found: &mut Vec<String>) {
    match expr {
        Expr::Identifier(name) if is_factor => note(found, &name.value),
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => factors(inner, is_factor, found),
        Expr::BinaryOp { left, op, right } => {
            let is_factor = is_factor || matches!(op, BinaryOperator::Multiply | BinaryOperator::Divide);
            factors(left, is_factor, found);
            factors(right, is_factor, found);
        }
        _ => {}
    }
}

fn note(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
