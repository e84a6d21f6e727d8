//! Facts from the first bytes of records, other than their dialect.

use memchr::memmem;

use crate::byte_order_mark::without_mark;
use crate::sources::diagnosis::quoted_after;
use crate::sources::hints::Hints;

/// What the head of a file states.
pub(super) fn hints(head: &[u8]) -> Hints {
    Hints {
        version: quoted_after(head, "\"_index\"")
            .map(|index| format!("index {index}"))
            .or_else(|| gratia_version(head)),
        ..Hints::default()
    }
}

/// What XML records of Gratia come in.
fn gratia_version(head: &[u8]) -> Option<String> {
    let text = without_mark(head).trim_ascii_start();
    let what = if text.starts_with(b"replication|") {
        "Gratia XML, replication bundle"
    } else if memmem::find(text, b"<RecordEnvelope").is_some() {
        "Gratia XML, envelope"
    } else if text.starts_with(b"<") {
        "Gratia XML"
    } else {
        return None;
    };
    Some(what.to_owned())
}
