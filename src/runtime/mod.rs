//! What a process runs with: threads, clock, progress, temporary space, allocator, and how it ends where nothing else can be done.

pub(crate) mod allocator;
pub mod clock;
pub mod column;
pub mod column_value;
pub(crate) mod interruption;
pub(crate) mod memory_limit;
pub(crate) mod pool;
pub mod progress;
pub(crate) mod requests;
pub(crate) mod scratch;
pub mod sorter;
pub(crate) mod sudden_end;
pub mod trace_parent;

pub use progress::Progress;
