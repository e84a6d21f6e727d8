//! Facts from the first bytes of a message or record, other than its dialect.

use super::car;
use crate::byte_order_mark::without_mark;
use crate::sources::hints::Hints;

/// What the head of a message states.
pub(super) fn hints(head: &[u8]) -> Hints {
    Hints {
        version: apel_version(head),
        ..Hints::default()
    }
}

/// `v0.3 individual-job`, or the namespace of the root of an XML document.
fn apel_version(head: &[u8]) -> Option<String> {
    let text = without_mark(head).trim_ascii_start();
    let line = text.split(|&byte| byte == b'\n').next()?;
    if let Some(header) = line.strip_prefix(b"APEL-") {
        let header = String::from_utf8_lossy(header);
        let (kind, version) = header.split_once(':')?;
        let kind = kind.trim().trim_end_matches("-message");
        return Some(format!("{} {kind}", version.trim()));
    }
    if !text.starts_with(b"<") {
        return None;
    }
    let (namespace, _) = car::root(text)?;
    Some(if namespace.is_empty() {
        "XML without a namespace".to_owned()
    } else {
        format!("XML, {}", String::from_utf8_lossy(&namespace))
    })
}
