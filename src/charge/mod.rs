//! The charge room: what jobs cost under a policy that is data.
//!
//! A policy is a dated TOML file: for whom it holds, tables, a formula in SQL over documented columns, and worked
//! examples. A policy whose examples fail is refused everywhere.
//!
//! What holds in this room:
//!
//! * A charge is a decimal, rounded once, as its policy states; no float takes part.
//! * What is charged is what was allocated. The time a job computed is not an input.
//! * An unknown input gives no charge, counted and named; nothing substitutes for it unless the policy states it.

pub mod amount;
pub mod charged_tariff;
pub(crate) mod charged_view;
pub mod check_example;
pub mod description;
pub mod example;
pub mod facts;
pub mod inputs;
pub mod options;
pub mod page;
pub mod policy;
pub mod price;
mod read;
mod read_example;
mod read_table;
mod rounded_time;
pub mod scope;
pub mod show;
pub mod span;
pub mod table;
pub mod tariff;
pub mod weights;

pub use crate::charge::options::Options;
pub use crate::charge::policy::Policy;
pub use price::{JobPriced, price};
pub use tariff::Tariff;
