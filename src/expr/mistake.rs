//! What makes a text no formula.

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

impl Mistake {
    pub(super) fn wrong(why: impl Into<String>) -> Self {
        Self::Wrong(why.into())
    }
}
