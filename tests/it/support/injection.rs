//! System calls that strace makes fail.

use std::process::Command;

/// Whether system calls can be failed here.
pub(crate) fn can_inject() -> bool {
    let probe = ["-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"];
    Command::new("strace")
        .args(probe)
        .output()
        .is_ok_and(|output| output.status.success())
}
