//! Whether and where lineage events go: an option of the command, or the variables that other tools of `OpenLineage` read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::parent::{LineageName, LineageParent};
use super::sink::LineageSink;
use super::yaml_settings;

/// Longest time a server has to take an event, where nothing else is set.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The longest time that may be set: a run waits for its events.
const MOST_TIMEOUT_S: f64 = 60.0;

/// The path of events on a server.
const ENDPOINT: &str = "api/v1/lineage";

/// Namespace of jobs where nothing else is set.
const NAMESPACE: &str = "gridtally";

/// The prefix of variables that stand for keys of the configuration.
const TRANSPORT: &str = "OPENLINEAGE__TRANSPORT__";

/// Variables of the environment, by name.
pub type Variables = BTreeMap<String, String>;

/// Where events go, and what they state of the outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineageSettings {
    /// Where they go.
    pub sink: LineageSink,
    /// Namespace of the job.
    pub namespace: String,
    /// What started the run.
    pub parent: Option<LineageParent>,
}

/// What was read, and what of it is not as it should be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineageChoice {
    /// The settings; `None` where no events are wanted.
    pub settings: Option<LineageSettings>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
}

impl LineageSettings {
    /// Reads the variables; `place`, a file or the URL of a server, is used in place of what they name. The first of these
    /// decides: the option, `OPENLINEAGE__TRANSPORT__*`, the file `OPENLINEAGE_CONFIG`, `OPENLINEAGE_URL`.
    #[must_use]
    pub fn read(place: Option<&str>, variables: &Variables) -> LineageChoice {
        let mut choice = LineageChoice::default();
        let stated = |name: &str| variables.get(name).map(String::as_str).filter(|text| !text.is_empty());
        let is_disabled = stated("OPENLINEAGE_DISABLED")
            .is_some_and(|text| ["true", "1"].contains(&text.to_ascii_lowercase().as_str()));
        if is_disabled && place.is_none() {
            return choice;
        }
        let keys = transport_keys(variables, &mut choice.warnings);
        let sink = match place {
            Some(place) if is_web(place) => Some(http(place, &keys, variables, &mut choice.warnings)),
            Some(place) => Some(LineageSink::File(PathBuf::from(place))),
            None => of_keys(&keys, variables, &mut choice.warnings),
        };
        choice.settings = sink.map(|sink| LineageSettings {
            sink,
            namespace: stated("OPENLINEAGE_NAMESPACE").unwrap_or(NAMESPACE).to_owned(),
            parent: parent(variables, &mut choice.warnings),
        });
        choice
    }
}

/// The keys of the transport, lower case, with dots: of the file, then of the variables.
fn transport_keys(variables: &Variables, warnings: &mut Vec<String>) -> Variables {
    let mut keys = Variables::new();
    if let Some(file) = variables.get("OPENLINEAGE_CONFIG").filter(|file| !file.is_empty()) {
        match yaml_settings::transport(file) {
            Ok(found) => keys = found,
            Err(why) => warnings.push(format!("OPENLINEAGE_CONFIG is not used: {why}")),
        }
    }
    for (name, value) in variables {
        let Some(key) = name.strip_prefix(TRANSPORT) else {
            continue;
        };
        let key = key.to_ascii_lowercase().replace("__", ".");
        if key == "auth" {
            // One object in place of its keys.
            match serde_json::from_str::<Value>(value) {
                Ok(object) => yaml_settings::flatten("auth", &object, &mut keys),
                Err(why) => warnings.push(format!("{name} is not used, it is not JSON: {why}")),
            }
        } else {
            keys.insert(key, value.clone());
        }
    }
    keys
}

/// What the keys of a transport name; without one the server of `OPENLINEAGE_URL`.
fn of_keys(keys: &Variables, variables: &Variables, warnings: &mut Vec<String>) -> Option<LineageSink> {
    let url = |name: &str, from: &Variables| from.get(name).filter(|url| !url.is_empty()).cloned();
    let legacy = || url("OPENLINEAGE_URL", variables);
    let mut missing = |what: &str| {
        warnings.push(format!("no lineage events are sent: the transport has no {what}"));
        None
    };
    match keys.get("type").map(String::as_str) {
        None if keys.is_empty() => legacy().map(|url| http(&url, keys, variables, warnings)),
        None => missing("type"),
        Some("http") => match url("url", keys).or_else(legacy) {
            Some(url) => Some(http(&url, keys, variables, warnings)),
            None => missing("url"),
        },
        Some("file") => match keys.get("log_file_path") {
            Some(path) => Some(LineageSink::File(PathBuf::from(path))),
            None => missing("log_file_path"),
        },
        Some("console") => Some(LineageSink::Log),
        Some("noop") => None,
        Some(other) => {
            warnings.push(format!(
                "no lineage events are sent: the transport {other:?} is unknown here (http, file, console and noop are known)"
            ));
            None
        }
    }
}

fn is_web(place: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| place.starts_with(scheme))
}

/// A server: its URL with the path of events, its key and how long it may take.
fn http(url: &str, keys: &Variables, variables: &Variables, warnings: &mut Vec<String>) -> LineageSink {
    let of_variables = |name: &str| variables.get(name).filter(|text| !text.is_empty());
    let endpoint = keys.get("endpoint").or_else(|| of_variables("OPENLINEAGE_ENDPOINT"));
    let endpoint = endpoint.map_or(ENDPOINT, String::as_str).trim_start_matches('/');
    let names = ["auth.api_key", "auth.apikey"];
    let key = names
        .iter()
        .find_map(|name| keys.get(*name))
        .or_else(|| of_variables("OPENLINEAGE_API_KEY"));
    let timeout = match keys.get("timeout").map(|text| (text, text.parse::<f64>())) {
        None => TIMEOUT,
        Some((_, Ok(seconds))) if seconds > 0.0 => Duration::from_secs_f64(seconds.min(MOST_TIMEOUT_S)),
        Some((text, _)) => {
            warnings.push(format!(
                "the timeout {text:?} of lineage events is not a number of seconds; 5 are used"
            ));
            TIMEOUT
        }
    };
    LineageSink::Http {
        url: format!("{}/{endpoint}", url.trim_end_matches('/')),
        api_key: key.cloned(),
        timeout,
    }
}

/// The run that started this one: of `OPENLINEAGE_CONTEXT`, else of `OPENLINEAGE_PARENT_ID` and `OPENLINEAGE_ROOT_PARENT_ID`.
fn parent(variables: &Variables, warnings: &mut Vec<String>) -> Option<LineageParent> {
    let stated = |name: &str| variables.get(name).filter(|text| !text.is_empty());
    if let Some(text) = stated("OPENLINEAGE_CONTEXT") {
        // Fallback: what is not JSON has no parent, which is a warning below.
        let context: Option<Value> = serde_json::from_str(text).ok();
        let object = context.as_ref().and_then(|context| context.get("parent"));
        if let (Some(object), Some(parent)) = (object, object.and_then(LineageName::of_json)) {
            let root = object.get("root").and_then(LineageName::of_json);
            let root = root.unwrap_or_else(|| parent.clone());
            return Some(LineageParent { parent, root });
        }
        warnings.push("OPENLINEAGE_CONTEXT is not used: it has no \"parent\" with run and job".to_owned());
    }
    let mut named = |name: &str| {
        let text = stated(name)?;
        let found = LineageName::parse(text);
        if found.is_none() {
            warnings.push(format!(
                "{name} is not used: {text:?} is not NAMESPACE/JOB/RUN_ID with a UUID at its end"
            ));
        }
        found
    };
    let parent = named("OPENLINEAGE_PARENT_ID")?;
    let root = named("OPENLINEAGE_ROOT_PARENT_ID").unwrap_or_else(|| parent.clone());
    Some(LineageParent { parent, root })
}
