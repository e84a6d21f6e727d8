//! GRACC index dumps: exact numbers from tolerant spellings, strict JSON, every line accounted for.

use std::collections::BTreeMap;
use std::io::Read;

use gridtally::ledger::Reason;
use gridtally::record::JobRow;
use gridtally::record::anomaly::Anomaly;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::gracc::{self, GraccLimits};
use gridtally::sources::json::{Scalar, Scanner};
use proptest::prelude::*;

use crate::support::collect::{Collected, input, plan, run, shared};

pub(crate) fn read(text: impl AsRef<[u8]>) -> Collected {
    run(gracc::pieces(
        input(text.as_ref()),
        plan(gracc::DIALECT.format(), Acceptance::StrictApel),
    )
    .unwrap())
}

const HIT: &str = r#"{"_index":"gracc.osg.raw2-2016.06","_type":"JobUsageRecord","_id":"0f3a","_score":1,"_source":{"type":"JobUsageRecord","RawXML":"<JobUsageRecord a=\"b\">\n\t<Processors>99</Processors> \\ \u00e9</JobUsageRecord>","SiteName":"EXAMPLE_CE_1","ProbeName":"condor:ce.example.org","SubmitHost":"ce.example.org","LocalJobId":"42.0","GlobalJobId":"condor.ce.example.org#42.0#1466812327","RecordId":"ce.example.org:1.1","VOName":"/atlas/usatlas/Role=production/Capability=NULL","ReportableVOName":"atlas","ProjectName":"TG-ABC","LocalUserId":"pat","DN":"/DC=org/CN=Pat \"P\" \ud83d\ude00","CommonName":"/CN=Pat","Queue":"5","Grid":"OSG","JobName":"fit","StartTime":"2016-06-24T23:54:52Z","EndTime":"2016-06-25T02:44:07Z","QueueTime":"2016-06-24T23:00:00Z","@received":"2016-06-25T02:59:23.369Z","WallDuration":1.0155e+04,"CpuDuration":10058.43000000000005,"CpuDuration_user":"9926.4","CpuDuration_system":132.03,"Processors":"4","NodeCount":"1","GPUs":2,"Memory":29196.0,"Memory_storageUnit":"KB","Memory_metric":"total","Resource_ExitCode":"1","Resource_ExitSignal":"9","Resource_condor-JobStatus":"4","ResourceType":"Batch","Njobs":"1","Network":0.0,"CoreHours":11.28,"@version":"1"}}"#;

fn expected() -> JobRow<'static> {
    JobRow {
        view: "batch",
        site: Some("EXAMPLE_CE_1"),
        cluster: Some("condor:ce.example.org"),
        submit_host: Some("ce.example.org"),
        job_id: "42.0",
        global_job_id: Some("condor.ce.example.org#42.0#1466812327"),
        identity_key: Some(
            "global|batch|condor:ce.example.org|condor.ce.example.org#42.0#1466812327|1466812492000|1466822647000",
        ),
        vo: Some("atlas"),
        vo_name: Some("/atlas/usatlas/Role=production/Capability=NULL"),
        fqan: Some("/atlas/usatlas/Role=production/Capability=NULL"),
        reportable_vo: Some("atlas"),
        vo_group: Some("/atlas/usatlas"),
        vo_role: Some("Role=production"),
        account: Some("TG-ABC"),
        user: Some("pat"),
        global_user: Some("/DC=org/CN=Pat \"P\" \u{1f600}"),
        partition: Some("5"),
        infrastructure: Some("OSG"),
        job_name: Some("fit"),
        submit_ms: Some(1_466_809_200_000),
        start_ms: Some(1_466_812_492_000),
        end_ms: Some(1_466_822_647_000),
        received_ms: Some(1_466_823_563_369),
        wall_ms: Some(10_155_000),
        cpu_ms: Some(10_058_430),
        cpu_user_ms: Some(9_926_400),
        cpu_system_ms: Some(132_030),
        alloc_core_n: Some(4),
        alloc_node_n: Some(1),
        alloc_gpu_n: Some(2),
        max_rss_byte: Some(29_196 * 1024),
        network_byte: Some(0),
        state: Some("COMPLETED"),
        exit_code: Some(1),
        exit_signal: Some(9),
        ..JobRow::default()
    }
}

#[test]
fn fields_of_a_hit_and_of_a_bare_document() {
    let all = read(HIT);
    assert_eq!(all.jobs[0].row, expected());
    let source: serde_json::Value = serde_json::from_str(HIT).unwrap();
    let bare = read(source["_source"].to_string());
    // serde_json prints the number as the nearest float.
    assert_eq!(bare.jobs[0].row, expected());
}

/// A document of `fields` on top of a small sound one; a `null` takes a field away.
fn document(fields: &str) -> String {
    let mut all: serde_json::Map<String, serde_json::Value> = serde_json::from_str(
        r#"{"type":"JobUsageRecord","SiteName":"S","ProbeName":"p","LocalJobId":"1","StartTime":"2020-01-01T00:00:00Z",
            "EndTime":"2020-01-01T01:00:00Z","WallDuration":3600,"CpuDuration":1800,"Processors":1}"#,
    )
    .unwrap();
    let more: serde_json::Map<String, serde_json::Value> = serde_json::from_str(fields).unwrap();
    for (key, value) in more {
        if value.is_null() {
            all.remove(&key);
        } else {
            all.insert(key, value);
        }
    }
    serde_json::to_string(&all).unwrap()
}

pub(crate) fn one(fields: &str) -> JobRow<'static> {
    let all = read(document(fields));
    assert_eq!(all.rejects, [], "{fields}");
    all.jobs[0].row.clone()
}

fn reject(fields: &str) -> Reason {
    let all = read(document(fields));
    assert_eq!(all.jobs, [], "{fields}");
    all.rejects[0].reason
}

#[test]
fn cores_follow_graccs_own_rule() {
    let cores = |fields| {
        let row = one(fields);
        (row.alloc_core_n, row.anomalies)
    };
    assert_eq!(cores(r#"{"Processors":8}"#), (Some(8), 0));
    assert_eq!(cores(r#"{"Processors":"8.0"}"#), (Some(8), 0));
    assert_eq!(cores(r#"{"Processors":null}"#), (Some(1), Anomaly::CoreAssumed.bit()));
    assert_eq!(cores(r#"{"Processors":0}"#), (None, Anomaly::CoreUnknown.bit()));
    let dropped = Anomaly::CoreUnknown.bit() | Anomaly::ValueDropped.bit();
    assert_eq!(cores(r#"{"Processors":-1}"#), (None, dropped));
    assert_eq!(reject(r#"{"Processors":"many"}"#), Reason::BadNumber);
    assert_eq!(reject(r#"{"Processors":1.5}"#), Reason::BadNumber);
}

#[test]
fn a_missing_time_follows_from_the_other_two() {
    let span = |fields| {
        let row = one(fields);
        ((row.start_ms, row.end_ms, row.wall_ms), row.anomalies)
    };
    let whole = (Some(1_577_836_800_000), Some(1_577_840_400_000), Some(3_600_000));
    let assumed = Anomaly::TimeAssumed.bit();
    assert_eq!(span("{}"), (whole, 0));
    assert_eq!(span(r#"{"EndTime":null}"#), (whole, assumed));
    assert_eq!(span(r#"{"StartTime":null}"#), (whole, assumed));
    assert_eq!(span(r#"{"WallDuration":null}"#), ((whole.0, whole.1, None), assumed));
    for (fields, reason) in [
        (r#"{"StartTime":null,"EndTime":null}"#, Reason::TimeUnknown),
        (r#"{"StartTime":null,"WallDuration":null}"#, Reason::TimeUnknown),
        (r#"{"EndTime":"yesterday"}"#, Reason::BadTime),
        (r#"{"StartTime":1577836800}"#, Reason::BadTime),
        (r#"{"WallDuration":-5}"#, Reason::BadDuration),
        (r#"{"WallDuration":"PT5S"}"#, Reason::BadDuration),
        (r#"{"CpuDuration":1e300}"#, Reason::BadDuration),
    ] {
        assert_eq!(reject(fields), reason, "{fields}");
    }
}

#[test]
fn views_ids_and_memory() {
    for (fields, view) in [
        ("{}", "batch"),
        (r#"{"ResourceType":"Payload"}"#, "payload"),
        (r#"{"ResourceType":"BatchPilot"}"#, "payload"),
        (r#"{"ResourceType":"Storage"}"#, "storage"),
        (r#"{"ResourceType":"GridMonitor"}"#, "gridmonitor"),
    ] {
        assert_eq!(one(fields).view, view);
    }
    let row = one(r#"{"LocalJobId":null,"GlobalJobId":"g","VOName":"cms","DN":"","CommonName":"/CN=x"}"#);
    assert_eq!((row.job_id, row.vo, row.global_user), ("g", Some("cms"), Some("/CN=x")));
    let row = one(r#"{"LocalJobId":null,"RecordId":"r","Resource_condor-JobStatus":"3","Resource_ExitCode":"x"}"#);
    assert_eq!((row.job_id, row.state, row.exit_code), ("r", Some("CANCELLED"), None));
    assert_eq!(row.anomalies, Anomaly::ValueDropped.bit());
    assert!(row.identity_key.unwrap().starts_with("measured|batch|"));
    assert_eq!(reject(r#"{"LocalJobId":""}"#), Reason::MissingField);
    for (memory, rss, virtual_size) in [
        (
            r#"{"Memory":"2","Memory_storageUnit":"kB","Memory_metric":"max"}"#,
            Some(2048),
            None,
        ),
        (
            r#"{"Memory":1.5,"Memory_storageUnit":"MB","Memory_metric":"max"}"#,
            Some(1_572_864),
            None,
        ),
        (
            r#"{"Memory":7,"Memory_storageUnit":"B","Memory_metric":"average"}"#,
            None,
            None,
        ),
        (
            r#"{"Memory":7,"Memory_storageUnit":"B","Memory_metric":"total","Memory_description":"maxvmem"}"#,
            None,
            Some(7),
        ),
    ] {
        let row = one(memory);
        assert_eq!(
            (row.max_rss_byte, row.max_virtual_byte),
            (rss, virtual_size),
            "{memory}"
        );
    }
    assert_eq!(
        one(r#"{"Memory":7,"Memory_storageUnit":"pages"}"#).anomalies,
        Anomaly::ValueDropped.bit()
    );
}

#[test]
fn lines_that_are_no_job_usage() {
    let text = [
        r#"{"_type":"StorageElement","_source":{"type":"StorageElement","UniqueID":"x"}}"#,
        r#"{"type":"StorageElementRecord","UniqueID":"x"}"#,
        "",
        r#""a JSON string holding {}""#,
        r#"{"unrelated":1}"#,
        r#"{"type":"JobUsageRecord","LocalJobId":"1","EndTime":["2016-05-14T04:35:47Z"]}"#,
        r#"{"type":"JobUsageRecord","LocalJobId":01}"#,
        r#"{"type":"JobUsageRecord","LocalJobId":"1" "#,
    ]
    .join("\n");
    let all = read(&text);
    assert_eq!(all.out_of_scope, BTreeMap::from([(Reason::OtherRecordType, 2)]));
    assert_eq!(
        all.reasons(),
        [
            Reason::NotARecord,
            Reason::NotARecord,
            // The layout of May 2016, but neither two of its times nor the XML it comes with.
            Reason::TimeUnknown,
            Reason::BadJson,
            Reason::Truncated
        ]
    );
    assert_eq!(all.rejects[3].detail, "column 40: a number must not start with 0");
    assert_eq!(all.rejects[3].at.line, 7);
    let start = usize::try_from(all.rejects[4].at.byte_offset).unwrap();
    assert_eq!(&text.as_bytes()[start..], all.rejects[4].raw);
    // The same line with a line end is not cut off, just wrong.
    assert_eq!(read(text + "\n").reasons().last(), Some(&Reason::BadJson));
}

#[test]
fn dumps_are_recognised() {
    for (head, expected) in [
        (HIT, true),
        (&document("{}"), true),
        ("{\"Type\": \"APEL-accelerator-message\"}", false),
        ("JobID|State\n", false),
    ] {
        assert_eq!(gracc::recognise(head.as_bytes()), expected, "{head}");
    }
}

fn scan(line: &[u8]) -> Result<(), usize> {
    let mut scanner = Scanner::new(line);
    scanner
        .scalar()
        .and_then(|_| scanner.end())
        .map_err(|malformed| malformed.at)
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "\\PC{0,12}|[\\x00-\\x1f\"\\\\/é😀]{0,6}".prop_map(Into::into),
        // Longer than the word of 64 bytes in which marks are found, with runs that cross its edge.
        "([a-z ]{0,70}[\"\\\\\n\t]{0,9}){0,4}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::hash_map("[a-z\"\\\\\t]{0,6}", inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Stepping over a document accepts exactly what `serde_json` accepts.
    #[test]
    fn the_scanner_accepts_what_serde_json_accepts(
        value in json(),
        is_pretty in any::<bool>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![
            any::<u8>(),
            prop::sample::select(&b"{}[]\",:\\/u0123456789eE+-.tfn \t\r\n"[..]),
        ]), 0..4),
    ) {
        let mut bytes = if is_pretty {
            serde_json::to_vec_pretty(&value).unwrap()
        } else {
            serde_json::to_vec(&value).unwrap()
        };
        prop_assert!(scan(&bytes).is_ok());
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let oracle = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes);
        prop_assert_eq!(scan(&bytes).is_ok(), oracle.is_ok(), "{:?}", String::from_utf8_lossy(&bytes));
    }

    /// Requested values are equal to those `serde_json` decodes.
    #[test]
    fn the_scanner_decodes_what_serde_json_decodes(value in json()) {
        let text = serde_json::to_string(&serde_json::json!({"x": value})).unwrap();
        let mut scanner = Scanner::new(text.as_bytes());
        let mut found = Scalar::Absent;
        scanner.object(|scanner, key| {
            assert_eq!(key.decode().0, "x");
            found = scanner.scalar()?;
            Ok(())
        }).unwrap();
        match (found, &value) {
            (Scalar::Text(text), serde_json::Value::String(expected)) => {
                prop_assert_eq!(text.decode(), (expected.as_str().into(), false));
            }
            (Scalar::Number(text), serde_json::Value::Number(expected)) => {
                prop_assert_eq!(text.to_vec(), expected.to_string().into_bytes());
            }
            (Scalar::Bool(found), serde_json::Value::Bool(expected)) => prop_assert_eq!(found, *expected),
            (Scalar::Null, serde_json::Value::Null)
            | (Scalar::Nested, serde_json::Value::Array(_) | serde_json::Value::Object(_)) => {}
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn block_size_changes_nothing(
        parts in prop::collection::vec(prop_oneof![
            4 => Just(document("{}")),
            2 => Just(HIT.to_owned()),
            1 => Just("{\"type\":\"StorageElement\"}".to_owned()),
            1 => Just(String::new()),
            1 => Just("x".repeat(3000)),
            1 => Just(" ".repeat(3000)),
            1 => "[{}\"a:, \r\\\\]{0,8}",
        ], 0..12),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in 0_usize..300,
        block in 1_usize..5000,
    ) {
        // Starts with a sound line, so that the layout stays recognisable.
        let first = document("{}") + "\n";
        let mut bytes = parts.join("\n").into_bytes();
        for (at, byte) in flips {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        bytes.truncate(bytes.len().saturating_sub(cut));
        bytes.splice(0..0, first.into_bytes());
        let read = |block| {
            let limits = GraccLimits { block, line: 2500, kept: 50 };
            run(gracc::pieces_within(input(&bytes), &plan(gracc::DIALECT.format(), Acceptance::StrictApel), limits).unwrap())
        };
        prop_assert_eq!(read(block), read(1 << 20));
    }
}

#[test]
fn lone_surrogates_and_bad_bytes_are_kept_and_stated() {
    for (text, expected) in [
        (&b"\"a\\ud800b\""[..], "a\\uD800b"),
        (b"\"a\\udc00b\"", "a\\uDC00b"),
        (b"\"a\xffb\"", "a\\xFFb"),
        (b"\"\\t\xc3\xa9\xc3\"", "\t\u{e9}\\xC3"),
    ] {
        let Ok(Scalar::Text(text)) = Scanner::new(text).scalar() else {
            panic!("{text:?}");
        };
        assert_eq!(text.decode(), (expected.into(), true));
    }
    let deep = "[".repeat(200) + &"]".repeat(200);
    assert!(scan(deep.as_bytes()).is_err());
}

/// Milliseconds as seconds, thousandths of what a sum over floats would blur.
fn seconds(ms: i64) -> String {
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn core_hours(core_ms: i64) -> String {
    let millionths = (i128::from(core_ms) * 1_000_000 + 1_800_000) / 3_600_000;
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn unpack(path: &std::path::Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

/// View, documents, wall seconds, CPU seconds, core-hours; the last three empty where nobody measured them.
type View = (&'static str, usize, &'static str, &'static str, &'static str);

/// Totals per view of real dumps.
#[test]
fn golden_dumps_give_the_measured_totals() {
    let Some(folder) = shared("golden_dumps_give_the_measured_totals", "data/gracc/es-dump") else {
        return;
    };
    let expected: [(&str, &[View]); 3] = [
        (
            "raw2-2016.06",
            &[
                ("batch", 355, "6813777", "8577071.9", "3334.506944"),
                ("payload", 433, "1503854", "724732", "425.457222"),
                ("storage", 212, "", "", ""),
            ],
        ),
        (
            "raw2-2016.07",
            &[
                ("batch", 295, "3028874", "5425520.51", "2440.786944"),
                ("payload", 571, "2223689", "1781748", "628.632222"),
                ("storage", 134, "", "", ""),
            ],
        ),
        (
            "raw0-2016.05",
            &[
                ("batch", 295, "2583084", "4094968.46", "1580.686389"),
                ("payload", 500, "2273307", "2116257", "660.36"),
                ("storage", 205, "", "", ""),
            ],
        ),
    ];
    for (file, views) in expected {
        let all = read(unpack(&folder.join(format!("{file}.ndjson.gz"))));
        assert_eq!(
            (all.rows_read, all.rejects.len(), all.jobs.len()),
            (1000, 0, 1000),
            "{file}"
        );
        for (view, n, wall, cpu, hours) in views {
            let rows: Vec<_> = all.rows().filter(|row| row.view == *view).collect();
            assert_eq!(rows.len(), *n, "{file} {view}");
            if wall.is_empty() {
                continue;
            }
            let sum = |value: fn(&JobRow<'_>) -> i64| rows.iter().map(|row| value(row)).sum::<i64>();
            assert_eq!(seconds(sum(|row| row.wall_ms.unwrap())), *wall, "{file} {view}");
            assert_eq!(seconds(sum(|row| row.cpu_ms.unwrap_or(0))), *cpu, "{file} {view}");
            let core_ms = sum(|row| row.wall_ms.unwrap() * row.alloc_core_n.unwrap());
            assert_eq!(core_hours(core_ms), *hours, "{file} {view}");
        }
    }
    for file in [
        "stringtyped-2016.06.01",
        "stringtyped-2016.06.04",
        "transfer-raw2-2016.06",
    ] {
        let all = read(unpack(&folder.join(format!("{file}.ndjson.gz"))));
        assert_eq!((all.rejects.len(), all.jobs.len() as u64), (0, all.rows_read), "{file}");
        if file.starts_with("transfer") {
            let wall: i64 = all.rows().map(|row| row.wall_ms.unwrap()).sum();
            assert_eq!(seconds(wall), "142233.31");
            let moved: i64 = all.rows().map(|row| row.network_byte.unwrap()).sum();
            assert_eq!(moved, 5_829_195_050_977);
            assert!(all.rows().all(|row| row.view == "storage"));
        }
    }
}
