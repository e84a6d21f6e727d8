//! Which dialect a file speaks, judged by its content.

use super::{Format, inventory};

/// What the readers know: raised whenever one of them reads what readers refused before. Files that were refused under a
/// lower number are read again.
pub const READERS: u32 = 2;

/// A dialect with a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Slurm `sacct`: text with a header, or `--json`.
    Sacct,
    /// APEL messages, and the XML and JSON records of that world.
    Apel,
    /// GRACC and Gratia records, JSON or XML.
    Gracc,
    /// A tar whose members are of any dialect.
    Archive,
    /// PBS and Torque accounting logs.
    Pbs,
    /// SGE and UGE accounting files.
    Sge,
    /// LSF `lsb.acct` files.
    Lsf,
    /// `HTCondor` job histories.
    Htcondor,
    /// BLAH accounting logs of a CE.
    Blah,
    /// Standard Workload Format.
    Swf,
    /// What the batch system says about its own machine.
    Inventory(inventory::InventoryKind),
}

impl Dialect {
    /// The word of the pipeline file's `format`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            _ => self.format().as_str(),
        }
    }

    /// The dialect with this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [
            Self::Sacct,
            Self::Apel,
            Self::Gracc,
            Self::Pbs,
            Self::Sge,
            Self::Lsf,
            Self::Htcondor,
            Self::Blah,
            Self::Swf,
        ]
        .into_iter()
        .find(|dialect| dialect.as_str() == word)
    }

    /// The format a source of this dialect declares.
    #[must_use]
    pub fn format(self) -> Format {
        match self {
            Self::Sacct => Format::Sacct,
            Self::Apel => Format::Apel,
            Self::Gracc => Format::Gracc,
            Self::Archive => Format::Auto,
            Self::Pbs => Format::Pbs,
            Self::Sge => Format::Sge,
            Self::Lsf => Format::Lsf,
            Self::Htcondor => Format::Htcondor,
            Self::Blah => Format::Blah,
            Self::Swf => Format::Swf,
            Self::Inventory(kind) => Format::Inventory(kind),
        }
    }

    /// The dialect of a declared format; `None` when it is to be recognised.
    #[must_use]
    pub fn of(format: Format) -> Option<Self> {
        match format {
            Format::Sacct => Some(Self::Sacct),
            Format::Apel => Some(Self::Apel),
            Format::Gracc => Some(Self::Gracc),
            Format::Pbs => Some(Self::Pbs),
            Format::Sge => Some(Self::Sge),
            Format::Lsf => Some(Self::Lsf),
            Format::Htcondor => Some(Self::Htcondor),
            Format::Blah => Some(Self::Blah),
            Format::Swf => Some(Self::Swf),
            Format::Auto | Format::Inventory(inventory::InventoryKind::Auto) => None,
            Format::Inventory(kind) => Some(Self::Inventory(kind)),
        }
    }
}
