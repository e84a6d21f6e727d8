//! SQL expressions as nodes: what they mean in a formula, and what has no place in one.

use std::collections::BTreeMap;

use sqlparser::ast::{
    BinaryOperator, CaseWhen, CeilFloorKind, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, UnaryOperator, Value as SqlValue,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::column_use::ColumnUse;
use super::compute::Operand;
use super::decimal::{SCALE, parse};
use super::mistake::Mistake;
use super::node::{AnyNode, Arithmetic, Branch, Choice, Comparison, Extreme, Node, NumberOperation, TruthOperation};
use super::value::Type;

/// A formula as nodes, and the columns it reads in the order they are named.
pub(super) struct ReadFormula {
    pub(super) node: AnyNode,
    pub(super) reads: Vec<String>,
    pub(super) columns: ColumnUse,
}

/// Reads an expression over `columns`.
pub(super) fn read(sql: &str, columns: &BTreeMap<String, Type>) -> Result<ReadFormula, Mistake> {
    let unreadable = |_| {
        Mistake::wrong("it cannot be read as one expression: an operator, a value or a bracket is missing or too many")
    };
    let dialect = GenericDialect {};
    let mut parser = Parser::new(&dialect).try_with_sql(sql).map_err(unreadable)?;
    let expr = parser.parse_expr().map_err(unreadable)?;
    let rest = parser.peek_token().token;
    if rest != Token::EOF {
        return Err(Mistake::wrong(format!("{rest} has no place behind an expression")));
    }
    let mut reader = Reader {
        columns,
        reads: Vec::new(),
    };
    let node = match reader.typed(&expr)? {
        Typed::Known(node) => node,
        Typed::Null => return Err(Mistake::wrong("it gives nothing but NULL")),
    };
    Ok(ReadFormula {
        node,
        reads: reader.reads,
        columns: ColumnUse::of(&expr),
    })
}

/// What an expression gives.
enum Typed {
    Known(AnyNode),
    /// The literal `NULL`, which is of any type.
    Null,
}

impl Typed {
    fn kind(&self) -> Option<Type> {
        match self {
            Self::Known(AnyNode::Number(_)) => Some(Type::Number),
            Self::Known(AnyNode::Text(_)) => Some(Type::Text),
            Self::Known(AnyNode::Truth(_)) => Some(Type::Truth),
            Self::Null => None,
        }
    }
}

/// Nodes of a type that expressions are taken as.
trait Taken: Operand {
    const KIND: Type;

    fn taken(node: AnyNode) -> Result<Node<Self>, AnyNode>;

    fn any(node: Node<Self>) -> AnyNode;
}

impl Taken for i128 {
    const KIND: Type = Type::Number;

    fn taken(node: AnyNode) -> Result<Node<Self>, AnyNode> {
        match node {
            AnyNode::Number(node) => Ok(node),
            other => Err(other),
        }
    }

    fn any(node: Node<Self>) -> AnyNode {
        AnyNode::Number(node)
    }
}

impl Taken for String {
    const KIND: Type = Type::Text;

    fn taken(node: AnyNode) -> Result<Node<Self>, AnyNode> {
        match node {
            AnyNode::Text(node) => Ok(node),
            other => Err(other),
        }
    }

    fn any(node: Node<Self>) -> AnyNode {
        AnyNode::Text(node)
    }
}

impl Taken for bool {
    const KIND: Type = Type::Truth;

    fn taken(node: AnyNode) -> Result<Node<Self>, AnyNode> {
        match node {
            AnyNode::Truth(node) => Ok(node),
            other => Err(other),
        }
    }

    fn any(node: Node<Self>) -> AnyNode {
        AnyNode::Truth(node)
    }
}

/// An expression as one of type `T`.
fn take<T: Taken>(typed: Typed, of: &str) -> Result<Node<T>, Mistake> {
    let found = typed.kind().map_or("NULL", Type::as_str);
    match typed {
        Typed::Null => Ok(Node::Constant(None)),
        Typed::Known(node) => {
            let wanted = T::KIND.as_str();
            T::taken(node).map_err(|_| Mistake::wrong(format!("{of} is {found} where {wanted} belongs")))
        }
    }
}

fn known<T: Taken>(node: Node<T>) -> Typed {
    Typed::Known(T::any(node))
}

fn number(operation: NumberOperation) -> Typed {
    known::<i128>(Node::operation(operation))
}

fn truth(operation: TruthOperation) -> Typed {
    known::<bool>(Node::operation(operation))
}

fn refused(what: &str) -> Result<Typed, Mistake> {
    Err(Mistake::wrong(format!("{what} has no place in a formula")))
}

/// Expressions as nodes of the type of the first that is not `NULL`.
fn alike<B>(given: Vec<Typed>, of: &str, build: B) -> Result<Typed, Mistake>
where
    B: BuildOfAnyType,
{
    let kind = given.iter().find_map(Typed::kind);
    match kind {
        Some(Type::Number) => build.build::<i128>(taken(given, of)?).map(known),
        Some(Type::Text) => build.build::<String>(taken(given, of)?).map(known),
        Some(Type::Truth) => build.build::<bool>(taken(given, of)?).map(known),
        None => Ok(Typed::Null),
    }
}

fn taken<T: Taken>(given: Vec<Typed>, of: &str) -> Result<Vec<Node<T>>, Mistake> {
    given.into_iter().map(|typed| take(typed, of)).collect()
}

/// Makes one node of nodes of any type.
trait BuildOfAnyType {
    fn build<T: Taken>(self, nodes: Vec<Node<T>>) -> Result<Node<T>, Mistake>;
}

struct First;

impl BuildOfAnyType for First {
    fn build<T: Taken>(self, nodes: Vec<Node<T>>) -> Result<Node<T>, Mistake> {
        Ok(Node::Coalesce(nodes))
    }
}

impl BuildOfAnyType for Extreme {
    fn build<T: Taken>(self, nodes: Vec<Node<T>>) -> Result<Node<T>, Mistake> {
        Ok(Node::Extreme(self, nodes))
    }
}

/// Conditions, of which each has its own node, and one more for what holds otherwise.
struct ByConditions(Vec<Node<bool>>);

impl BuildOfAnyType for ByConditions {
    fn build<T: Taken>(self, mut nodes: Vec<Node<T>>) -> Result<Node<T>, Mistake> {
        // Fallback: CASE without ELSE gives NULL, which is unknown.
        let otherwise = nodes.split_off(self.0.len()).pop().unwrap_or(Node::Constant(None));
        let branches = self.0.into_iter().zip(nodes);
        let branches = branches.map(|(when, then)| Branch { when, then }).collect();
        Ok(Node::Choice(Box::new(Choice { branches, otherwise })))
    }
}

struct Reader<'a> {
    columns: &'a BTreeMap<String, Type>,
    reads: Vec<String>,
}

impl Reader<'_> {
    fn typed(&mut self, expr: &Expr) -> Result<Typed, Mistake> {
        match expr {
            Expr::Identifier(name) => self.column(&name.value),
            Expr::CompoundIdentifier(_) => Err(Mistake::NoColumn(expr.to_string())),
            Expr::Nested(inner) => self.typed(inner),
            Expr::Value(value) => literal(&value.value),
            Expr::UnaryOp { op, expr } => self.unary(*op, expr),
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right),
            Expr::IsNull(inner) => self.is_null(inner),
            Expr::IsNotNull(inner) => negated(self.is_null(inner)?, true),
            Expr::IsTrue(inner) => self.is(inner, true),
            Expr::IsNotTrue(inner) => negated(self.is(inner, true)?, true),
            Expr::IsFalse(inner) => self.is(inner, false),
            Expr::IsNotFalse(inner) => negated(self.is(inner, false)?, true),
            Expr::InList {
                expr,
                list,
                negated: is_negated,
            } => negated(self.in_list(expr, list)?, *is_negated),
            Expr::Between {
                expr,
                negated: is_negated,
                low,
                high,
            } => {
                let least = self.binary(expr, &BinaryOperator::GtEq, low)?;
                let most = self.binary(expr, &BinaryOperator::LtEq, high)?;
                let both = TruthOperation::And(take(least, "BETWEEN")?, take(most, "BETWEEN")?);
                negated(truth(both), *is_negated)
            }
            Expr::Case {
                operand,
                conditions,
                else_result,
                ..
            } => self.case(operand.as_deref(), conditions, else_result.as_deref()),
            Expr::Ceil { expr: inner, field } if is_plain(field) => {
                let of = self.take(inner)?;
                Ok(number(NumberOperation::Ceil(of)))
            }
            Expr::Floor { expr: inner, field } if is_plain(field) => {
                let of = self.take(inner)?;
                Ok(number(NumberOperation::Floor(of)))
            }
            Expr::Function(function) => self.function(function),
            Expr::Cast { .. } => refused("CAST (all numbers are decimals)"),
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => refused("a query"),
            other => refused(&other.to_string()),
        }
    }

    fn take<T: Taken>(&mut self, expr: &Expr) -> Result<Node<T>, Mistake> {
        take(self.typed(expr)?, &expr.to_string())
    }

    fn column(&mut self, name: &str) -> Result<Typed, Mistake> {
        let Some(kind) = self.columns.get(name) else {
            return Err(Mistake::NoColumn(name.to_owned()));
        };
        if !self.reads.iter().any(|known| known == name) {
            self.reads.push(name.to_owned());
        }
        let name = name.to_owned();
        Ok(Typed::Known(match kind {
            Type::Number => AnyNode::Number(Node::Column(name)),
            Type::Text => AnyNode::Text(Node::Column(name)),
            Type::Truth => AnyNode::Truth(Node::Column(name)),
        }))
    }

    fn unary(&mut self, op: UnaryOperator, expr: &Expr) -> Result<Typed, Mistake> {
        match op {
            UnaryOperator::Plus => Ok(known::<i128>(self.take(expr)?)),
            UnaryOperator::Minus => Ok(match self.take::<i128>(expr)? {
                Node::Constant(Some(value)) => known::<i128>(Node::Constant(Some(-value))),
                of => number(NumberOperation::Negative(of)),
            }),
            UnaryOperator::Not => negated(self.typed(expr)?, true),
            other => refused(&other.to_string()),
        }
    }

    fn binary(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Typed, Mistake> {
        let arithmetic = match op {
            BinaryOperator::Plus => Some(Arithmetic::Plus),
            BinaryOperator::Minus => Some(Arithmetic::Minus),
            BinaryOperator::Multiply => Some(Arithmetic::Times),
            BinaryOperator::Divide => Some(Arithmetic::Over),
            _ => None,
        };
        if let Some(arithmetic) = arithmetic {
            let (left, right) = (self.take(left)?, self.take(right)?);
            return Ok(number(NumberOperation::Arithmetic(arithmetic, left, right)));
        }
        match op {
            BinaryOperator::And => Ok(truth(TruthOperation::And(self.take(left)?, self.take(right)?))),
            BinaryOperator::Or => Ok(truth(TruthOperation::Or(self.take(left)?, self.take(right)?))),
            BinaryOperator::Eq => self.compared(Comparison::Equal, left, right),
            BinaryOperator::NotEq => self.compared(Comparison::NotEqual, left, right),
            BinaryOperator::Lt => self.compared(Comparison::Less, left, right),
            BinaryOperator::LtEq => self.compared(Comparison::LessOrEqual, left, right),
            BinaryOperator::Gt => self.compared(Comparison::Greater, left, right),
            BinaryOperator::GtEq => self.compared(Comparison::GreaterOrEqual, left, right),
            BinaryOperator::DuckIntegerDivide => refused("// (write floor(a / b))"),
            BinaryOperator::Modulo => refused("% (write a - b * floor(a / b))"),
            other => refused(&other.to_string()),
        }
    }

    fn compared(&mut self, comparison: Comparison, left: &Expr, right: &Expr) -> Result<Typed, Mistake> {
        let (of_left, of_right) = (self.typed(left)?, self.typed(right)?);
        let kind = of_left.kind().or(of_right.kind());
        let (left, right) = (left.to_string(), right.to_string());
        let is_of_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        Ok(truth(match kind {
            Some(Type::Number) => TruthOperation::Numbers(comparison, take(of_left, &left)?, take(of_right, &right)?),
            Some(Type::Text) => TruthOperation::Texts(comparison, take(of_left, &left)?, take(of_right, &right)?),
            Some(Type::Truth) if is_of_equality => {
                TruthOperation::Truths(comparison, take(of_left, &left)?, take(of_right, &right)?)
            }
            Some(Type::Truth) => return refused("an order of truth values"),
            None => return Ok(known::<bool>(Node::Constant(None))),
        }))
    }

    fn is_null(&mut self, expr: &Expr) -> Result<Typed, Mistake> {
        Ok(match self.typed(expr)? {
            Typed::Known(node) => truth(TruthOperation::IsUnknown(node)),
            Typed::Null => known::<bool>(Node::Constant(Some(true))),
        })
    }

    /// Whether a condition is known to be `wanted`.
    fn is(&mut self, expr: &Expr, wanted: bool) -> Result<Typed, Mistake> {
        let is_wanted = TruthOperation::Truths(Comparison::Equal, self.take(expr)?, Node::Constant(Some(wanted)));
        let parts = vec![Node::operation(is_wanted), Node::Constant(Some(false))];
        Ok(known::<bool>(Node::Coalesce(parts)))
    }

    fn in_list(&mut self, expr: &Expr, list: &[Expr]) -> Result<Typed, Mistake> {
        Ok(match self.typed(expr)? {
            Typed::Known(AnyNode::Number(of)) => truth(TruthOperation::NumberIn(of, self.values(list)?)),
            Typed::Known(AnyNode::Text(of)) => truth(TruthOperation::TextIn(of, self.values(list)?)),
            Typed::Known(AnyNode::Truth(_)) => return refused("IN of truth values"),
            Typed::Null => known::<bool>(Node::Constant(None)),
        })
    }

    fn values<T: Taken>(&mut self, list: &[Expr]) -> Result<Vec<T>, Mistake> {
        let mut values = Vec::with_capacity(list.len());
        for expr in list {
            match self.take(expr)? {
                Node::Constant(Some(value)) => values.push(value),
                _ => return Err(Mistake::wrong(format!("{expr} is no value to look for with IN"))),
            }
        }
        Ok(values)
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        branches: &[CaseWhen],
        otherwise: Option<&Expr>,
    ) -> Result<Typed, Mistake> {
        let mut conditions = Vec::with_capacity(branches.len());
        let mut given = Vec::with_capacity(branches.len() + 1);
        for branch in branches {
            conditions.push(match operand {
                Some(operand) => {
                    let is_equal = self.compared(Comparison::Equal, operand, &branch.condition)?;
                    take(is_equal, "CASE")?
                }
                None => self.take(&branch.condition)?,
            });
            given.push(self.typed(&branch.result)?);
        }
        given.push(match otherwise {
            Some(otherwise) => self.typed(otherwise)?,
            None => Typed::Null,
        });
        alike(given, "a value of CASE", ByConditions(conditions))
    }

    fn function(&mut self, function: &Function) -> Result<Typed, Mistake> {
        let name = function.name.to_string().to_lowercase();
        let arguments = arguments(function)?;
        let wrong_n = |wanted: &str| {
            Err(Mistake::wrong(format!(
                "{name} takes {wanted}, not {}",
                arguments.len()
            )))
        };
        match (name.as_str(), arguments.as_slice()) {
            ("greatest", [_, ..]) => alike(self.all(&arguments)?, "a value of greatest", Extreme::Greatest),
            ("least", [_, ..]) => alike(self.all(&arguments)?, "a value of least", Extreme::Least),
            ("coalesce", [_, ..]) | ("ifnull", [_, _]) => alike(self.all(&arguments)?, "a value of coalesce", First),
            ("greatest" | "least" | "coalesce", _) => wrong_n("one value or more"),
            ("ceil" | "ceiling", [of]) => Ok(number(NumberOperation::Ceil(self.take(of)?))),
            ("floor", [of]) => Ok(number(NumberOperation::Floor(self.take(of)?))),
            ("abs", [of]) => Ok(number(NumberOperation::Absolute(self.take(of)?))),
            ("ceil" | "ceiling" | "floor" | "abs", _) => wrong_n("one value"),
            ("round", [of]) => Ok(number(NumberOperation::Rounded(self.take(of)?, 0))),
            ("round", [of, places]) => {
                let text = places.to_string();
                let places = text.parse().ok().filter(|places| *places <= SCALE);
                let Some(places) = places else {
                    return Err(Mistake::wrong(format!("round takes 0 to {SCALE} places, not {text}")));
                };
                Ok(number(NumberOperation::Rounded(self.take(of)?, places)))
            }
            ("round", _) => wrong_n("one or two values"),
            ("nullif", [left, right]) => {
                let is_equal = take(self.compared(Comparison::Equal, left, right)?, "nullif")?;
                let given = vec![Typed::Null, self.typed(left)?];
                alike(given, "nullif", ByConditions(vec![is_equal]))
            }
            ("nullif" | "ifnull", _) => wrong_n("two values"),
            ("if", [when, then, otherwise]) => {
                let when = self.take(when)?;
                let given = vec![self.typed(then)?, self.typed(otherwise)?];
                alike(given, "a value of if", ByConditions(vec![when]))
            }
            ("if", _) => wrong_n("three values"),
            _ => Err(Mistake::NoFunction(function.name.to_string())),
        }
    }

    fn all(&mut self, expressions: &[&Expr]) -> Result<Vec<Typed>, Mistake> {
        expressions.iter().map(|expr| self.typed(expr)).collect()
    }
}

/// The arguments of a plain call.
pub(super) fn arguments(function: &Function) -> Result<Vec<&Expr>, Mistake> {
    let odd = || Mistake::wrong(format!("{function} has no place in a formula"));
    let FunctionArguments::List(list) = &function.args else {
        return Err(odd());
    };
    let is_plain = list.duplicate_treatment.is_none()
        && list.clauses.is_empty()
        && function.filter.is_none()
        && function.over.is_none()
        && function.null_treatment.is_none()
        && function.within_group.is_empty()
        && matches!(function.parameters, FunctionArguments::None);
    let arguments = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) if is_plain => Ok(expr),
        _ => Err(odd()),
    });
    arguments.collect()
}

fn literal(value: &SqlValue) -> Result<Typed, Mistake> {
    match value {
        SqlValue::Number(text, false) => {
            let value = parse(text).ok_or_else(|| Mistake::wrong(format!("{text} is no decimal that fits")))?;
            Ok(known::<i128>(Node::Constant(Some(value))))
        }
        SqlValue::SingleQuotedString(text) => Ok(known::<String>(Node::Constant(Some(text.clone())))),
        SqlValue::Boolean(truth) => Ok(known::<bool>(Node::Constant(Some(*truth)))),
        SqlValue::Null => Ok(Typed::Null),
        other => refused(&other.to_string()),
    }
}

fn negated(typed: Typed, is_negated: bool) -> Result<Typed, Mistake> {
    if is_negated {
        Ok(truth(TruthOperation::Not(take(typed, "what NOT stands before")?)))
    } else {
        Ok(typed)
    }
}

/// Neither of a time nor to so many places.
fn is_plain(field: &CeilFloorKind) -> bool {
    matches!(field, CeilFloorKind::DateTimeField(DateTimeField::NoDateTime))
}
