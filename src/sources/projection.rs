//! What of a job somebody who listens to a reader wants to hear.

/// An optional part of a job row. Always read are its identifiers, its submission, start, end and
/// wall time, and what distinguishes a row from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnPart {
    /// Cluster.
    Cluster,
    /// Account.
    Account,
    /// User and local group.
    User,
    /// Partition.
    Partition,
    /// Quality of service.
    Qos,
    /// Workload key.
    Wckey,
    /// Reservation it ran in.
    Reservation,
    /// Job name.
    JobName,
    /// Hosts.
    NodeList,
    /// When it became eligible.
    Queueing,
    /// CPU time.
    Cpu,
    /// Its user and system part.
    CpuParts,
    /// Cores allocated.
    Cores,
    /// Nodes allocated.
    Nodes,
    /// GPUs, memory and billing units allocated.
    Allocation,
    /// Cores requested.
    RequestedCores,
    /// Memory requested.
    RequestedMemory,
    /// Most memory used.
    PeakMemory,
    /// What Jobstats measured.
    Jobstats,
    /// Energy.
    Energy,
    /// What it was submitted with: dependencies, and whom it shares its nodes with.
    Submission,
    /// Time limit.
    TimeLimit,
    /// Exit code and signal.
    Exit,
}

/// The parts somebody wants to hear.
///
/// A reader may set the others too, or leave them unknown, and what it leaves out it does not check: a row that would
/// be refused for such a part alone is accepted. Every row is framed and gets its outcome all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(u32);

impl Interest {
    /// Everything.
    #[must_use]
    pub const fn all() -> Self {
        Self(u32::MAX)
    }

    /// These parts.
    #[must_use]
    pub fn only(parts: &[ColumnPart]) -> Self {
        Self(parts.iter().fold(0, |bits, part| bits | part.bit()))
    }

    /// Whether one of `parts` is wanted.
    #[must_use]
    pub fn any(self, parts: &[ColumnPart]) -> bool {
        parts.iter().any(|part| self.0 & part.bit() != 0)
    }
}

impl ColumnPart {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}
