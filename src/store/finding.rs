//! What is wrong with a file of a lake.

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Where.
    pub path: String,
    /// What.
    pub problem: String,
}
