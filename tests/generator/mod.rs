//! Makes accounting dumps: the sample data of this repository and inputs of any size for the benchmark. Everything is
//! a function of its arguments; neither the clock nor the machine has a state.

pub(crate) mod apel;
pub(crate) mod bulk;
pub(crate) mod clock;
pub(crate) mod gracc;
pub(crate) mod rng;
pub(crate) mod sacct;
pub(crate) mod sample;
