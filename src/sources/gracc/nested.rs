//! The layout of May 2016, when values were lists and objects (`"EndTime":["..."]`, `"WallDuration":{"seconds":523}`)
//! and the number of processors was in the XML alone.

use serde_json::Value;

use super::flat::Flat;
use super::usage::{self, GraccScratch};
use super::usage_xml;
use crate::sources::refusal::Refusal;
use crate::sources::{Position, Sink};

/// Gives a document of that layout its outcome; false for another layout.
pub(super) fn take(line: &[u8], at: Position, scratch: &mut GraccScratch, sink: &mut dyn Sink) -> bool {
    match read(line) {
        Some(Ok(flat)) => usage::take(line, &flat.document(), at, scratch, sink),
        Some(Err(bad)) => sink.reject(bad.reason, at, 1, &bad.detail, line),
        None => return false,
    }
    true
}

/// The XML of the document where it has one, which is the whole record; else its fields made flat.
fn read(line: &[u8]) -> Option<Result<Flat, Refusal>> {
    // Fallback: a line that is no document is refused with its reason by the reader of lines.
    let Value::Object(mut envelope) = serde_json::from_slice(line).ok()? else {
        return None;
    };
    let source = match envelope.remove("_source") {
        Some(Value::Object(source)) => source,
        _ => std::mem::take(&mut envelope),
    };
    let is_nested = [
        "EndTime",
        "StartTime",
        "WallDuration",
        "CpuDuration",
        "LocalJobId",
        "Status",
    ]
    .iter()
    .any(|key| matches!(source.get(*key), Some(Value::Array(_) | Value::Object(_))));
    if !is_nested {
        return None;
    }
    let xml = ["RawXML", "message"].iter().find_map(|key| {
        let text = scalar(source.get(*key)?)?;
        text.contains("UsageRecord").then_some(text)
    });
    let mut flat = match xml.map(|xml| usage_xml::read(without_wrapping(&xml).as_bytes())) {
        Some(Ok(flat)) => flat,
        Some(Err(bad)) => return Some(Err(bad)),
        None => flatten(&source),
    };
    for (key, value) in envelope
        .iter()
        .chain(source.iter().filter(|(key, _)| key.starts_with('@')))
    {
        if let Some(text) = scalar(value) {
            flat.text(key, &text);
        }
    }
    Some(Ok(flat))
}

/// A record without the text that may precede and follow it in a message.
fn without_wrapping(text: &str) -> &str {
    let start = ["<JobUsageRecord", "<UsageRecord"]
        .iter()
        .find_map(|tag| text.find(tag));
    let end = text.rfind('>').map(|end| end + 1);
    start
        .zip(end)
        .and_then(|(start, end)| text.get(start..end))
        .unwrap_or(text)
}

fn flatten(source: &serde_json::Map<String, Value>) -> Flat {
    let mut flat = Flat::default();
    for (key, value) in source {
        let name = match key.as_str() {
            "CpuDurationUser" => "CpuDuration_user",
            "CpuDurationSystem" => "CpuDuration_system",
            other => other,
        };
        match value {
            Value::Object(parts) if key == "Resource" => {
                for (part, value) in parts {
                    let Some(text) = scalar(value) else { continue };
                    match part.as_str() {
                        "ResourceType" => flat.text("ResourceType", &text),
                        part => flat.text(&format!("Resource_{}", part.replacen("condor_", "condor-", 1)), &text),
                    }
                }
            }
            Value::Object(parts) => {
                for (part, value) in parts {
                    let Some(text) = scalar(value) else { continue };
                    match part.as_str() {
                        "seconds" => flat.number(name, text),
                        "value" => flat.text(name, &text),
                        "iso8601" => {}
                        part => flat.text(&format!("{name}_{part}"), &text),
                    }
                }
            }
            _ => {
                if let Some(text) = scalar(value) {
                    flat.text(name, &text);
                }
            }
        }
    }
    flat
}

/// A text or number, also as the only element of a list.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Array(list) => match list.as_slice() {
            [only] => scalar(only),
            _ => None,
        },
        Value::Object(_) | Value::Null => None,
    }
}
