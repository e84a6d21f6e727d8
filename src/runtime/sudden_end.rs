//! Ends that leave no time to tidy up: memory that is refused, temporary files that cannot be read back, and aborts of the system's
//! own libraries. All report
//! themselves without memory or locks, and have an exit code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::SIGABRT;
use signal_hook::low_level::exit;

use super::interruption;
use crate::error::Kind;

/// Why a process ends, and what helps.
struct SuddenEnd {
    kind: Kind,
    why: &'static str,
    advice: &'static str,
}

const NO_MEMORY: SuddenEnd = SuddenEnd {
    kind: Kind::Memory,
    why: "the machine gives no more memory or threads",
    advice: "give it more memory (--max-memory, the limit of its service), use fewer --threads, or read the files in shards \
             (gridtally plan --shards N)",
};

const NO_TEMPORARY_FILE: SuddenEnd = SuddenEnd {
    kind: Kind::Io,
    why: "a temporary file cannot be read back",
    advice: "look at the disk of the folder for temporary files (TMPDIR)",
};

const ABORTED: SuddenEnd = SuddenEnd {
    kind: Kind::Internal,
    why: "the program was aborted where it should not be, please report it",
    advice: "run it again",
};

/// The state left behind where it cannot be looked at now.
const UNKNOWN_STATE: &str = "what was committed stays, and a commit that has begun is finished by the next run";

/// Bytes a library of the system may request at once where it has nothing left: twice what glibc does.
const PROBED_BYTES: usize = 2 << 20;

/// Ends the process, which the machine gives no more memory or threads.
#[cold]
pub(crate) fn without_memory() -> ! {
    end(&NO_MEMORY)
}

/// Ends the process, whose values were put into a temporary file that cannot be read back.
#[cold]
pub(crate) fn without_temporary_file() -> ! {
    end(&NO_TEMPORARY_FILE)
}

/// From now on a library that aborts the process ends it with an exit code. glibc does so where it finds no memory for
/// itself, which no allocator sees.
pub(crate) fn watch_aborts() {
    #[expect(
        unsafe_code,
        reason = "a handler of signals is unsafe to register; it only maps memory, writes and ends the process, which \
            POSIX allows there"
    )]
    let watching = unsafe { signal_hook::low_level::register(SIGABRT, aborted) };
    // Where it cannot be registered, an abort stays what it is.
    drop(watching);
}

fn aborted() {
    if is_memory_refused() {
        without_memory();
    }
    end(&ABORTED)
}

/// Whether the system refuses a small part of memory.
fn is_memory_refused() -> bool {
    #[expect(
        unsafe_code,
        reason = "a system call; what it maps is never used, and the process ends"
    )]
    let place = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            PROBED_BYTES,
            libc::PROT_READ,
            libc::MAP_PRIVATE | libc::MAP_ANON,
            -1,
            0,
        )
    };
    place == libc::MAP_FAILED
}

/// Reports why and what was published, and ends the process, past all that allocates memory or waits for a lock.
fn end(ending: &SuddenEnd) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if IS_ENDING.swap(true, Ordering::Relaxed) {
        // Another thread has begun to report it, and ends the process.
        std::thread::sleep(Duration::from_secs(1));
    } else {
        // Fallback: another thread is just changing the state, and may never end that.
        let state = interruption::standing_now().unwrap_or(UNKNOWN_STATE);
        for part in ["gridtally: ", ending.why, "; ", state, "; ", ending.advice, "\n"] {
            #[expect(unsafe_code, reason = "a system call on bytes that live as long as the program")]
            // No other way to report is left.
            let _ = unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
        }
    }
    exit(i32::from(ending.kind.exit_code()))
}
