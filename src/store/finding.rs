//! What is wrong with a file of a lake.

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Where.
    pub path: String,
    /// What.
    pub problem: String,
    /// Whether it was left behind by a write that was cut off, and is no part of what is published: the next run removes it.
    pub is_leftover: bool,
    /// Whether it is of a commit that was cut off, which the next run finishes.
    pub is_unfinished: bool,
}

impl Finding {
    /// What is wrong with what is published.
    pub(super) fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            problem: problem.into(),
            is_leftover: false,
            is_unfinished: false,
        }
    }

    /// What was left behind.
    pub(super) fn leftover(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            is_leftover: true,
            ..Self::new(path, problem)
        }
    }
}
