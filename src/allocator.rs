//! The allocator, and how soon it gives memory back.

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// What jemalloc reads at its start. Left alone it keeps freed pages for ten seconds: longer than most runs, whose
/// rooms free what the next one takes anew, so that a run would seem to need what all its rooms need together. Pages are
/// given back in one step: two ask the kernel twice, and it may count them to the run in between.
///
/// Columns, pages and parts of files are large, and are freed soon: that their memory comes from the kernel in pieces of
/// two MiB, that a thread keeps such pieces for the next one, and that there are no more arenas than processors leaves a
/// seventh of the page faults, for some ten per cent more memory.
/// `_RJEM_MALLOC_CONF` of the environment still overrides it.
#[expect(unsafe_code, reason = "a name shared with C is unsafe to choose; nothing is called")]
#[unsafe(export_name = "_rjem_malloc_conf")]
static CONFIGURATION: &[u8; 82] =
    b"dirty_decay_ms:500,muzzy_decay_ms:0,narenas_ratio:1,thp:always,tcache_max:2097152\0";
