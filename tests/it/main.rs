//! The only integration-test binary: one module per behaviour.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "../generator/mod.rs"]
mod generator;
mod hygiene;
mod lessons;

mod oracle;
mod readme;
mod sample_data;
mod support;
mod zone;
