//! YAML as Slurm's tools write it (`%YAML 1.1`, every value tagged with its type), as the JSON they write instead.

use crate::numbers::count_u64;
use granit_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Value};

/// Lists and maps in one another; Slurm's go eight deep.
const DEPTH_LIMIT: usize = 64;
/// Largest document, bytes: ten thousand nodes. It is held as a whole, and takes several times as much.
const SIZE_LIMIT: usize = 32 << 20;

/// A list or map that is not closed yet.
enum YamlOpen {
    List(Vec<Value>),
    /// With the key whose value comes next.
    Map(Map<String, Value>, Option<String>),
}

/// The one document of a file; else the reason why it is invalid, and the line.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, (String, u64)> {
    if bytes.len() > SIZE_LIMIT {
        let why = format!("YAML of more than {SIZE_LIMIT} bytes: --json has the same content and may be larger");
        return Err((why, 1));
    }
    let text = std::str::from_utf8(bytes).map_err(|why| (why.to_string(), 1))?;
    let mut open: Vec<YamlOpen> = Vec::new();
    let mut document = None;
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|why| (why.to_string(), line(why.marker().line())))?;
        let at = line(span.start.line());
        let value = match event {
            Event::Scalar(text, style, _, tag) => scalar(&text, style, tag.as_deref()).map_err(|why| (why, at))?,
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == DEPTH_LIMIT => {
                return Err((format!("lists and maps nested more than {DEPTH_LIMIT} deep"), at));
            }
            Event::SequenceStart(..) => {
                open.push(YamlOpen::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(YamlOpen::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(YamlOpen::List(items)) => Value::Array(items),
                Some(YamlOpen::Map(members, _)) => Value::Object(members),
                None => continue,
            },
            // A small file could mean a large one.
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                return Err(("an alias, which Slurm never writes".to_owned(), at));
            }
            _ => continue,
        };
        match open.last_mut() {
            Some(YamlOpen::List(items)) => items.push(value),
            Some(YamlOpen::Map(members, key)) => match (key.take(), value) {
                (Some(key), value) => {
                    members.insert(key, value);
                }
                (None, Value::String(text)) if !members.contains_key(&text) => *key = Some(text),
                (None, other) => return Err((format!("{other} is not a key, or occurs twice"), at)),
            },
            None if document.is_none() => document = Some(value),
            None => return Err(("a second document".to_owned(), at)),
        }
    }
    document.ok_or_else(|| ("no document".to_owned(), 1))
}

fn line(n: usize) -> u64 {
    count_u64(n)
}

/// A value by its tag; without one by how it is written.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let is = |suffix: &str| tag.is_some_and(|tag| tag.is_yaml_core_schema_tag(suffix));
    if is("str") || tag.is_none() && style != ScalarStyle::Plain {
        return Ok(Value::String(text.to_owned()));
    }
    let plain = match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => serde_json::from_str::<serde_json::Number>(text).map_or(Value::String(text.to_owned()), Value::Number),
    };
    let is_of_tag = match &plain {
        Value::Null => is("null"),
        Value::Bool(_) => is("bool"),
        Value::Number(number) => is("float") || is("int") && !number.is_f64(),
        _ => false,
    };
    if tag.is_none() || is_of_tag {
        Ok(plain)
    } else {
        Err(format!("{text:?} is not of its type"))
    }
}
