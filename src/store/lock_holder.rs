//! Who holds the lock of a lake, for those who find it held. It decides nothing: who may take a lock over is decided by the system
//! on a local disk, and by renewals in an object store.

use serde::{Deserialize, Serialize};

use crate::runtime::clock::now_ms;
use crate::time::instant::{parse_instant_s, second_text};

/// The holder of a lock, as it is written into the lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LockHolder {
    /// Name of its machine.
    host: Option<String>,
    /// Number of its process on that machine.
    process_id: Option<u32>,
    /// When it took the lock, UTC by the clock of its machine.
    since_utc: Option<String>,
}

impl LockHolder {
    /// This process, which takes a lock now.
    pub(super) fn own() -> Self {
        Self {
            host: host(),
            process_id: Some(std::process::id()),
            since_utc: second_text(now_ms()),
        }
    }

    /// Of the text of a lock; locks of earlier versions name nobody.
    pub(super) fn parse(text: &[u8]) -> Self {
        // Fallback: an empty or damaged lock names nobody, and is held all the same.
        serde_json::from_slice(text).unwrap_or_default()
    }

    /// In words: host, process and age, as far as they are known.
    pub(super) fn words(&self) -> String {
        let process = self
            .process_id
            .map_or_else(|| "an unknown process".to_owned(), |id| format!("process {id}"));
        let host = self
            .host
            .as_deref()
            .map_or_else(String::new, |host| format!(" on {host}"));
        let since = self.since_utc.as_deref().map_or_else(String::new, |since| {
            let age_s = parse_instant_s(since).map(|s| now_ms().div_euclid(1000) - s);
            let age = age_s.map_or_else(String::new, |age_s| format!(", {age_s} s ago"));
            format!(" since {since}{age}")
        });
        format!("{process}{host}{since}")
    }
}

/// The name of this machine, where the system states it.
fn host() -> Option<String> {
    // Fallback: a system without this file has no name to show.
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
