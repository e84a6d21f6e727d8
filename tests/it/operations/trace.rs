//! `TRACEPARENT`: log events, the report and lineage events name the trace they belong to.

use gridtally::runtime::trace_parent::is_valid;
use serde_json::Value;

use super::{Scene, last_line, stderr};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[test]
fn what_is_reported_names_the_trace() {
    let scene = Scene::new();
    let words = [
        "run",
        "oak.toml",
        "--summary-json",
        "--openlineage",
        "events.jsonl",
        "--log-format",
        "json",
    ];
    let ran = scene.command(&words).env("TRACEPARENT", TRACE).output().unwrap();
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(stderr(&ran).lines().count() > 0);
    for line in stderr(&ran).lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["traceparent"], TRACE, "{event}");
    }
    assert_eq!(last_line(&ran)["traceparent"], TRACE);
    for line in scene.text("events.jsonl").lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let facet = &event["run"]["facets"]["environmentVariables"];
        assert_eq!(facet["environmentVariables"][0]["name"], "TRACEPARENT");
        assert_eq!(facet["environmentVariables"][0]["value"], TRACE);
    }
    let failed = scene
        .command(&["run", "nothing.toml"])
        .env("TRACEPARENT", TRACE)
        .output()
        .unwrap();
    assert!(
        stderr(&failed).ends_with(&format!(" traceparent={TRACE}\n")),
        "{}",
        stderr(&failed)
    );
}

#[test]
fn without_a_trace_nothing_is_named() {
    let scene = Scene::new();
    for value in ["", "no", "00-00000000000000000000000000000000-b7ad6b7169203331-01"] {
        let ran = scene
            .command(&["run", "oak.toml", "--summary-json"])
            .env("TRACEPARENT", value)
            .output()
            .unwrap();
        assert!(!stderr(&ran).contains("traceparent"), "{}", stderr(&ran));
        assert!(last_line(&ran).get("traceparent").is_none());
    }
}

#[test]
fn the_form_of_a_trace_is_that_of_the_standard() {
    assert!(is_valid(TRACE));
    assert!(is_valid("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"));
    for wrong in [
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
    ] {
        assert!(!is_valid(wrong), "{wrong}");
    }
}
