//! The allocator, and how soon it gives memory back.

use std::alloc::{GlobalAlloc, Layout};

use tikv_jemallocator::Jemalloc;

use super::sudden_end::without_memory;

#[global_allocator]
static ALLOCATOR: HeapEnding = HeapEnding;

/// jemalloc. Where the machine gives no more memory, the program ends with an exit code of its own: left alone it would
/// be aborted.
struct HeapEnding;

#[expect(
    unsafe_code,
    reason = "an allocator is unsafe to write; every call goes to jemalloc as it came"
)]
unsafe impl GlobalAlloc for HeapEnding {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        given(unsafe { Jemalloc.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        given(unsafe { Jemalloc.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { Jemalloc.dealloc(place, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        given(unsafe { Jemalloc.realloc(place, layout, size) })
    }
}

#[inline]
fn given(place: *mut u8) -> *mut u8 {
    if place.is_null() {
        without_memory();
    }
    place
}

/// What jemalloc reads at its start. Left alone it keeps freed pages for ten seconds: longer than most runs, whose
/// stages free what the next one takes again, so that a run would seem to need what all its rooms need together. Pages are
/// given back in one step: two ask the kernel twice, and it may count them to the run in between.
///
/// Columns and pages are large, and are freed soon: that a thread keeps pieces of up to two MiB for the next one, that there are no
/// more arenas than processors, and that what is free is kept for two seconds leaves little more page faults than what is
/// in use at the same time.
///
/// What is free is unmapped: pages that are kept mapped, as jemalloc does left alone, count against a limit of the process
/// (`RLIMIT_DATA`), which was used up by them while half of it was free.
/// `_RJEM_MALLOC_CONF` of the environment still overrides it.
#[expect(unsafe_code, reason = "a name shared with C is unsafe to choose; nothing is called")]
#[unsafe(export_name = "_rjem_malloc_conf")]
static CONFIGURATION: &[u8; 85] =
    b"dirty_decay_ms:2000,muzzy_decay_ms:0,narenas_ratio:1,tcache_max:2097152,retain:false\0";
