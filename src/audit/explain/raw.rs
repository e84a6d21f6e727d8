//! The row of an input file behind a record.

use std::io::Read;
use std::path::Path;

use crate::error::Result;
use crate::sources::compression::decompress;
use crate::sources::input::InputFile;
use crate::sources::raw_rows::{RawExtent, RawWanted, excerpts};
use crate::sources::registry::recognise;

/// Longest excerpt that is shown, in characters.
const SHOWN: usize = 4_000;

/// The row at a place of an input: its header and itself; or why it cannot be shown.
///
/// # Errors
/// [`crate::error::Kind::Io`] when reading fails.
pub(crate) fn row(
    folder: &Path,
    path: &str,
    blake3: &str,
    byte_offset: u64,
) -> Result<std::result::Result<[String; 2], String>> {
    let place = folder.join(path);
    if !place.is_file() {
        return Ok(Err(format!("{path} is not under {} (set --inputs)", folder.display())));
    }
    let file = InputFile::local(&place, path.to_owned())?;
    if file.content_hash()? != blake3 {
        return Ok(Err(format!("{path} is not the file that was read: its bytes changed")));
    }
    let mut head = Vec::new();
    decompress(file.open()?)?.by_ref().take(4096).read_to_end(&mut head)?;
    let Some(layout) = recognise(&head).and_then(|dialect| dialect.row().raw.as_ref()) else {
        return Ok(Err(format!("{path} is not read row by row")));
    };
    let wanted = RawWanted {
        byte_offset,
        extent: RawExtent::Rows(1),
    };
    let found = excerpts(layout, decompress(file.open()?)?, &[wanted])?;
    let text = |bytes: &[u8]| -> String { String::from_utf8_lossy(bytes).trim_end().chars().take(SHOWN).collect() };
    Ok(match found.into_iter().flatten().next() {
        Some(excerpt) => Ok([text(&excerpt.header), text(&excerpt.body)]),
        None => Err(format!("{path} ends before byte {byte_offset}")),
    })
}
