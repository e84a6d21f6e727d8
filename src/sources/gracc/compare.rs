//! The flat fields of a document against the XML it keeps of the same record.

use serde_json::Value;

use super::usage_xml;
use crate::sources::cross_check::{CrossCheck, CrossCheckValue};

/// Fields the index adds to a record, which its XML cannot have.
const DERIVED: [&str; 8] = [
    "type",
    "RawXML",
    "message",
    "checksum",
    "CoreHours",
    "PayloadSiteName",
    "Corrected",
    "Quarantine",
];

/// Compares one document, if it is one of job usage and holds both forms.
///
/// The collector stores 0 for a wall or CPU time that is not in the XML; that is not a difference.
pub(super) fn document(line: &[u8], check: &mut CrossCheck) {
    let Ok(Value::Object(mut envelope)) = serde_json::from_slice(line) else {
        return;
    };
    let source = match envelope.remove("_source") {
        Some(Value::Object(source)) => source,
        _ => envelope,
    };
    let is_usage = matches!(
        source.get("type").and_then(Value::as_str),
        None | Some("JobUsageRecord" | "UsageRecord")
    );
    if !is_usage {
        return;
    }
    let Some(xml) = source.get("RawXML").and_then(Value::as_str) else {
        check.without_xml_n += 1;
        return;
    };
    let record = source.get("RecordId").and_then(Value::as_str).unwrap_or("a record");
    let xml = match usage_xml::read(xml.as_bytes()) {
        Ok(xml) => xml,
        Err(bad) => {
            check.unreadable_n += 1;
            check
                .unreadable_example
                .get_or_insert_with(|| format!("{record}: {}", bad.detail));
            return;
        }
    };
    check.document_n += 1;
    let mut agrees = true;
    for (key, value) in &source {
        if key.starts_with('@') || DERIVED.contains(&key.as_str()) {
            continue;
        }
        let number;
        let flat = match value {
            Value::Null => continue,
            Value::String(text) => CrossCheckValue { text, is_number: false },
            other => {
                number = other.to_string();
                CrossCheckValue {
                    text: &number,
                    is_number: other.is_number(),
                }
            }
        };
        let stated = xml.get(key).map(stated);
        let is_stand_in =
            stated.is_none() && flat.text == "0" && matches!(key.as_str(), "WallDuration" | "CpuDuration");
        agrees &= check.compare(record, key, Some(flat), if is_stand_in { Some(flat) } else { stated });
    }
    for (key, value) in xml.iter() {
        if !DERIVED.contains(&key) && source.get(key).is_none_or(Value::is_null) {
            agrees &= check.compare(record, key, None, Some(stated(value)));
        }
    }
    check.agreeing_n += u64::from(agrees);
}

fn stated(value: &super::flat::FlatValue) -> CrossCheckValue<'_> {
    CrossCheckValue {
        text: value.as_str(),
        is_number: matches!(value, super::flat::FlatValue::Number(_)),
    }
}
