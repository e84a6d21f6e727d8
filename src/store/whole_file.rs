//! Files outside of any lake that other programs read: replaced as a whole, or extended by whole lines.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use super::local::at;
use crate::error::Result;

/// Replaces a file: readers see the former one or the new one, never a part. The new one is written in the same folder, under
/// a name that begins with a dot, and may be read by all whom the umask allows.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be written.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<()> {
    // Fallback: a bare name is in the working directory.
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".gridtally-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(<std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(
        0o666,
    ));
    let mut file = builder.tempfile_in(folder).map_err(|e| at(e, path))?;
    file.write_all(bytes).map_err(|e| at(e, path))?;
    file.as_file().sync_all().map_err(|e| at(e, path))?;
    file.persist(path).map_err(|e| at(e.error, path))?;
    Ok(())
}

/// Adds a line to a file, which is made where it is not there. The line and its end are written in one call, so that
/// several processes may extend one file on a local disk.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be written.
pub fn append_line(path: &Path, line: &str) -> Result<()> {
    let mut file: File = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|e| at(e, path))?;
    file.write_all(format!("{line}\n").as_bytes()).map_err(|e| at(e, path))
}

/// The text of a file; `None` where there is none.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be read, or is not UTF-8.
pub fn text_of(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(at(e, path)),
    }
}
