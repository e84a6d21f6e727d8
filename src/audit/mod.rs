//! What proves a lake: explained numbers, verification, rejects and their replay, prices compared.
//!
//! In: a published lake. Out: findings and explanations. Promise: nothing here changes what is published.

pub mod billing;
pub mod capacity;
pub mod explain;
pub mod inventory;
pub mod recorded;
pub mod rejects;
pub mod replay;
pub mod reprice;
pub mod stale;
pub mod sync;
pub mod verify;
