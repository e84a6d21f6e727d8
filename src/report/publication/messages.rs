//! Messages on disk.

use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};

/// A file of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// Every message at or below a path with its text, sorted. Lines that end with CR, which the server reads, end with LF in it.
/// Skipped are unfinished files, files that the receiver of a spool stores next to a message, and whatever in a folder is not
/// a file, such as a pipe.
///
/// # Errors
/// [`Kind::NoInput`] when there is nothing, [`Kind::Io`] when it cannot be read.
pub fn texts(path: &Path) -> Result<Vec<MessageFile>> {
    let mut found = Vec::new();
    walk(path, &mut found)?;
    Ok(found)
}

fn walk(path: &Path, into: &mut Vec<MessageFile>) -> Result<()> {
    let reported = |why: std::io::Error| {
        let kind = match why.kind() {
            std::io::ErrorKind::NotFound => Kind::NoInput,
            _ => Kind::Io,
        };
        Error::new(kind, format!("{} cannot be read", path.display())).because(why)
    };
    if !std::fs::metadata(path).map_err(reported)?.is_dir() {
        let bytes = std::fs::read(path).map_err(reported)?;
        into.push(MessageFile {
            path: path.to_owned(),
            text: with_line_feeds(String::from_utf8_lossy(&bytes).into_owned()),
        });
        return Ok(());
    }
    let entries = std::fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = entries.map_err(reported)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_unfinished = [".lck", ".tmp"].iter().any(|end| name.ends_with(end)) || name.starts_with('.');
        let is_odd = |meta: std::fs::Metadata| !meta.is_dir() && !meta.is_file();
        if std::fs::metadata(entry.path()).is_ok_and(is_odd) {
            continue;
        }
        if !is_unfinished && !["signer", "empaid", "error", "locked"].contains(&&*name) {
            walk(&entry.path(), into)?;
        }
    }
    Ok(())
}

/// A text whose lines end with LF. JSON and XML have lines of no meaning and stay as they are.
fn with_line_feeds(text: String) -> String {
    if !text.contains('\r') || text.trim_start().starts_with(['{', '<']) {
        return text;
    }
    text.replace("\r\n", "\n").replace('\r', "\n")
}
