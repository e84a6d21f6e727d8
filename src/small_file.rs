//! Files people write, such as pipeline files and tables: read whole, and only up to a limit. A device named by mistake
//! ends the command then, not the machine.

use crate::numbers::{Extent, Part};

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

const MIB: u64 = 1 << 20;

/// Most bytes of a pipeline file or a policy.
pub(crate) const TEXT_LIMIT_BYTES: u64 = 64 * MIB;
/// Most bytes of a table.
pub(crate) const TABLE_LIMIT_BYTES: u64 = 256 * MIB;

/// All bytes of a file.
///
/// # Errors
/// As reading it; or that it has more than `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.further(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|n| n <= limit) {
        return Ok(bytes);
    }
    let most = match limit {
        MIB.. => format!("{} MiB", limit / MIB),
        _ => format!("{limit} bytes"),
    };
    let why = format!("it is larger than {most}, the most such a file may have");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, why))
}

/// The text of a pipeline file or a policy.
///
/// # Errors
/// As [`read`], and when it is not UTF-8.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path, TEXT_LIMIT_BYTES)?).map_err(|why| {
        let before = why.as_bytes().part(..why.utf8_error().valid_up_to());
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let message = format!("line {line} is not in UTF-8: {why}");
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}
