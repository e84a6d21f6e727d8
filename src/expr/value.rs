//! The types that formulas compute with.

use arrow_schema::DataType;

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

    /// How batches hold it.
    #[must_use]
    pub fn arrow(self) -> DataType {
        match self {
            Self::Number => DataType::Decimal128(38, 12),
            Self::Text => DataType::Utf8,
            Self::Truth => DataType::Boolean,
        }
    }
}

/// A value of a formula.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A decimal, in units of the last of [`super::SCALE`] places.
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
