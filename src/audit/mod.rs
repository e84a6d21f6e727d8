//! What proves a lake: explained numbers, verification, rejects and their replay, prices and snapshots compared.
//!
//! In: a published lake. Out: findings and explanations. Promise: nothing here changes what is published.

pub(crate) mod awards;
pub mod billing;
pub mod billing_comparison;
pub mod capacity;
mod charge_part;
pub mod explain;
pub mod inventory;
pub mod rejects;
pub mod replay;
pub mod reprice;
pub mod snapshot_diff;
pub mod summary_diff;
pub mod sync;
pub mod value_text;
pub mod verify;
