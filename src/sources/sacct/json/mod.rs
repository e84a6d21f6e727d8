//! `sacct --json` of 21.08 and later.
//!
//! `{"jobs": [..], "meta": .., "errors": ..}`, in any order of keys, several documents one after another or one. Every
//! job carries its steps, so a job counts as one row and each of its steps as one more, as in the text of the same
//! query; the rows come out as the text reader gives them. The list is cut into jobs without holding it.
//!
//! What differs between the plugins (`v0.0.37` to `v0.0.44`) is read in either way: numbers plain or as
//! `{"set", "infinite", "number"}`, states as a word or a list of base state and flags, absent text as `null` or `""`,
//! the job's own CPU time filled in or zero. Options of format do not reach `--json`: instants are Unix seconds, memory
//! of TRES is MiB for allocations and bytes for usage, CPU usage is milliseconds.

mod fields;
mod job;
mod list;
mod split;
mod value;

use std::io::Read;

use self::split::SacctJsonSplitter;
use crate::numbers::Part;
use crate::sources::steps::ReadSteps;
use crate::sources::{Pieces, Position};

pub use self::split::SacctJsonLimits;

/// Whether `head`, the first bytes of a file without a byte order mark, is such a document.
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    let has = |word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
    // A key that only jobs of the accounting database have, or, for an empty list, one that only its plugin writes.
    text.starts_with(b"{")
        && (has("\"openapi/dbv")
            || has("\"openapi\\/dbv")
            || has_list_of_jobs(text) && (has("\"association\"") || has("/slurmdbd\"")))
}

/// Whether some `"jobs"` has a list for its value.
fn has_list_of_jobs(text: &[u8]) -> bool {
    const KEY: &[u8] = b"\"jobs\"";
    memchr::memmem::find_iter(text, KEY).any(|at| {
        let rest = text.part(at + KEY.len()..).trim_ascii_start();
        rest.strip_prefix(b":")
            .is_some_and(|rest| rest.trim_ascii_start().starts_with(b"["))
    })
}

/// Keys that came with a plugin, newest first. The plugin's own name is at the end of a document since 23.02.
const PLUGINS: &[(&str, &str)] = &[
    ("\"qosreq\"", "JSON, Slurm 24.11 or later"),
    ("\"stdin_expanded\"", "JSON, Slurm 24.05 or later"),
    ("\"current\": [", "JSON, Slurm 23.11 or later"),
    ("\"failed_node\"", "JSON, Slurm 23.02 or later"),
];

/// The release that wrote a document, from its first bytes.
#[must_use]
pub fn version(head: &[u8]) -> String {
    let after = |key: &str| {
        let at = memchr::memmem::find(head, key.as_bytes())? + key.len();
        let rest = head.get(at..)?.trim_ascii_start();
        let value = rest.strip_prefix(b"\"")?;
        let value = value.get(..memchr::memchr(b'"', value)?)?;
        Some(String::from_utf8_lossy(value).into_owned())
    };
    if let Some(release) = after("\"release\":") {
        return format!("JSON, Slurm {release}");
    }
    PLUGINS
        .iter()
        .find(|(key, _)| memchr::memmem::find(head, key.as_bytes()).is_some())
        .map_or("JSON", |&(_, release)| release)
        .to_owned()
}

/// Cuts a decompressed document that begins at `at` into pieces.
pub(super) fn pieces(input: Box<dyn Read + Send>, limits: SacctJsonLimits, at: Position) -> Pieces {
    Box::new(ReadSteps::new(SacctJsonSplitter::new(input, limits, at)))
}
