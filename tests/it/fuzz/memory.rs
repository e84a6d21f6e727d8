//! How much memory the process came to take, where the system provides it.

/// Resident bytes at most since the last [`forget`], kilobytes.
pub(super) fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Makes the peak what is resident now.
pub(super) fn forget() {
    // Where this cannot be done the peak stays, and nothing is seen to grow.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
