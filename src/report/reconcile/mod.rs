//! Two accounts of the same usage compared by site, VO and month, and why they differ.
//!
//! [`side`] brings either account into one form, [`cause`] tells causes that can be proven from the numbers, [`compare`]
//! puts both together. A difference no rule proves is called unexplained.

pub mod cause;
pub mod compare;
pub mod side;
