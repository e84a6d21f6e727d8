//! Names of processes that hold beyond a process number: is the owner of a lock still there?

use std::fs;

/// This process: boot, space of process numbers, number, start. `None` on systems that do not provide them.
pub(super) fn own() -> Option<String> {
    let pid = std::process::id();
    Some(format!("{}/{pid}/{}", machine()?, start(&pid.to_string())?))
}

/// This process in a word that file names can hold: machine, number, start; its number alone on systems that do not provide them.
pub(super) fn tag() -> String {
    let pid = std::process::id().to_string();
    match (machine_tag(), start(&pid)) {
        (Some(machine), Some(start)) => format!("{machine}.{pid}.{start}"),
        _ => pid,
    }
}

/// Whether the process of a tag runs; `None` when it is, or may be, one of another machine.
pub(super) fn is_tag_alive(tag: &str) -> Option<bool> {
    let mut parts = tag.split('.');
    let (of, pid, started) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || machine_tag()? != of {
        return None;
    }
    Some(start(pid).is_some_and(|now| now == started))
}

fn machine_tag() -> Option<String> {
    let hash = blake3::hash(machine()?.as_bytes()).to_hex();
    hash.get(..12).map(str::to_owned)
}

/// Whether a process of this name runs; `None` when it is, or may be, one of another machine.
pub(super) fn is_alive(name: &str) -> Option<bool> {
    let mut parts = name.rsplitn(3, '/');
    let (started, pid, of) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || machine()? != of {
        return None;
    }
    Some(start(pid).is_some_and(|now| now == started))
}

/// One start of one machine, or of one container on it.
fn machine() -> Option<String> {
    // Fallback: a machine without this file cannot be identified, which `None` states.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    // Fallback: without namespaces it cannot be identified either.
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{}/{}", boot.trim(), space.display()))
}

/// When a process started, in ticks of the machine; `None` for one that is gone or ended.
fn start(pid: &str) -> Option<String> {
    // Fallback: a process without such a file is gone.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name that may hold anything; behind it are the state and, as the 22nd of all, the start.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?;
    (!matches!(state, "Z" | "X")).then(|| started.to_owned())
}
