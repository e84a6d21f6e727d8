//! Progress of long work, for the people who wait for it.

/// Hears how far the work is. Never decides anything.
pub trait Progress: Sync {
    /// A phase begins: `total` units of work follow (0 when unknown), such as `("reading", 123, "bytes")`.
    fn begin(&self, phase: &str, total: u64, unit: &str);

    /// `n` more units of the phase are done.
    fn add(&self, n: u64);

    /// The phase is over.
    fn end(&self);
}

/// Reports nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: u64, _: &str) {}
    fn add(&self, _: u64) {}
    fn end(&self) {}
}
