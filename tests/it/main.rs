//! The only integration-test binary: one module per behaviour.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod apel;
mod apel_golden;
#[path = "support/collect_grid.rs"]
mod collect_grid;
mod decimal;
mod gracc;
mod zone;
