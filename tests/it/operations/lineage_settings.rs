//! Where lineage events go: variables and files of `OpenLineage`'s tools.

use std::path::PathBuf;
use std::time::Duration;

use gridtally::monitor::lineage::{DatasetName, LineageName, LineageSettings, LineageSink, Variables};

const RUN: &str = "0190d5b6-0e6f-7c5b-8f5e-1a2b3c4d5e6f";
const ROOT: &str = "0190d5b6-0e6f-7c5b-8f5e-000000000000";

fn variables(pairs: &[(&str, &str)]) -> Variables {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn sink(place: Option<&str>, pairs: &[(&str, &str)]) -> Option<LineageSink> {
    let choice = LineageSettings::read(place, &variables(pairs));
    assert_eq!(choice.warnings, Vec::<String>::new());
    choice.settings.map(|settings| settings.sink)
}

fn http(url: &str, api_key: Option<&str>, timeout_ms: u64) -> LineageSink {
    LineageSink::Http {
        url: url.to_owned(),
        api_key: api_key.map(str::to_owned),
        timeout: Duration::from_millis(timeout_ms),
    }
}

#[test]
fn variables_choose_the_server() {
    assert_eq!(sink(None, &[]), None);
    let url = ("OPENLINEAGE_URL", "http://marquez:5000");
    assert_eq!(
        sink(None, &[url]),
        Some(http("http://marquez:5000/api/v1/lineage", None, 5000))
    );
    let pairs = [url, ("OPENLINEAGE_ENDPOINT", "/events"), ("OPENLINEAGE_API_KEY", "k")];
    assert_eq!(
        sink(None, &pairs),
        Some(http("http://marquez:5000/events", Some("k"), 5000))
    );
    for word in ["true", "True", "1"] {
        assert_eq!(sink(None, &[url, ("OPENLINEAGE_DISABLED", word)]), None, "{word}");
    }
    let pairs = [
        url,
        ("OPENLINEAGE__TRANSPORT__TYPE", "http"),
        ("OPENLINEAGE__TRANSPORT__URL", "https://other"),
        ("OPENLINEAGE__TRANSPORT__ENDPOINT", "x"),
        ("OPENLINEAGE__TRANSPORT__TIMEOUT", "0.5"),
        ("OPENLINEAGE__TRANSPORT__AUTH", r#"{"type": "api_key", "apiKey": "j"}"#),
    ];
    assert_eq!(sink(None, &pairs), Some(http("https://other/x", Some("j"), 500)));
    assert_eq!(sink(None, &[url, ("OPENLINEAGE__TRANSPORT__TYPE", "noop")]), None);
    assert_eq!(
        sink(None, &[("OPENLINEAGE__TRANSPORT__TYPE", "console")]),
        Some(LineageSink::Log)
    );
    let file = [
        ("OPENLINEAGE__TRANSPORT__TYPE", "file"),
        ("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", "/e"),
    ];
    assert_eq!(sink(None, &file), Some(LineageSink::File(PathBuf::from("/e"))));
    assert_eq!(
        sink(Some("here"), &pairs),
        Some(LineageSink::File(PathBuf::from("here"))),
        "the option decides"
    );
}

#[test]
fn a_file_of_settings_is_read_and_variables_override_it() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("openlineage.yml");
    let text = "transport:\n  type: http\n  url: http://marquez:5000\n  timeout: 2\n  auth:\n    type: api_key\n    apiKey: a1\n";
    std::fs::write(&path, text).unwrap();
    let config = ("OPENLINEAGE_CONFIG", path.to_str().unwrap());
    assert_eq!(
        sink(None, &[config]),
        Some(http("http://marquez:5000/api/v1/lineage", Some("a1"), 2000))
    );
    let pairs = [config, ("OPENLINEAGE__TRANSPORT__URL", "http://b")];
    assert_eq!(
        sink(None, &pairs),
        Some(http("http://b/api/v1/lineage", Some("a1"), 2000))
    );
}

#[test]
fn what_cannot_be_used_is_a_warning() {
    for (pairs, part) in [
        (&[("OPENLINEAGE__TRANSPORT__TYPE", "kafka")][..], "\"kafka\" is unknown"),
        (&[("OPENLINEAGE__TRANSPORT__TYPE", "http")], "no url"),
        (&[("OPENLINEAGE__TRANSPORT__TYPE", "file")], "no log_file_path"),
        (&[("OPENLINEAGE_CONFIG", "/nowhere.yml")], "/nowhere.yml"),
        (
            &[("OPENLINEAGE_URL", "http://a"), ("OPENLINEAGE_PARENT_ID", "a/b/c")],
            "OPENLINEAGE_PARENT_ID",
        ),
        (
            &[("OPENLINEAGE_URL", "http://a"), ("OPENLINEAGE_CONTEXT", "{}")],
            "OPENLINEAGE_CONTEXT",
        ),
        (
            &[("OPENLINEAGE_URL", "http://a"), ("OPENLINEAGE__TRANSPORT__AUTH", "{")],
            "not JSON",
        ),
    ] {
        let choice = LineageSettings::read(None, &variables(pairs));
        assert!(
            choice.warnings.iter().any(|line| line.contains(part)),
            "{part}: {:?}",
            choice.warnings
        );
    }
}

#[test]
fn the_run_that_started_this_one_is_read_from_either_variable() {
    let parent = |pairs: &[(&str, &str)]| {
        let pairs = [&[("OPENLINEAGE_URL", "http://a")], pairs].concat();
        LineageSettings::read(None, &variables(&pairs)).settings.unwrap().parent
    };
    assert_eq!(parent(&[]), None);
    let name = |namespace: &str, name: &str, run_id: &str| LineageName {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        run_id: run_id.to_owned(),
    };
    let (of_parent, of_root) = (format!("s3://x/a/{RUN}"), format!("n/r/{ROOT}"));
    let found = parent(&[
        ("OPENLINEAGE_PARENT_ID", &of_parent),
        ("OPENLINEAGE_ROOT_PARENT_ID", &of_root),
    ])
    .unwrap();
    assert_eq!(found.parent, name("s3://x", "a", RUN));
    assert_eq!(found.root, name("n", "r", ROOT));
    let context = format!(r#"{{"parent": {{"run": {{"runId": "{RUN}"}}, "job": {{"namespace": "n", "name": "j"}}}}}}"#);
    let found = parent(&[("OPENLINEAGE_CONTEXT", &context), ("OPENLINEAGE_PARENT_ID", &of_root)]).unwrap();
    assert_eq!(found.parent, name("n", "j", RUN));
    assert_eq!(found.root, found.parent, "a parent without a root is its own");
}

#[test]
fn datasets_are_named_by_where_they_are() {
    for (place, namespace, name) in [
        ("/a/b", "file", "/a/b"),
        ("file:///a/b", "file", "/a/b"),
        ("s3://bucket/a/b/", "s3://bucket", "a/b"),
        ("https://host:8080/x/y*.txt", "https://host:8080", "x/y*.txt"),
        ("https://u:secret@host/x", "https://host", "x"),
        (
            "abfss://box@account.dfs.core.windows.net/x",
            "abfss://box@account.dfs.core.windows.net",
            "x",
        ),
    ] {
        let found = DatasetName::of_place(place);
        assert_eq!(
            (found.namespace.as_str(), found.name.as_str()),
            (namespace, name),
            "{place}"
        );
    }
    assert_eq!(DatasetName::of_place("s3://bucket").below("records").name, "records");
}
