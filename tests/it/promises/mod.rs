//! What the product promises, tried on whole lakes: same bytes, nothing twice, nothing half, everything accounted for.

mod joined;
mod killed;
mod ledger_closes;
mod logs;
mod nothing_new;
mod pieces;
mod reading_along;
mod renderings;
mod same_bytes;
pub(crate) mod scene;
mod settings;
mod tables;
mod truths;
mod waiting;
