//! The dialect family a source is declared to have.

use super::inventory;

/// The dialect family a source is declared to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Slurm `sacct` text with a header.
    Sacct,
    /// APEL messages.
    Apel,
    /// GRACC index dumps.
    Gracc,
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
    /// Recognised per file from its content.
    Auto,
    /// What the batch system says about its own machine: of an `[[inventory]]`, not of a `[[source]]`.
    Inventory(inventory::InventoryKind),
}

impl Format {
    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sacct => "sacct",
            Self::Apel => "apel",
            Self::Gracc => "gracc",
            Self::Pbs => "pbs",
            Self::Sge => "sge",
            Self::Lsf => "lsf",
            Self::Htcondor => "htcondor",
            Self::Blah => "blah",
            Self::Swf => "swf",
            Self::Auto => "auto",
            Self::Inventory(kind) => kind.as_str(),
        }
    }
}
