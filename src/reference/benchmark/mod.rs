//! Benchmarks: their kinds, quantities that know theirs, and dated values per scope.

mod kind;
mod quantity;
mod table;

pub use kind::Benchmark;
pub use quantity::{
    Dimension, Each, Hs06, Hs23, OneToOne, Pooled, Power, Quantity, SI00_PER_HS06, Score, Si00, Unit, Work, WorkDone,
};
pub use table::BenchmarkTable;
