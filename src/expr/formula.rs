//! Formulas: SQL expressions over typed columns, computed exactly.
//!
//! Every number is a decimal with [`SCALE`] places, columns, literals and results alike. Sums, differences and products
//! are exact as far as those places go; a product or quotient with more of them is rounded to the last place, half to
//! even. Nothing is ever a float, and nothing wraps: what does not fit 38 digits is an error.
//!
//! Unknown is null and stays unknown: `greatest(3, NULL)` is null (SQL engines differ), `CASE` on an unknown condition
//! is null, and so is a division by zero. Only `coalesce` and `IS NULL` make something of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use polars::prelude::{
    AggExpr, AnyValue, BooleanFunction, DataFrame, DataType, Expr, Field, FunctionExpr, IntoLazy, LiteralValue, NULL,
    Operator, PlSmallStr, PolarsResult, Scalar, Schema, any_horizontal, col, lit, polars_err, when,
};
use polars::sql::sql_expr;

use super::words;

/// Decimal places of every number.
pub const SCALE: u32 = 12;

/// Digits of a number, those behind the point included.
const PRECISION: usize = 38;

/// What a column or formula holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// A decimal.
    Number,
    /// A text.
    Text,
    /// True or false.
    Truth,
}

impl Type {
    /// The type as people call it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Text => "a text",
            Self::Truth => "a truth value",
        }
    }

    fn polars(self) -> DataType {
        match self {
            Self::Number => decimal(),
            Self::Text => DataType::String,
            Self::Truth => DataType::Boolean,
        }
    }
}

/// A value of a formula.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A decimal, in units of the last of [`SCALE`] places.
    Number(i128),
    /// A text.
    Text(String),
}

impl Value {
    /// Its type.
    #[must_use]
    pub fn kind(&self) -> Type {
        match self {
            Self::Number(_) => Type::Number,
            Self::Text(_) => Type::Text,
        }
    }

    /// The decimal; `None` of a text.
    #[must_use]
    pub fn number(&self) -> Option<i128> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }

    /// The text; `None` of a decimal.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Number(_) => None,
            Self::Text(text) => Some(text),
        }
    }
}

/// Why a text is not a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// It reads a column there is not.
    NoColumn(String),
    /// It calls a function formulas do not have.
    NoFunction(String),
    /// Anything else, as a sentence.
    Wrong(String),
}

/// A value that holds up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierStep {
    /// The bound.
    pub bound: i128,
    /// The value below it.
    pub value: i128,
}

/// A compiled formula.
#[derive(Clone, Debug)]
pub struct Formula {
    pub(super) expr: Expr,
    kind: Type,
    reads: Vec<String>,
}

impl Formula {
    /// Compiles the SQL expression `sql` over `columns`.
    ///
    /// # Errors
    /// A [`Mistake`].
    pub fn compile(sql: &str, columns: &BTreeMap<String, Type>) -> Result<Self, Mistake> {
        words::check(sql)?;
        let parsed = sql_expr(sql).map_err(|why| Mistake::Wrong(sentence(&why)))?;
        let mut reads: Vec<String> = Vec::new();
        for name in parsed.clone().meta().root_names() {
            if !columns.contains_key(name.as_str()) {
                return Err(Mistake::NoColumn(name.to_string()));
            }
            if !reads.iter().any(|known| known == name.as_str()) {
                reads.push(name.to_string());
            }
        }
        let expr = parsed
            .try_map_expr(exact)
            .map_err(|why| Mistake::Wrong(sentence(&why)))?;
        let kind = kind(&expr, columns)?;
        Ok(Self { expr, kind, reads })
    }

    /// A number that depends on the range of another: `steps` ascend; `above` holds beyond the
    /// last bound. A bound belongs to its own step when `is_upper_included`, else to the next one.
    ///
    /// # Errors
    /// [`Mistake::Wrong`] when `by` is not a number.
    pub fn tier(by: &Self, steps: &[TierStep], above: Option<i128>, is_upper_included: bool) -> Result<Self, Mistake> {
        if by.kind != Type::Number {
            return Err(Mistake::Wrong(format!(
                "a tier is by a number, not {}",
                by.kind.as_str()
            )));
        }
        let beyond = above.map_or_else(|| lit(NULL).cast(decimal()), number);
        let expr = steps.iter().rev().fold(beyond, |beyond, step| {
            let bound = number(step.bound);
            let within = if is_upper_included {
                by.expr.clone().lt_eq(bound)
            } else {
                by.expr.clone().lt(bound)
            };
            when(within).then(number(step.value)).otherwise(beyond)
        });
        let is_known = by.expr.clone().is_null();
        Ok(Self {
            expr: when(is_known).then(lit(NULL).cast(decimal())).otherwise(expr),
            kind: Type::Number,
            reads: by.reads.clone(),
        })
    }

    /// The same value for every row; `None` is unknown.
    #[must_use]
    pub fn constant(value: Option<&Value>, kind: Type) -> Self {
        let expr = match value {
            Some(Value::Number(value)) => number(*value),
            Some(Value::Text(text)) => lit(text.as_str()),
            None => lit(NULL).cast(kind.polars()),
        };
        Self {
            expr,
            kind,
            reads: Vec::new(),
        }
    }

    /// What it gives.
    #[must_use]
    pub fn kind(&self) -> Type {
        self.kind
    }

    /// The columns it reads, in the order they are named.
    #[must_use]
    pub fn reads(&self) -> &[String] {
        &self.reads
    }
}

/// The type of every number.
fn decimal() -> DataType {
    DataType::Decimal(PRECISION, SCALE as usize)
}

/// A decimal literal, in units of the last place.
fn number(value: i128) -> Expr {
    let value = AnyValue::Decimal(value, PRECISION, SCALE as usize);
    Expr::Literal(LiteralValue::Scalar(Scalar::new(decimal(), value)))
}

/// One node of a formula with what SQL leaves open decided; the nodes below it are already so.
fn exact(expr: Expr) -> PolarsResult<Expr> {
    let refused = |what: &str| Err(polars_err!(SQLInterface: "{what} has no place in a formula"));
    match expr {
        Expr::Column(_) => Ok(expr),
        Expr::Literal(value) => literal(value),
        Expr::BinaryExpr { left, op, right } => match op {
            Operator::TrueDivide => {
                let divisor = Arc::unwrap_or_clone(right);
                let known = when(divisor.clone().neq(number(0))).then(divisor).otherwise(lit(NULL));
                Ok(Arc::unwrap_or_clone(left).true_div(known))
            }
            Operator::FloorDivide => refused("// (write floor(a / b))"),
            Operator::Modulus => refused("% (write a - b * floor(a / b))"),
            op => Ok(Expr::BinaryExpr { left, op, right }),
        },
        Expr::Ternary {
            predicate,
            truthy,
            falsy,
        } => {
            let predicate = Arc::unwrap_or_clone(predicate);
            let chosen = when(predicate.clone())
                .then(Arc::unwrap_or_clone(truthy))
                .otherwise(Arc::unwrap_or_clone(falsy));
            Ok(when(predicate.is_null()).then(lit(NULL)).otherwise(chosen))
        }
        Expr::Function { input, function } => match function {
            FunctionExpr::MaxHorizontal | FunctionExpr::MinHorizontal => {
                let unknown = any_horizontal(input.iter().map(|value| value.clone().is_null()).collect::<Vec<_>>())?;
                let value = Expr::Function { input, function };
                Ok(when(unknown).then(lit(NULL)).otherwise(value))
            }
            FunctionExpr::Abs
            | FunctionExpr::Negate
            | FunctionExpr::Ceil
            | FunctionExpr::Floor
            | FunctionExpr::Round { .. }
            | FunctionExpr::Coalesce
            | FunctionExpr::Boolean(
                BooleanFunction::IsNull
                | BooleanFunction::IsNotNull
                | BooleanFunction::Not
                | BooleanFunction::IsIn { .. },
            ) => Ok(Expr::Function { input, function }),
            other => refused(&other.to_string()),
        },
        // The list of an IN.
        Expr::Agg(AggExpr::Implode { input, maintain_order }) if matches!(&*input, Expr::Literal(_)) => {
            Ok(Expr::Agg(AggExpr::Implode { input, maintain_order }))
        }
        Expr::Agg(_) => refused("a sum, count or other total over jobs"),
        Expr::Cast { .. } => refused("CAST (all numbers are decimals)"),
        Expr::Alias(_, name) => refused(&format!("AS {name}")),
        _ => refused("this kind of expression"),
    }
}

/// A literal of the types formulas have.
fn literal(value: LiteralValue) -> PolarsResult<Expr> {
    let plain = value.to_any_value().map(AnyValue::into_static);
    match plain {
        Some(AnyValue::Float64(value)) => {
            // The shortest text that reads as this float is the text that was written: `words` keeps it below 16 digits.
            let text = format!("{value}");
            let value = parse(&text).ok_or_else(|| polars_err!(SQLInterface: "{text} is not a decimal"))?;
            Ok(number(value))
        }
        Some(AnyValue::Int32(value)) => whole(i128::from(value)),
        Some(AnyValue::Int64(value)) => whole(i128::from(value)),
        Some(AnyValue::Int128(value)) => whole(value),
        _ => Ok(Expr::Literal(value)),
    }
}

fn whole(value: i128) -> PolarsResult<Expr> {
    let scaled = value.checked_mul(10_i128.pow(SCALE)).filter(|scaled| fits(*scaled));
    scaled
        .map(number)
        .ok_or_else(|| polars_err!(SQLInterface: "{value} is too large"))
}

/// Whether a number has no more digits than a decimal may have.
#[must_use]
pub fn fits(value: i128) -> bool {
    let end = 10_i128.pow(38);
    -end < value && value < end
}

/// A decimal text (`12`, `-0.5`) in units of the last of [`SCALE`] places; `None` when it is not one, has more places or is
/// too large.
#[must_use]
pub fn parse(text: &str) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
    let places = places.trim_end_matches('0');
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(places) || digits.ends_with('.') {
        return None;
    }
    let width = SCALE as usize;
    if places.len() > width {
        return None;
    }
    let value: i128 = format!("{whole}{places:0<width$}").parse().ok()?;
    fits(value).then_some(if is_negative { -value } else { value })
}

/// What a formula gives over columns of given types.
fn kind(expr: &Expr, columns: &BTreeMap<String, Type>) -> Result<Type, Mistake> {
    let fields = columns
        .iter()
        .map(|(name, kind)| Field::new(PlSmallStr::from_str(name), kind.polars()));
    let schema: Schema = fields.collect();
    let mut frame = DataFrame::empty_with_schema(&schema)
        .lazy()
        .select([expr.clone().alias("value")]);
    let schema = frame.collect_schema().map_err(|why| Mistake::Wrong(sentence(&why)))?;
    match schema.get("value") {
        Some(DataType::Decimal(_, scale)) if *scale == SCALE as usize => Ok(Type::Number),
        Some(DataType::String) => Ok(Type::Text),
        Some(DataType::Boolean) => Ok(Type::Truth),
        Some(other) => Err(Mistake::Wrong(format!(
            "it gives {other}, which is not an exact number"
        ))),
        None => Err(Mistake::Wrong("it gives nothing".to_owned())),
    }
}

/// What went wrong, without the plan Polars prints after it.
fn sentence(why: &polars::prelude::PolarsError) -> String {
    let text = why.to_string();
    // Fallback: an error without text has no first line to show.
    let first = text.lines().next().unwrap_or_default().trim();
    // The text that cannot be parsed is already shown next to this message.
    if first.contains("unable to parse") {
        return "it cannot be read as one expression: an operator, a value or a bracket is missing or too many"
            .to_owned();
    }
    first.to_owned()
}

pub(super) fn column(name: &str) -> Expr {
    col(name)
}
