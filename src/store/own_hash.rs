//! Texts of JSON that end with the hash of all that precedes it: no byte of them changes unnoticed.

use std::fmt::Write;

/// The last member of such a text, up to its value.
const MEMBER: &str = "  \"blake3\": \"";

/// Characters of a BLAKE3, hexadecimal.
const DIGITS: usize = 64;

/// What follows the hash.
const END: &str = "\"\n}\n";

/// Ends a text whose last member is left to write.
pub(super) fn end(mut text: String) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let _infallible = write!(text, "{MEMBER}{hash}{END}");
    text
}

/// The hash a text ends with; `None` where it is not the hash of what precedes it.
pub(super) fn of(text: &[u8]) -> Option<String> {
    let at = text.len().checked_sub(MEMBER.len() + DIGITS + END.len())?;
    let (head, last) = text.split_at_checked(at)?;
    let hash = blake3::hash(head).to_hex().to_string();
    (last == format!("{MEMBER}{hash}{END}").as_bytes()).then_some(hash)
}
