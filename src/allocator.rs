//! The allocator, and how soon it gives memory back.

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// What jemalloc reads at its start. Left alone it keeps freed pages for ten seconds: longer than most runs, whose
/// rooms free what the next one takes anew, so that a run would seem to need what all its rooms need together. Pages are
/// given back in one step: two ask the kernel twice, and it may count them to the run in between.
/// `_RJEM_MALLOC_CONF` of the environment still overrides it.
#[expect(unsafe_code, reason = "a name shared with C is unsafe to choose; nothing is called")]
#[unsafe(export_name = "_rjem_malloc_conf")]
static CONFIGURATION: &[u8; 36] = b"dirty_decay_ms:500,muzzy_decay_ms:0\0";
