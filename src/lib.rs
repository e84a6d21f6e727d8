//! gridtally: where did every core-hour go, what was it worth, who pays - and prove it.

pub mod cli;
pub mod engine;
pub mod error;
pub mod inspect;
pub mod ledger;
pub mod normalise;
pub mod pipeline;
pub mod problems;
pub mod records;
pub mod reference;
pub mod schema;
pub mod sources;
pub mod store;
pub mod summarise;
pub mod time;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
