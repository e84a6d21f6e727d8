//! Documents of GRACC's summary index. The real ones are made here of real raw documents by the summariser's rules: the
//! same jobs reported twice, once by one and once added up.

mod exported;
mod transfers;
mod views;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use gridtally::audit::{summary_diff, verify};
use gridtally::config::Plan;
use gridtally::error::Kind;
use gridtally::ledger::Reason;
use gridtally::record::{SummaryKind, SummaryRow};
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages as pipeline};
use gridtally::runtime::progress::Silent;
use gridtally::store::{Manifest, Store, read_table};
use gridtally::time::Month;
use serde_json::{Map, Value, json};

use crate::gracc::read;
use crate::support::collect::shared;

/// A day of a pilot's jobs at a site of ours, as the summariser writes it.
fn document() -> Map<String, Value> {
    let Value::Object(source) = json!({
        "EndTime": "2022-05-03T00:00:00.000Z", "RawVOName": "/reef/coral/Role=pilot/Capability=NULL", "VOName": "reef",
        "ReportableVOName": "reef", "RawProjectName": "N/A", "ProjectName": "reef", "DN": "N/A",
        "CommonName": "Generic reef user", "Processors": 8, "GPUs": 2, "ResourceType": "Batch", "Host_description": "N/A",
        "Resource_ExitCode": 1, "Grid": "OSG", "ProbeName": "htcondor-ce:gate.example.org", "SiteName": "EXAMPLE_CE",
        "WallDuration": 7200, "CpuDuration": 50000.25, "CpuDuration_user": 48000, "CpuDuration_system": 2000.25,
        "CoreHours": 16.0, "Njobs": 5, "Count": 2, "GPUHours": 4.0, "RawOIM_Site": "", "OIM_Site": "EXAMPLE",
        "OIM_FieldOfScience": ["Biology", "Physics"], "OIM_WLCGAPELNormalFactor": 14.54,
        "OIM_WLCGAPELNormalizedWallDuration": 837_504, "OIM_WLCGAPELNormalizedCpuDuration": 727_003.635
    }) else {
        panic!("an object")
    };
    source
}

fn hit(source: &Map<String, Value>) -> String {
    json!({ "_index": "gracc.osg.summary4-2022", "_type": "_doc", "_id": "5f", "_source": source }).to_string()
}

/// What is read of the document with these fields instead; `null` leaves one out.
fn one(changes: &Value) -> Result<SummaryRow<'static>, (Reason, String)> {
    let mut source = document();
    for (key, value) in changes.as_object().unwrap() {
        source.insert(key.clone(), value.clone());
    }
    source.retain(|_, value| !value.is_null());
    let all = read(hit(&source) + "\n");
    assert_eq!((all.rows_read, all.outcomes()), (1, 1));
    match all.summaries.first() {
        Some((row, _)) => Ok(row.clone()),
        None => Err((all.rejects[0].reason, all.rejects[0].detail.clone())),
    }
}

#[test]
fn a_summary_is_read_with_its_keys_and_sums() {
    let row = one(&json!({})).unwrap();
    let expected = SummaryRow {
        kind: SummaryKind::Summary,
        view: "batch",
        site: Some("EXAMPLE_CE"),
        month: Month::new(2022, 5),
        identity_key: row.identity_key,
        vo: Some("reef"),
        vo_name: Some("/reef/coral/Role=pilot/Capability=NULL"),
        reportable_vo: Some("reef"),
        vo_group: Some("/reef/coral"),
        vo_role: Some("Role=pilot"),
        // The VO is used for a missing project.
        account: None,
        global_user: Some("Generic reef user"),
        cluster: Some("htcondor-ce:gate.example.org"),
        infrastructure: Some("OSG"),
        benchmark: Some("hs06"),
        benchmark_milli_per_core: Some(14_540),
        alloc_core_n: Some(8),
        alloc_gpu_n: Some(2),
        exit_code: Some(1),
        earliest_end_ms: Some(1_651_536_000_000),
        latest_end_ms: Some(1_651_622_399_000),
        wall_ms: Some(7_200_000),
        cpu_ms: Some(50_000_250),
        // Raw documents; the jobs these speak of are more.
        job_n: Some(2),
        ..SummaryRow::default()
    };
    assert_eq!(row, expected);
    let numbers =
        one(&json!({ "Processors": 0, "CpuDuration": 0, "OIM_WLCGAPELNormalFactor": 0.0, "Count": null })).unwrap();
    assert_eq!((numbers.alloc_core_n, numbers.cpu_ms), (None, Some(50_000_250)));
    assert_eq!((numbers.benchmark, numbers.job_n), (None, Some(5)));
    // A factor of a complete node is not one of a core.
    let node = one(&json!({ "OIM_WLCGAPELNormalFactor": 1162.4 })).unwrap();
    assert_eq!((node.benchmark, node.benchmark_milli_per_core), (None, None));
    let payload = one(&json!({
        "ResourceType": "Payload", "Host_description": "REEF_T2", "RawProjectName": "TG-1", "ProjectName": "TG-1"
    }));
    let payload = payload.unwrap();
    assert_eq!((payload.view, payload.payload_site), ("payload", Some("REEF_T2")));
    assert_eq!(payload.account, Some("TG-1"));
    // A VO no correction knows stays an FQAN.
    let long = one(&json!({ "VOName": "/reef/coral/Role=pilot", "RawVOName": null })).unwrap();
    assert_eq!((long.vo, long.vo_role), (Some("reef"), Some("Role=pilot")));
}

#[test]
fn a_summary_is_itself_whatever_its_sums_and_corrections() {
    let key = |changes: Value| one(&changes).unwrap().identity_key.unwrap().to_owned();
    let own = key(json!({}));
    for same in [
        json!({ "WallDuration": 1, "Count": 77, "CoreHours": 0 }),
        json!({ "VOName": "coral", "ProjectName": "other", "OIM_Site": "X", "OIM_WLCGAPELNormalFactor": 3 }),
        json!({ "EndTime": "2022-05-03T00:00:00Z", "Processors": "8", "DN": null, "GPUs": "2" }),
    ] {
        assert_eq!(key(same.clone()), own, "{same}");
    }
    for other in [
        json!({ "EndTime": "2022-05-04T00:00:00.000Z" }),
        json!({ "RawVOName": "/reef" }),
        json!({ "RawProjectName": "TG-1" }),
        json!({ "DN": "/CN=x" }),
        json!({ "Processors": 1 }),
        json!({ "ResourceType": "Payload" }),
        json!({ "CommonName": "N/A" }),
        json!({ "Host_description": "X" }),
        json!({ "Resource_ExitCode": 0 }),
        json!({ "Grid": "Local" }),
        json!({ "ReportableVOName": "REEF" }),
        json!({ "ProbeName": "x" }),
        json!({ "GPUs": 0 }),
    ] {
        assert_ne!(key(other.clone()), own, "{other}");
    }
}

#[test]
fn a_summary_that_cannot_be_is_refused_with_its_field() {
    for (changes, reason, word) in [
        (json!({ "EndTime": null }), Reason::MissingField, "EndTime"),
        (json!({ "EndTime": "May" }), Reason::BadTime, "EndTime"),
        (json!({ "WallDuration": null }), Reason::MissingField, "WallDuration"),
        (json!({ "WallDuration": -1 }), Reason::BadDuration, "WallDuration"),
        (json!({ "CpuDuration": "many" }), Reason::BadDuration, "CpuDuration"),
        (json!({ "Count": 1.5 }), Reason::BadNumber, "Count"),
        (json!({ "Count": -2 }), Reason::BadNumber, "Count"),
        (json!({ "Count": null, "Njobs": null }), Reason::MissingField, "Njobs"),
        (json!({ "Processors": -8 }), Reason::BadNumber, "Processors"),
    ] {
        let (found, detail) = one(&changes).unwrap_err();
        assert_eq!(found, reason, "{changes}: {detail}");
        assert!(detail.contains(word), "{changes}: {detail}");
    }
}

/// Keys of the summariser and what it writes where a raw document has none.
const KEYS: [(&str, &str); 13] = [
    ("VOName", "N/A"),
    ("ProjectName", "N/A"),
    ("DN", "N/A"),
    ("Processors", "1"),
    ("GPUs", "0"),
    ("ResourceType", "N/A"),
    ("CommonName", "N/A"),
    ("Host_description", "N/A"),
    ("Resource_ExitCode", "0"),
    ("Grid", "N/A"),
    ("ReportableVOName", "N/A"),
    ("ProbeName", "N/A"),
    ("SiteName", "N/A"),
];
const SUMS: [&str; 5] = [
    "WallDuration",
    "CpuDuration_user",
    "CpuDuration_system",
    "CoreHours",
    "CpuDuration",
];

/// The documents that GRACC's summariser makes of an index dump, by its rules and with its floats.
fn summarise(dump: &str) -> Vec<Map<String, Value>> {
    let mut groups: BTreeMap<Vec<String>, (BTreeMap<&str, f64>, u64)> = BTreeMap::new();
    for line in dump.lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        let source = &document["_source"];
        let day = source["EndTime"].as_str().unwrap().get(..10).unwrap().to_owned();
        let text = |key: &str, missing: &str| match &source[key] {
            Value::Null => missing.to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let key = std::iter::once(day).chain(KEYS.map(|(key, missing)| text(key, missing)));
        let (sums, count) = groups.entry(key.collect()).or_default();
        for name in SUMS {
            *sums.entry(name).or_default() += source[name].as_f64().unwrap_or(0.0);
        }
        *count += 1;
    }
    let made = groups.into_iter().map(|(key, (sums, count))| {
        let mut source = Map::new();
        source.insert("EndTime".to_owned(), format!("{}T00:00:00.000Z", key[0]).into());
        for ((name, _), value) in KEYS.iter().zip(&key[1..]) {
            let number = value.parse::<i64>().ok();
            let is_number = ["Processors", "GPUs", "Resource_ExitCode"].contains(name);
            let value = number
                .filter(|_| is_number)
                .map_or(Value::from(value.as_str()), Value::from);
            source.insert((*name).to_owned(), value);
        }
        source.extend(sums.into_iter().map(|(name, sum)| (name.to_owned(), sum.into())));
        source.insert("Njobs".to_owned(), count.into());
        source.insert("Count".to_owned(), count.into());
        source
    });
    made.collect()
}

fn dump(folder: &Path, name: &str) -> String {
    let mut text = String::new();
    let file = fs::File::open(folder.join(format!("{name}.ndjson.gz"))).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

/// Known of the real dumps: rows of the summariser; by view documents, wall and CPU milliseconds, core seconds.
type Golden = (&'static str, usize, &'static [(&'static str, i64, i64, i64, i64)]);
const GOLDEN: [Golden; 3] = [
    (
        "raw2-2016.06",
        229,
        &[
            ("batch", 355, 6_813_777_000, 8_577_071_900, 12_004_225),
            ("payload", 433, 1_503_854_000, 724_732_000, 1_531_646),
        ],
    ),
    (
        "raw2-2016.07",
        222,
        &[
            ("batch", 295, 3_028_874_000, 5_425_520_510, 8_786_833),
            ("payload", 571, 2_223_689_000, 1_781_748_000, 2_263_076),
        ],
    ),
    (
        "raw0-2016.05",
        155,
        &[
            ("batch", 295, 2_583_084_000, 4_094_968_460, 5_690_471),
            ("payload", 500, 2_273_307_000, 2_116_257_000, 2_377_296),
        ],
    ),
];

#[test]
fn real_documents_added_up_come_to_the_known_totals() {
    let Some(folder) = shared("real_documents_added_up_come_to_the_known_totals", "data/gracc/es-dump") else {
        return;
    };
    for (name, row_n, views) in GOLDEN {
        let documents = summarise(&dump(&folder, name));
        assert_eq!(documents.len(), row_n, "{name}");
        let all = read(documents.iter().map(|source| hit(source) + "\n").collect::<String>());
        assert_eq!((all.summaries.len(), all.rejects.len()), (row_n, 0), "{name}");
        let identities: BTreeSet<_> = all
            .summaries
            .iter()
            .map(|(row, _)| (row.site, row.identity_key))
            .collect();
        assert_eq!(identities.len(), row_n, "{name}");
        for (view, job_n, wall_ms, cpu_ms, core_s) in views {
            let rows = || all.summaries.iter().map(|(row, _)| row).filter(|row| row.view == *view);
            let sum = |of: &dyn Fn(&SummaryRow<'_>) -> i64| rows().map(of).sum::<i64>();
            assert_eq!(sum(&|row| row.job_n.unwrap()), *job_n, "{name} {view}");
            assert_eq!(sum(&|row| row.wall_ms.unwrap()), *wall_ms, "{name} {view}");
            assert_eq!(sum(&|row| row.cpu_ms.unwrap()), *cpu_ms, "{name} {view}");
            let core_ms = sum(&|row| row.wall_ms.unwrap() * row.alloc_core_n.unwrap_or(0));
            assert_eq!(core_ms, core_s * 1000, "{name} {view}");
        }
    }
}

struct Scene(tempfile::TempDir);

impl Scene {
    fn run(&self, lake: &str, head: &str, keys: &str, paths: &[&str]) -> gridtally::error::Result<RunReport> {
        let text = format!(
            "[pipeline]\nname = \"p\"\noutput = \"{lake}\"\nattribution = \"by-end\"\n{head}\n[[source]]\nname = \"g\"\n\
             format = \"gracc\"\npaths = {paths:?}\n{keys}\n"
        );
        let file = self.0.path().join("p.toml");
        fs::write(&file, text).unwrap();
        let (plan, _) = Plan::load(&file)?;
        let report = pipeline::run(&plan, &RunOptions::default(), &Silent)?;
        let verdict = verify::verify(self.0.path().join(lake).to_str().unwrap())?;
        assert!(verdict.is_sound(), "{}", verdict.text());
        Ok(report)
    }

    /// Jobs, wall milliseconds, core seconds and CPU milliseconds of `usage`, by site, month and view.
    fn usage(&self, lake: &str) -> BTreeMap<(String, i32, String), [i64; 4]> {
        use gridtally::schema::batch::{date, int, text};
        let store = Store::open_existing(self.0.path().join(lake).to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        let mut sums: BTreeMap<_, [i64; 4]> = BTreeMap::new();
        for file in manifest.dataset("usage") {
            let site = file
                .path
                .split('/')
                .find_map(|part| part.strip_prefix("site="))
                .unwrap();
            for batch in read_table(store.reader(&file.path).unwrap(), None, 1024).unwrap() {
                let batch = batch.unwrap();
                let (view, month) = (text(&batch, "view").unwrap(), date(&batch, "month").unwrap());
                let number = |name: &str, row: usize| int(&batch, name).unwrap().value(row);
                for row in 0..batch.num_rows() {
                    let sum = sums
                        .entry((site.to_owned(), month.value(row), view.value(row).to_owned()))
                        .or_default();
                    sum[0] += number("job_n", row);
                    sum[1] += number("wall_s", row) * 1000 + number("wall_fraction_ms", row);
                    sum[2] += number("alloc_core_s", row);
                    sum[3] += number("cpu_ms", row);
                }
            }
        }
        sums
    }
}

#[test]
fn jobs_and_their_summaries_come_to_the_same_usage_and_are_never_added_up() {
    let named = "jobs_and_their_summaries_come_to_the_same_usage_and_are_never_added_up";
    let Some(folder) = shared(named, "data/gracc/es-dump") else {
        return;
    };
    let scene = Scene(tempfile::tempdir().unwrap());
    let write = |name: &str, text: &str| fs::write(scene.0.path().join(name), text).unwrap();
    let raw = dump(&folder, "raw2-2016.06");
    write("raw", &raw);
    let documents = summarise(&raw);
    write(
        "summaries",
        &documents.iter().map(|source| hit(source) + "\n").collect::<String>(),
    );
    scene.run("raw-lake", "", "", &["raw"]).unwrap();
    let report = scene.run("summary-lake", "", "", &["summaries"]).unwrap();
    assert_eq!(report.reasons["accepted/summary_record"], 229);
    let as_summaries = |(site, month, view): &(String, i32, String)| {
        let view = match view.as_str() {
            "batch" => "summary".to_owned(),
            view => format!("summary_{view}"),
        };
        (site.clone(), *month, view)
    };
    let jobs = scene.usage("raw-lake");
    let expected: BTreeMap<_, _> = jobs.iter().map(|(key, sums)| (as_summaries(key), *sums)).collect();
    assert!(expected.keys().any(|(.., view)| view == "summary_payload"));
    assert_eq!(scene.usage("summary-lake"), expected);
    // Both at once are one usage, reported twice.
    let none = scene.run("both", "", "", &["raw", "summaries"]).unwrap_err();
    assert_eq!(none.kind(), Kind::Config);
    for (overlap, lost, n) in [
        ("jobs", "out_of_scope/jobs_count", 229),
        ("summaries", "out_of_scope/summaries_count", 1000),
    ] {
        let head = format!("overlap = \"{overlap}\"");
        let lake = format!("by-{overlap}");
        let report = scene.run(&lake, &head, "", &["raw", "summaries"]).unwrap();
        assert_eq!(report.reasons[lost], n);
        let counted = if overlap == "jobs" { &jobs } else { &expected };
        assert_eq!(&scene.usage(&lake), counted);
    }
}

#[test]
fn summaries_that_are_rewritten_replace_the_former() {
    let scene = Scene(tempfile::tempdir().unwrap());
    let mut text = String::new();
    let mut source = document();
    let _ = writeln!(text, "{}", hit(&source));
    fs::write(scene.0.path().join("a"), &text).unwrap();
    // The same day again, fuller and corrected; and the payloads of the same hours.
    for (key, value) in [
        ("Count", json!(3)),
        ("VOName", json!("coral")),
        ("WallDuration", json!(9000)),
    ] {
        source.insert(key.to_owned(), value);
    }
    let mut payload = source.clone();
    payload.insert("ResourceType".to_owned(), json!("Payload"));
    fs::write(
        scene.0.path().join("b"),
        format!("{}\n{}\n", hit(&source), hit(&payload)),
    )
    .unwrap();
    scene.run("out", "", "publication = \"source\"", &["a"]).unwrap();
    let report = scene.run("out", "", "publication = \"source\"", &["a", "b"]).unwrap();
    assert_eq!(report.reasons["superseded/later_summary"], 1);
    let sums = |job_n| [job_n, 9_000_000, 72_000, 50_000_250];
    let view = |view: &str| ("EXAMPLE_CE".to_owned(), 19_113, view.to_owned());
    let expected = BTreeMap::from([(view("summary"), sums(3)), (view("summary_payload"), sums(3))]);
    assert_eq!(scene.usage("out"), expected);
    let reported = summary_diff::report(scene.0.path().join("out").to_str().unwrap()).unwrap();
    let views: Vec<&str> = reported.months.iter().map(|month| month.view.as_str()).collect();
    assert_eq!(views, ["batch", "payload"]);
    assert!(reported.text().contains("g 2022-05 payload\n"), "{}", reported.text());
}
