//! What the product promises, tried on whole lakes: same bytes, nothing twice, nothing half, everything accounted for.

mod benchmarks;
mod charge_corrections;
mod charges;
mod copies;
mod corrections;
mod encodings;
mod explain;
mod joined;
mod killed;
mod ledger_closes;
mod logs;
mod nothing_new;
mod pieces;
mod privacy;
mod reading_along;
mod renderings;
mod repair;
mod same_bytes;
mod scaled;
pub(crate) mod scene;
mod settings;
mod stated_work;
mod tables;
mod together;
mod truths;
mod waiting;
mod wckeys;
