//! The reference that times arrive scaled to.

/// A reference that worker nodes scale times to before they are logged: `$cpumult` and `$wallmult` of Torque, `cputmult`
/// before a history of `HTCondor`, host factors of LSF and SGE. Such time is the raw one times the node's value over the
/// reference's, so scaled time times the reference is the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaledTo {
    /// In which benchmark.
    pub benchmark: crate::reference::benchmark::Benchmark,
    /// Value per core in ten-thousandths.
    pub value_e4_per_core: i64,
    /// CPU times are scaled.
    pub is_cpu: bool,
    /// Wall times are scaled.
    pub is_wall: bool,
    /// Raw times are got back by the values of nodes.
    pub unscale: bool,
}
