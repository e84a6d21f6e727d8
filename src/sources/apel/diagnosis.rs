//! Facts from the first bytes of a message or record, other than its dialect.

use memchr::memmem;

use crate::sources::diagnosis::quoted;
use crate::sources::head::without_mark;
use crate::sources::hints::Hints;

/// What the head of a message states.
pub(super) fn hints(head: &[u8]) -> Hints {
    Hints {
        version: apel_version(head),
        ..Hints::default()
    }
}

/// `v0.3 individual-job`, or the namespace of an XML record.
fn apel_version(head: &[u8]) -> Option<String> {
    let text = without_mark(head).trim_ascii_start();
    let line = text.split(|&byte| byte == b'\n').next()?;
    if let Some(header) = line.strip_prefix(b"APEL-") {
        let header = String::from_utf8_lossy(header);
        let (kind, version) = header.split_once(':')?;
        let kind = kind.trim().trim_end_matches("-message");
        return Some(format!("{} {kind}", version.trim()));
    }
    // The namespace of the records themselves, not that of XML Schema.
    let mut from = text;
    while let Some(at) = memmem::find(from, b"xmlns") {
        from = from.get(at + 5..)?;
        let namespace = quoted(from)?;
        if !namespace.contains("www.w3.org") {
            return Some(format!("XML, {namespace}"));
        }
    }
    None
}
