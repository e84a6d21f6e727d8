//! The configuration file of `OpenLineage`'s tools: its transport.

use std::path::Path;

use serde_json::Value;

use super::settings::Variables;
use crate::small_file;
use crate::sources::inventory::yaml;

/// The keys below `transport` of a file, lower case, with dots.
pub(super) fn transport(file: &str) -> Result<Variables, String> {
    let text = small_file::text(Path::new(file)).map_err(|why| format!("{file}: {why}"))?;
    let document = yaml::read(text.as_bytes()).map_err(|(why, line)| format!("{file}:{line}: {why}"))?;
    let transport = document
        .get("transport")
        .ok_or_else(|| format!("{file}: it has no \"transport\""))?;
    let mut keys = Variables::new();
    flatten("", transport, &mut keys);
    Ok(keys)
}

/// Adds the values of an object by their keys, those of objects in it with dots.
pub(super) fn flatten(prefix: &str, value: &Value, keys: &mut Variables) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.to_ascii_lowercase();
                let key = if prefix.is_empty() {
                    name
                } else {
                    format!("{prefix}.{name}")
                };
                flatten(&key, value, keys);
            }
        }
        Value::Null | Value::Array(_) => (),
        Value::String(text) => {
            keys.insert(prefix.to_owned(), text.clone());
        }
        Value::Bool(_) | Value::Number(_) => {
            keys.insert(prefix.to_owned(), value.to_string());
        }
    }
}
