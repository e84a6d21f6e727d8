//! Lineage events of runs: `OpenLineage` 2-0-2.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use super::{Scene, job, last_line, stderr};
use crate::signals::{PATIENCE, Stalled, gridtally, signal};
use crate::support::policy::{CHARGE_CORES, CORES};

/// The versions of the facets, by key.
const VERSIONS: [(&str, &str); 12] = [
    ("schema", "1-2-0/SchemaDatasetFacet"),
    ("version", "1-0-1/DatasetVersionDatasetFacet"),
    ("storage", "1-0-1/StorageDatasetFacet"),
    ("outputStatistics", "1-0-2/OutputStatisticsOutputDatasetFacet"),
    ("inputStatistics", "1-0-0/InputStatisticsInputDatasetFacet"),
    ("dataQualityMetrics", "1-0-3/DataQualityMetricsInputDatasetFacet"),
    ("dataQualityAssertions", "1-1-0/DataQualityAssertionsDatasetFacet"),
    ("errorMessage", "1-0-1/ErrorMessageRunFacet"),
    ("jobType", "2-0-4/JobTypeJobFacet"),
    ("processing_engine", "1-1-1/ProcessingEngineRunFacet"),
    ("parent", "1-2-0/ParentRunFacet"),
    ("nominalTime", "1-0-1/NominalTimeRunFacet"),
];

const PARENT: &str = "0190d5b6-0e6f-7c5b-8f5e-1a2b3c4d5e6f";

/// Holds an event against the shape that the schema requires.
fn must_be_an_event(event: &Value) {
    let versions = BTreeMap::from(VERSIONS);
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{event}")).to_owned();
    assert!(["START", "COMPLETE", "FAIL", "ABORT"].contains(&text(&event["eventType"]).as_str()));
    assert_eq!(
        event["schemaURL"],
        "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
    );
    assert!(text(&event["producer"]).starts_with("pkg:cargo/gridtally@"));
    let time = text(&event["eventTime"]);
    assert!(chrono::DateTime::parse_from_rfc3339(&time).is_ok(), "{time}");
    let id = text(&event["run"]["runId"]);
    assert_eq!(
        id.split('-').map(str::len).collect::<Vec<_>>(),
        [8, 4, 4, 4, 12],
        "{id}"
    );
    let mut datasets = vec![&event["run"], &event["job"]];
    for list in ["inputs", "outputs"] {
        for dataset in event[list].as_array().unwrap() {
            assert!(!text(&dataset["namespace"]).is_empty() && !text(&dataset["name"]).is_empty());
            datasets.push(dataset);
        }
    }
    for holder in datasets {
        for facets in ["facets", "inputFacets", "outputFacets"] {
            let Some(facets) = holder.get(facets) else { continue };
            for (key, facet) in facets.as_object().unwrap() {
                assert_eq!(facet["_producer"], event["producer"], "{key}");
                let expected = match versions.get(key.as_str()) {
                    Some(version) => {
                        let name = version.rsplit('/').next().unwrap();
                        format!("https://openlineage.io/spec/facets/{version}.json#/$defs/{name}")
                    }
                    None => panic!("{key}: which version?"),
                };
                assert_eq!(facet["_schemaURL"], expected, "{key}");
            }
        }
    }
}

fn events(text: &str) -> Vec<Value> {
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    events.iter().for_each(must_be_an_event);
    events
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["eventType"].as_str().unwrap())
        .collect()
}

#[test]
fn a_run_appends_its_start_and_its_end_to_a_file() {
    let scene = Scene::new();
    scene.dump("dump2.txt", &[job(2, 31), "broken\n".to_owned()]);
    scene.pipeline("paths = [\"dump*.txt\"]\nmax_rejected = 0.9\n");
    let words = ["run", "oak.toml", "--summary-json", "--openlineage", "events.jsonl"];
    let ran = scene.gridtally(&words);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let summary = last_line(&ran);
    let found = events(&scene.text("events.jsonl"));
    assert_eq!(kinds(&found), ["START", "COMPLETE"]);
    let here = scene.path().canonicalize().unwrap();
    for event in &found {
        assert_eq!(event["run"]["runId"], summary["run_uuid"]);
        assert_eq!(event["job"]["namespace"], "gridtally");
        assert_eq!(event["job"]["name"], "oak");
        assert_eq!(event["job"]["facets"]["jobType"]["processingType"], "BATCH");
        assert_eq!(
            event["run"]["facets"]["processing_engine"]["version"],
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(event["inputs"].as_array().unwrap().len(), 1);
        assert_eq!(event["inputs"][0]["namespace"], "file");
        assert!(event["inputs"][0]["name"].as_str().unwrap().ends_with("/dump*.txt"));
    }
    let end = &found[1];
    let read = &end["inputs"][0]["inputFacets"];
    assert_eq!(read["inputStatistics"]["rowCount"], 3);
    assert_eq!(read["inputStatistics"]["fileCount"], 2);
    assert_eq!(read["dataQualityMetrics"]["columnMetrics"], json!({}));
    assert_eq!(read["dataQualityMetrics"]["lastUpdated"], "2026-10-31T00:00:00Z");
    let refused = &read["dataQualityAssertions"]["assertions"][0];
    assert_eq!(refused["assertion"], "rejected_rows");
    assert_eq!(
        (refused["success"].clone(), refused["actual"].clone()),
        (json!(false), json!("1"))
    );
    let records: Vec<&Value> = end["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|dataset| dataset["name"].as_str().unwrap().ends_with("/records"))
        .collect();
    assert_eq!(records.len(), 1, "one dataset for each dataset, not for each file");
    let records = records[0];
    assert_eq!(records["name"], here.join("lake/records").display().to_string());
    assert_eq!(records["outputFacets"]["outputStatistics"]["rowCount"], 2);
    assert_eq!(records["outputFacets"]["outputStatistics"]["fileCount"], 1);
    assert_eq!(records["facets"]["storage"]["fileFormat"], "parquet");
    let fields = records["facets"]["schema"]["fields"].as_array().unwrap();
    assert_eq!(fields[0]["name"], "site");
    assert_eq!(fields[0]["ordinal_position"], 1);
    assert!(
        fields
            .iter()
            .all(|field| field["type"].is_string() && field["description"].is_string())
    );
    let version = records["facets"]["version"]["datasetVersion"].as_str().unwrap();
    assert_eq!(version.len(), 64);
    // A run that changes nothing has the same datasets, of which it wrote nothing.
    assert!(scene.gridtally(&words).status.success());
    let found = events(&scene.text("events.jsonl"));
    assert_eq!(kinds(&found), ["START", "COMPLETE", "START", "COMPLETE"]);
    let again = &found[3];
    assert_ne!(again["run"]["runId"], end["run"]["runId"]);
    assert_eq!(
        again["outputs"].as_array().unwrap().len(),
        end["outputs"].as_array().unwrap().len()
    );
    for output in again["outputs"].as_array().unwrap() {
        assert_eq!(output["outputFacets"]["outputStatistics"]["fileCount"], 0);
        assert_eq!(output["facets"]["version"]["datasetVersion"], version);
    }
}

#[test]
fn a_dataset_is_named_by_its_folder() {
    let scene = Scene::new();
    fs::write(scene.path().join("cores.toml"), CORES).unwrap();
    scene.pipeline(&format!("paths = [\"dump*.txt\"]\n{CHARGE_CORES}"));
    let ran = scene.gridtally(&["run", "oak.toml", "--openlineage", "events.jsonl"]);
    assert!(ran.status.success());
    let found = events(&scene.text("events.jsonl"));
    let outputs = found[1]["outputs"].as_array().unwrap();
    let names: Vec<&str> = outputs.iter().map(|output| output["name"].as_str().unwrap()).collect();
    assert!(names.iter().any(|name| name.ends_with("/policies")), "{names:?}");
    assert!(names.iter().all(|name| Path::new(name).is_dir()), "{names:?}");
}

#[test]
fn a_run_that_fails_has_the_reason_in_its_last_event() {
    let scene = Scene::new();
    scene.dump("dump2.txt", &["broken\n".to_owned()]);
    let words = [
        "run",
        "oak.toml",
        "--openlineage",
        "events.jsonl",
        "--from",
        "2026-10",
        "--to",
        "2026-11",
    ];
    assert_eq!(scene.gridtally(&words).status.code(), Some(65));
    let missing = scene.gridtally(&["run", "nothing.toml", "--openlineage", "events.jsonl"]);
    assert!(!missing.status.success());
    let found = events(&scene.text("events.jsonl"));
    assert_eq!(kinds(&found), ["START", "FAIL", "START", "FAIL"]);
    assert!(found[0]["run"]["facets"]["errorMessage"].is_null());
    let why = &found[1]["run"]["facets"]["errorMessage"];
    assert!(
        why["message"].as_str().unwrap().contains("nothing was published"),
        "{why}"
    );
    assert_eq!(why["programmingLanguage"], "Rust");
    assert_eq!(found[1]["outputs"], json!([]));
    let time = &found[1]["run"]["facets"]["nominalTime"];
    assert_eq!(time["nominalStartTime"], "2026-10-01T00:00:00Z");
    assert_eq!(time["nominalEndTime"], "2026-12-01T00:00:00Z");
    assert_eq!(found[3]["job"]["name"], "nothing.toml");
}

/// A request: its first line, its key and its body.
struct Request {
    line: String,
    key: Option<String>,
    body: String,
}

/// A server that takes every event.
fn server() -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (send, requests) = channel();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            let (mut line, mut key, mut length) = (String::new(), None, 0);
            reader.read_line(&mut line).unwrap();
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).unwrap();
                let header = header.trim().to_owned();
                let Some((name, value)) = header.split_once(": ") else {
                    break;
                };
                match name.to_ascii_lowercase().as_str() {
                    "authorization" => key = Some(value.to_owned()),
                    "content-length" => length = value.parse().unwrap(),
                    _ => (),
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body = String::from_utf8(body).unwrap();
            drop(connection.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
            if send.send(Request { line, key, body }).is_err() {
                return;
            }
        }
    });
    (url, requests)
}

#[cfg(feature = "cloud")]
#[test]
fn a_server_gets_the_events_with_the_run_that_started_this_one() {
    let scene = Scene::new();
    let (url, requests) = server();
    let mut command = scene.command(&["run", "oak.toml"]);
    command
        .env("OPENLINEAGE_URL", format!("{url}/"))
        .env("OPENLINEAGE_API_KEY", "secret");
    command.env("OPENLINEAGE_PARENT_ID", format!("airflow/prod/nightly.run/{PARENT}"));
    command.env("OPENLINEAGE_NAMESPACE", "oak-site");
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", stderr(&ran));
    let requests: Vec<Request> = requests.try_iter().collect();
    let bodies: Vec<&str> = requests.iter().map(|request| request.body.as_str()).collect();
    let found = events(&bodies.join("\n"));
    assert_eq!(kinds(&found), ["START", "COMPLETE"]);
    for request in &requests {
        assert_eq!(request.line, "POST /api/v1/lineage HTTP/1.1\r\n");
        assert_eq!(request.key.as_deref(), Some("Bearer secret"));
    }
    for event in &found {
        assert_eq!(event["job"]["namespace"], "oak-site");
        let parent = &event["run"]["facets"]["parent"];
        assert_eq!(parent["run"]["runId"], PARENT);
        assert_eq!(
            parent["job"],
            json!({ "namespace": "airflow/prod", "name": "nightly.run" })
        );
        assert_eq!(parent["root"]["run"]["runId"], PARENT);
    }
}

#[cfg(feature = "cloud")]
#[test]
fn a_server_that_does_not_answer_is_a_warning_and_is_tried_once() {
    let scene = Scene::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut command = scene.command(&["run", "oak.toml", "--summary-json", "--openlineage", &url]);
    let ran = command.env("OPENLINEAGE__TRANSPORT__TIMEOUT", "0.3").output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let warned = stderr(&ran).matches("a lineage event could not be sent").count();
    assert_eq!(warned, 1, "{}", stderr(&ran));
    assert!(listener.accept().is_ok());
    assert!(listener.accept().is_err(), "it is tried once");
    let summary = last_line(&ran);
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("a lineage event could not be sent"), "{summary}");
}

#[cfg(feature = "cloud")]
#[test]
fn a_run_that_a_signal_ends_was_aborted() {
    let stalled = Stalled::start();
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("stalled.toml"), stalled.pipeline()).unwrap();
    let words = [
        "run",
        "stalled.toml",
        "--summary-json",
        "--openlineage",
        "events.jsonl",
        "--textfile",
        "g.prom",
    ];
    let run = gridtally(&words, here.path()).spawn().unwrap();
    let _kept_open = stalled.asked.recv_timeout(PATIENCE).unwrap();
    signal(&run, "TERM");
    let ended = run.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(143), "{}", stderr(&ended));
    let found = events(&fs::read_to_string(here.path().join("events.jsonl")).unwrap());
    assert_eq!(kinds(&found), ["START", "ABORT"]);
    let why = found[1]["run"]["facets"]["errorMessage"]["message"].as_str().unwrap();
    assert!(why.starts_with("ended by SIGTERM: "), "{why}");
    let summary = last_line(&ended);
    assert_eq!(summary["exit_code"], 143);
    assert_eq!(summary["run_uuid"], found[1]["run"]["runId"]);
    let metrics = fs::read_to_string(here.path().join("g.prom")).unwrap();
    assert!(metrics.contains("\ngridtally_run_last_exit_code 143\n"), "{metrics}");
}
