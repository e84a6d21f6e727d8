//! Listings that Slurm's tools render as JSON or YAML: both have the same content.

use memchr::memmem;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::yaml;
use crate::ledger::Reason;
use crate::numbers::count_u64;
use crate::reference::inventory::absent::is_absent;
use crate::sources::{Position, Sink};

/// Whether the first bytes are of a listing with these keys.
pub(super) fn has_keys(text: &[u8], keys: &[&str]) -> bool {
    let has = |word: String| memmem::find(text, word.as_bytes()).is_some();
    match text.first() {
        Some(b'{') => keys.iter().all(|key| has(format!("\"{key}\""))),
        _ => is_yaml(text) && keys.iter().all(|key| has(format!("{key}:"))),
    }
}

/// Whether the first bytes are YAML as Slurm begins it.
pub(super) fn is_yaml(text: &[u8]) -> bool {
    ["%YAML", "---"].iter().any(|start| text.starts_with(start.as_bytes()))
}

/// The document, or a refusal of the whole file.
pub(super) fn read<D: DeserializeOwned>(bytes: &[u8], what: &str, sink: &mut dyn Sink) -> Option<D> {
    let bytes = crate::byte_order_mark::without_mark(bytes);
    let (why, line) = if is_yaml(bytes.trim_ascii_start()) {
        let read =
            yaml::read(bytes).and_then(|value| serde_json::from_value(value).map_err(|why| (why.to_string(), 1)));
        match read {
            Ok(document) => return Some(document),
            Err(reported) => reported,
        }
    } else {
        match serde_json::from_slice(bytes) {
            Ok(document) => return Some(document),
            Err(why) => (why.to_string(), count_u64(why.line())),
        }
    };
    sink.rows_read(1);
    let at = Position { line, byte_offset: 0 };
    let detail = format!("not a listing of {what}: {why}");
    sink.reject(Reason::BadJson, at, 1, &detail, bytes.get(..4096).unwrap_or(bytes));
    None
}

/// A non-empty text.
pub(super) fn word(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !is_absent(text))
}

/// A number, plain or as `{"set": true, "infinite": false, "number": 1}`.
pub(super) fn number(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return (!matches!(number, 4_294_967_294 | 4_294_967_295)).then_some(number);
    }
    let is = |key: &str| value.get(key).and_then(Value::as_bool);
    (is("set") == Some(true) && is("infinite") != Some(true))
        .then(|| value.get("number")?.as_i64())
        .flatten()
}

/// The place of the element of a list.
pub(super) fn element(nth: usize) -> Position {
    Position {
        line: count_u64(nth + 1),
        byte_offset: 0,
    }
}

/// When the daemon last changed what is listed, Unix milliseconds.
pub(super) fn as_of_ms(last_update: &Value) -> Option<i64> {
    number(last_update)
        .filter(|seconds| *seconds > 0)
        .and_then(|seconds| seconds.checked_mul(1000))
}

/// The cluster that answered.
pub(super) fn cluster(meta: &Value) -> Option<&str> {
    meta.pointer("/slurm/cluster").and_then(word)
}
