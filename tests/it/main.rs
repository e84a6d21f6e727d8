//! The only integration-test binary: one module per behaviour.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod store;
mod support;
mod apel;
#[path = "support/collect_grid.rs"]
mod collect_grid;
mod decimal;
mod gracc;
#[path = "../generator/mod.rs"]
mod generator;
mod hygiene;
mod lessons;

mod oracle;
mod readme;
mod sample_data;
mod sacct;
mod cli;
mod inputs;
mod pipeline_file;
mod zone;
