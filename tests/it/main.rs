//! The only integration-test binary: one module per behaviour.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod cli;
mod inputs;
mod pipeline_file;
mod reference_tables;
mod zone;
