//! What a process runs with: threads, clock, progress, temporary space, allocator.

pub(crate) mod allocator;
pub mod clock;
pub(crate) mod interruption;
pub(crate) mod pool;
pub mod progress;
pub(crate) mod scratch;

pub use progress::Progress;
