//! What a formula is made of: nodes whose types are settled.

use super::compute::Operand;

/// A part of a formula that gives cells of one type.
#[derive(Clone, Debug)]
pub(super) enum Node<T: Operand> {
    /// A column of the batch, or an earlier formula.
    Column(String),
    /// The same for every row; `None` is unknown.
    Constant(Option<T>),
    /// One of several, by conditions.
    Choice(Box<Choice<T>>),
    /// The first that is known.
    Coalesce(Vec<Node<T>>),
    /// The least or greatest; unknown when one of them is.
    Extreme(Extreme, Vec<Node<T>>),
    /// What only this type has.
    Operation(Box<T::Operation>),
}

impl<T: Operand> Node<T> {
    pub(super) fn operation(operation: T::Operation) -> Self {
        Self::Operation(Box::new(operation))
    }
}

/// The first branch whose condition is true. From the first condition on that is unknown, it is unknown.
#[derive(Clone, Debug)]
pub(super) struct Choice<T: Operand> {
    pub(super) branches: Vec<Branch<T>>,
    pub(super) otherwise: Node<T>,
}

/// What holds under a condition.
#[derive(Clone, Debug)]
pub(super) struct Branch<T: Operand> {
    pub(super) when: Node<bool>,
    pub(super) then: Node<T>,
}

/// Which of several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extreme {
    Least,
    Greatest,
}

/// What gives a number. Unknown in gives unknown.
#[derive(Clone, Debug)]
pub(super) enum NumberOperation {
    Arithmetic(Arithmetic, Node<i128>, Node<i128>),
    Negative(Node<i128>),
    Absolute(Node<i128>),
    Floor(Node<i128>),
    Ceil(Node<i128>),
    /// Half to even, to so many places.
    Rounded(Node<i128>, u32),
    Tier(TierSteps),
}

/// An operator between numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Plus,
    Minus,
    Times,
    /// Unknown where the divisor is zero.
    Over,
}

/// A value that depends on the range of a number.
#[derive(Clone, Debug)]
pub(super) struct TierSteps {
    pub(super) by: Node<i128>,
    /// In the order of their bounds.
    pub(super) steps: Vec<TierStep>,
    /// Beyond the last bound.
    pub(super) above: Option<i128>,
    /// A bound belongs to its own step, and not to the next one.
    pub(super) is_upper_included: bool,
}

/// A value that holds up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierStep {
    /// The bound.
    pub bound: i128,
    /// The value below it.
    pub value: i128,
}

/// What gives a truth value.
#[derive(Clone, Debug)]
pub(super) enum TruthOperation {
    Numbers(Comparison, Node<i128>, Node<i128>),
    Texts(Comparison, Node<String>, Node<String>),
    Truths(Comparison, Node<bool>, Node<bool>),
    NumberIn(Node<i128>, Vec<i128>),
    TextIn(Node<String>, Vec<String>),
    /// False where one is false, even if the other is unknown.
    And(Node<bool>, Node<bool>),
    /// True where one is true, even if the other is unknown.
    Or(Node<bool>, Node<bool>),
    Not(Node<bool>),
    IsUnknown(AnyNode),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub(super) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// A node of any type.
#[derive(Clone, Debug)]
pub(super) enum AnyNode {
    Number(Node<i128>),
    Text(Node<String>),
    Truth(Node<bool>),
}
