//! One month of GRACC in several encodings: in any combination, a record counts once.

use std::collections::BTreeSet;
use std::io::Read;

use serde_json::{Value, json};

use super::scene::{Pipeline, Scene, Source};
use super::tables::{all, int, text};
use crate::support::collect::shared;

/// Two jobs and two pilots that no batch system numbered; every sending of a record has an id of its own.
fn records() -> Vec<Value> {
    let record = |nth: u32, ids: Value, cpu: Value, more: Value| {
        let mut record = json!({
            "type": "JobUsageRecord", "RecordId": format!("ce:1.{nth}"), "SiteName": "FELL", "ProbeName": "p:ce",
            "VOName": "/firn/Role=pilot", "ReportableVOName": "firn", "Processors": 4, "WallDuration": 3600,
            "StartTime": "2020-03-04T10:00:00Z", "EndTime": "2020-03-04T11:00:00Z", "ResourceType": "Batch",
        });
        let object = record.as_object_mut().unwrap();
        for part in [ids, cpu, more] {
            object.extend(part.as_object().unwrap().clone());
        }
        record
    };
    let cpu = |s: u32| json!({"CpuDuration": s, "CpuDuration_user": s});
    vec![
        record(
            1,
            json!({"LocalJobId": "1", "GlobalJobId": "condor.ce#1.0#9"}),
            cpu(7000),
            json!({}),
        ),
        // The same job as its user saw it is another account of the same hours.
        record(
            2,
            json!({"LocalJobId": "1", "GlobalJobId": "condor.ce#1.0#9"}),
            cpu(7000),
            json!({"ResourceType": "Payload"}),
        ),
        record(3, json!({"LocalJobId": "2"}), cpu(0), json!({})),
        record(4, json!({}), cpu(5000), json!({"MachineName": "n1"})),
        record(5, json!({}), cpu(5000), json!({"MachineName": "n2"})),
    ]
}

fn xml(record: &Value) -> String {
    let text = |key: &str| record[key].as_str();
    let element = |key: &str| text(key).map_or_else(String::new, |value| format!("<{key}>{value}</{key}>"));
    let cpu = match record["CpuDuration_user"].as_u64() {
        // Nobody measured it: the collector makes a 0 of that.
        Some(0) | None => String::new(),
        Some(s) => format!("<CpuDuration usageType=\"user\">PT{s}S</CpuDuration>"),
    };
    let kind = if text("ResourceType") == Some("Payload") {
        "BatchPilot"
    } else {
        "Batch"
    };
    format!(
        "<JobUsageRecord><RecordIdentity recordId=\"{}\"/><JobIdentity>{}{}</JobIdentity>\
         <UserIdentity>{}{}</UserIdentity>{}{}{}{}{}{cpu}<WallDuration>PT1H</WallDuration>\
         <Processors>4</Processors><Resource description=\"ResourceType\">{kind}</Resource></JobUsageRecord>\n",
        text("RecordId").unwrap(),
        element("GlobalJobId"),
        element("LocalJobId"),
        element("VOName"),
        element("ReportableVOName"),
        element("MachineName"),
        element("SiteName"),
        element("ProbeName"),
        element("StartTime"),
        element("EndTime"),
    )
}

fn source(paths: &[String]) -> Pipeline {
    Pipeline::of(Source {
        name: "osg",
        paths: paths.to_vec(),
        keys: "format = \"gracc\"\n".to_owned(),
    })
    .with("max_rejected", "0")
}

/// What is accounted in a lake: view, job, probe, and numbers.
fn accounted(scene: &Scene, lake: &str) -> BTreeSet<String> {
    let records = all(&scene.path(lake), "records");
    let rows = (0..records.num_rows()).map(|row| {
        let word = |name| text(&records, name, row).unwrap_or_default();
        let numbers = ["start_utc", "end_utc", "wall_s", "alloc_core_n"].map(|name| int(&records, name, row));
        let (view, probe, id) = (word("view"), word("cluster"), word("job_id"));
        format!("{view} {probe} {} {numbers:?}", id.trim_end_matches(".again"))
    });
    let found: BTreeSet<String> = rows.collect();
    assert_eq!(found.len(), records.num_rows());
    found
}

#[test]
fn a_record_counts_once_whatever_it_is_written_in() {
    let scene = Scene::empty();
    let records = records();
    let hits: Vec<Value> = records
        .iter()
        .enumerate()
        .map(|(nth, record)| json!({"_index": "gracc.osg.raw3-2020.03", "_id": format!("{nth:032x}"), "_source": record}))
        .collect();
    let lines = |documents: &[Value]| documents.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    scene.write("index.ndjson", lines(&hits).as_bytes());
    scene.write(
        "response.json",
        json!({"took": 1, "_shards": {}, "hits": {"hits": hits}})
            .to_string()
            .as_bytes(),
    );
    scene.write("archived.json", lines(&records).as_bytes());
    let envelope: String = records.iter().map(xml).collect();
    scene.write(
        "envelope.xml",
        format!("<RecordEnvelope>\n{envelope}</RecordEnvelope>\n").as_bytes(),
    );
    let bundle: String = records
        .iter()
        .flat_map(|record| ["replication|".to_owned(), xml(record), "|||".to_owned()])
        .collect();
    scene.write("bundle.txt", bundle.as_bytes());
    // A probe that went over its logs again.
    let again: Vec<Value> = records
        .iter()
        .cloned()
        .map(|mut record| {
            record["RecordId"] = format!("{}.again", record["RecordId"].as_str().unwrap()).into();
            record
        })
        .collect();
    scene.write("again.json", lines(&again).as_bytes());
    let files = [
        "index.ndjson",
        "response.json",
        "archived.json",
        "envelope.xml",
        "bundle.txt",
        "again.json",
    ]
    .map(str::to_owned);
    scene.run(&source(&files[..1]), "one");
    let one = accounted(&scene, "one");
    assert_eq!(one.len(), 5, "{one:#?}");
    for (nth, file) in files.iter().enumerate().skip(1) {
        let lake = format!("and-{nth}");
        let report = scene.run(&source(&[files[0].clone(), file.clone()]), &lake);
        assert_eq!(accounted(&scene, &lake), one, "{file}");
        assert_eq!(report.reasons.get("accepted/job"), Some(&5), "{file}");
    }
    let report = scene.run(&source(&files), "all");
    assert_eq!(accounted(&scene, "all"), one);
    let not_counted: u64 = ["duplicate/same_content", "superseded/fuller_record"]
        .iter()
        .filter_map(|reason| report.reasons.get(*reason))
        .sum();
    assert_eq!(not_counted, 25, "{:?}", report.reasons);
}

#[test]
fn real_documents_and_their_own_xml_count_once() {
    let Some(folder) = shared("real_documents_and_their_own_xml_count_once", "data/gracc/es-dump") else {
        return;
    };
    let scene = Scene::empty();
    let (mut dumps, mut envelope, mut document_n) = (Vec::new(), String::new(), 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut lines = String::new();
        flate2::read::MultiGzDecoder::new(std::fs::File::open(&path).unwrap())
            .read_to_string(&mut lines)
            .unwrap();
        for line in lines.lines() {
            let document: Value = serde_json::from_str(line).unwrap();
            envelope += document["_source"]["RawXML"].as_str().unwrap();
            document_n += 1;
        }
        dumps.push(path.to_str().unwrap().to_owned());
    }
    scene.write(
        "envelope.xml",
        format!("<RecordEnvelope>{envelope}</RecordEnvelope>").as_bytes(),
    );
    scene.run(&source(&dumps), "dumps");
    let dumped = accounted(&scene, "dumps");
    // No two documents of the real index share a key.
    assert_eq!(dumped.len(), document_n);
    dumps.push("envelope.xml".to_owned());
    let report = scene.run(&source(&dumps), "both");
    assert_eq!(accounted(&scene, "both"), dumped);
    assert_eq!(report.reasons.get("accepted/job"), Some(&4200), "{:?}", report.reasons);
}
