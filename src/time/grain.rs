//! The finest period of usage.

/// Finest period of `usage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Calendar month.
    Month,
    /// Calendar day.
    Day,
}
