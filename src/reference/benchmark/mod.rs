//! Benchmarks: their kinds, quantities that know theirs, and dated values per scope.

mod asked_span;
mod factors;
mod kind;
mod lint;
mod node_cores;
mod nodes;
mod quantity;
mod row;
pub mod scaled_to;
mod scope;
mod site;
mod table;
mod timeline;

pub use asked_span::AskedSpan;
pub use factors::{Factors, KnownFactor};
pub use kind::Benchmark;
pub use nodes::NodeTable;
pub use quantity::{
    Each, Hs06, Hs23, OneToOne, Pooled, Power, Quantity, QuantityDimension, QuantityUnit, SI00_PER_HS06, Score, Si00,
    WorkDone, WorkQuantity,
};
pub use scope::{BenchmarkLevel, BenchmarkOrigin, BenchmarkPlace};
pub use site::SiteBenchmarks;
pub use table::BenchmarkTable;
