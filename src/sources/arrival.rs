//! The arrival time of a message, where the name of its file contains one.

/// Unix milliseconds at which a message was put into a dirq spool, from its path.
///
/// A spool names an element `<8 hex>/<14 hex>`, a file of its own or a folder that holds `body`. The 14 digits are 8 of
/// Unix seconds, 5 of microseconds and 1 of chance. `None` when the path has another shape.
#[must_use]
pub fn arrival_ms(path: &str) -> Option<i64> {
    let mut parts = path.rsplit('/');
    let mut element = parts.next()?;
    if element == "body" {
        element = parts.next()?;
    }
    let folder = parts.next()?;
    if !(is_hex(folder, 8) && is_hex(element, 14)) {
        return None;
    }
    let seconds = i64::from_str_radix(element.get(..8)?, 16).ok()?;
    let micros = i64::from_str_radix(element.get(8..13)?, 16).ok()?;
    (micros < 1_000_000).then_some(seconds * 1000 + micros / 1000)
}

/// Whether `text` is `digits` lower-case hexadecimal digits, as dirq writes them.
pub(super) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
