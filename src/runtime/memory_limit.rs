//! A limit of the memory of this process that the system enforces.

use crate::error::{Error, Result};

/// Limits what the process may map for itself (`RLIMIT_DATA`: heap and stacks, not the program's own file): a request beyond it
/// is refused, and the process ends as where the machine gives no more memory. A lower limit that it already has stays.
///
/// # Errors
/// [`crate::error::Kind::Usage`] when the process holds more already, or the system has no such limit.
#[cfg(target_os = "linux")]
pub(crate) fn limit_memory(byte_n: u64) -> Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    #[expect(unsafe_code, reason = "a system call that fills the struct it gets")]
    let is_read = unsafe { libc::getrlimit(libc::RLIMIT_DATA, &raw mut limit) } == 0;
    limit.rlim_cur = limit.rlim_cur.min(byte_n);
    #[expect(unsafe_code, reason = "a system call that reads the struct it gets")]
    let is_set = is_read && unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) } == 0;
    if is_set {
        return Ok(());
    }
    let why = std::io::Error::last_os_error();
    Err(Error::new(
        crate::error::Kind::Usage,
        "the system does not limit the memory of this process",
    )
    .because(why))
}

/// As above; only Linux counts what a process maps.
///
/// # Errors
/// [`crate::error::Kind::Usage`], always.
#[cfg(not(target_os = "linux"))]
pub(crate) fn limit_memory(_: u64) -> Result<()> {
    let message =
        "--max-memory needs a system that limits what a process maps (Linux); use one's limits of services here";
    Err(Error::new(crate::error::Kind::Usage, message))
}
