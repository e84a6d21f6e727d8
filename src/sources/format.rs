//! What the pipeline file states of the dialect of a source.

use super::dialect::{Dialect, SourceOption};

/// What the pipeline file states of the dialect of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Recognised per file from its content.
    Auto,
    /// A kind of inventory, recognised per file from its content.
    AutoInventory,
    /// This one.
    Dialect(Dialect),
}

impl Format {
    /// The word of the fingerprint and of messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::AutoInventory => "inventory",
            Self::Dialect(dialect) => dialect.as_str(),
        }
    }

    /// The dialect, if it is stated.
    #[must_use]
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Auto | Self::AutoInventory => None,
            Self::Dialect(dialect) => Some(dialect),
        }
    }

    /// Whether files describe the machine instead of jobs.
    #[must_use]
    pub fn is_inventory(self) -> bool {
        match self {
            Self::Auto => false,
            Self::AutoInventory => true,
            Self::Dialect(dialect) => dialect.inventory().is_some(),
        }
    }

    /// Whether a key of a source may do something: with [`Format::Auto`] any may.
    #[must_use]
    pub fn may_use(self, option: SourceOption) -> bool {
        match self {
            Self::Auto => true,
            Self::AutoInventory => false,
            Self::Dialect(dialect) => dialect.uses(option),
        }
    }
}
