//! What a file system or an object store states of a file, by which a change of its content is seen without reading it.

use std::fs::Metadata;
use std::io::Read;

use serde::{Deserialize, Serialize};

use crate::runtime::clock;

/// How old the last change of a local file must be for its times to show a later change: file systems round times to two
/// seconds at most, and a change within the same two seconds would leave them as they are.
const SETTLED_NS: i64 = 2_000_000_000;

/// Nanoseconds of a second.
const SECOND_NS: i64 = 1_000_000_000;

/// The state of a file. Whoever changes its content changes the stamp; setting the time of the last modification back does
/// as well, for that sets the time of the last change of the inode, which no program can set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStamp {
    /// Of a local file.
    Local {
        /// Its inode.
        inode: u64,
        /// Its size, bytes.
        bytes: u64,
        /// When its content was modified last, as it states, Unix nanoseconds.
        modified_ns: i64,
        /// When it or its inode was changed last, Unix nanoseconds.
        changed_ns: i64,
    },
    /// Of an object of a store that gives every content a tag of its own.
    Object {
        /// Its size, bytes.
        bytes: u64,
        /// Its strong entity tag.
        e_tag: String,
    },
}

impl FileStamp {
    /// Of a local file; `None` for what is not a file, and where the system states no inode.
    #[must_use]
    pub fn of_file(meta: &Metadata) -> Option<Self> {
        if meta.is_file() { local(meta) } else { None }
    }

    /// Of an object. Without a tag, or with a weak one, nothing is known of its content.
    #[must_use]
    pub fn of_object(bytes: u64, e_tag: Option<&str>) -> Option<Self> {
        let e_tag = e_tag.filter(|e_tag| !e_tag.is_empty() && !e_tag.starts_with("W/"))?;
        Some(Self::Object {
            bytes,
            e_tag: e_tag.to_owned(),
        })
    }

    /// Whether a local file was written over since it had this stamp, and is not only longer: who was reading it may have
    /// read a part of either content.
    pub(crate) fn is_overwritten(&self, now: &Self) -> bool {
        match (self, now) {
            (
                Self::Local {
                    inode,
                    bytes,
                    modified_ns,
                    ..
                },
                Self::Local {
                    inode: now_inode,
                    bytes: now_bytes,
                    modified_ns: now_modified_ns,
                    ..
                },
            ) => inode == now_inode && modified_ns != now_modified_ns && now_bytes <= bytes,
            _ => false,
        }
    }

    /// Whether every change from now on gives another stamp: the last change is long enough ago.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        match self {
            Self::Object { .. } => true,
            Self::Local {
                modified_ns,
                changed_ns,
                ..
            } => {
                let now_ns = clock::now_ms().checked_mul(1_000_000);
                let until_ns = modified_ns.max(changed_ns).checked_add(SETTLED_NS);
                now_ns
                    .zip(until_ns)
                    .is_some_and(|(now_ns, until_ns)| until_ns <= now_ns)
            }
        }
    }
}

/// A file that was opened.
pub(crate) struct OpenedFile {
    /// Its raw bytes.
    pub(crate) bytes: Box<dyn Read + Send>,
    /// The stamp of these bytes; `None` where a later change of them may leave it as it is.
    pub(crate) stamp: Option<FileStamp>,
}

#[cfg(unix)]
fn local(meta: &Metadata) -> Option<FileStamp> {
    use std::os::unix::fs::MetadataExt;
    let instant = |seconds: i64, ns: i64| seconds.checked_mul(SECOND_NS)?.checked_add(ns);
    Some(FileStamp::Local {
        inode: meta.ino(),
        bytes: meta.size(),
        modified_ns: instant(meta.mtime(), meta.mtime_nsec())?,
        changed_ns: instant(meta.ctime(), meta.ctime_nsec())?,
    })
}

#[cfg(not(unix))]
fn local(_: &Metadata) -> Option<FileStamp> {
    None
}
