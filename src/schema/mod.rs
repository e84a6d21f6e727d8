//! The single source of every column of every dataset: `schemas/*.toml`, compiled in. Leaf: no I/O, no rooms.

pub mod batch;
pub mod combinations;
pub mod dataset;
pub mod registry;
pub mod render;
pub mod sql;

pub use dataset::{Column, ColumnType, Dataset, Encoding, UNKNOWN_PARTITION};
pub use registry::{dataset, datasets, lake_datasets, listing_datasets};
