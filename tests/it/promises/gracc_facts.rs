//! What GRACC documents state stays as it is on its way through a lake: VOs, unknown CPU time, parts of seconds.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Date32Type;
use gridtally::report::apel::users::Users;
use gridtally::report::gracc;
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::render::objects;
use gridtally::schema::batch::time;

use super::scene::{Pipeline, Scene, Source};
use super::tables::{all, decimal, files, int, read, sum, text};

/// A raw document: its id, VO, short VO, and other fields.
fn raw(id: u32, vo: &str, reportable: &str, more: &str) -> String {
    format!(
        "{{\"type\":\"JobUsageRecord\",\"SiteName\":\"REEF\",\"ProbeName\":\"p\",\"LocalJobId\":\"{id}\",\
         \"VOName\":\"{vo}\",\"ReportableVOName\":\"{reportable}\",\"StartTime\":\"2026-03-01T00:00:00Z\",\
         \"EndTime\":\"2026-03-01T01:00:00Z\",\"Processors\":4,{more}}}\n"
    )
}

/// A document of the summary index of one such document, as GRACC makes it when no correction knows the VO.
fn summary(vo: &str, reportable: &str) -> String {
    format!(
        "{{\"SiteName\":\"REEF\",\"ProbeName\":\"p\",\"VOName\":\"{vo}\",\"RawVOName\":\"{vo}\",\
         \"ReportableVOName\":\"{reportable}\",\"EndTime\":\"2026-03-01T00:00:00Z\",\"ResourceType\":\"Batch\",\
         \"Processors\":4,\"WallDuration\":3600,\"CpuDuration\":7200,\"Njobs\":1,\"Count\":1}}\n"
    )
}

fn lake(documents: &str) -> Scene {
    let scene = Scene::empty();
    scene.write("data/documents.json", documents.as_bytes());
    let source = Source {
        name: "gracc",
        paths: vec!["data".to_owned()],
        keys: "format = \"gracc\"\n".to_owned(),
    };
    scene.run(&Pipeline::of(source), "out");
    assert_eq!(scene.findings("out"), []);
    scene
}

const VOS: [(&str, &str); 4] = [
    ("coral", "REEF"),
    ("/kelp/deep/Role=pilot/Capability=NULL", "Kelp"),
    ("tide", "tide"),
    ("/tide/Role=NULL/Capability=NULL", "somebody"),
];

#[test]
fn documents_and_summaries_of_the_same_jobs_are_of_the_same_vo() {
    let hour = "\"WallDuration\":3600,\"CpuDuration\":7200";
    let documents = VOS
        .iter()
        .zip(1..)
        .map(|((vo, reportable), id)| raw(id, vo, reportable, hour));
    let raw = lake(&documents.collect::<String>());
    let summaries = lake(
        &VOS.iter()
            .map(|(vo, reportable)| summary(vo, reportable))
            .collect::<String>(),
    );
    let jobs = |scene: &Scene| {
        let mut jobs = BTreeMap::new();
        for file in files(&scene.path("out"), "usage") {
            let vo = file
                .to_str()
                .unwrap()
                .split('/')
                .find_map(|part| part.strip_prefix("vo="))
                .map(str::to_owned);
            *jobs.entry(vo.unwrap()).or_insert(0) += sum(&read(&file), "job_n");
        }
        jobs
    };
    let expected = [("coral", 1), ("kelp", 1), ("tide", 2)].map(|(vo, n)| (vo.to_owned(), n));
    assert_eq!(jobs(&raw), BTreeMap::from(expected));
    assert_eq!(jobs(&summaries), jobs(&raw));
    // What else the documents state of the VO is there, where it is something else.
    for (scene, dataset) in [(&raw, "records"), (&summaries, "summary")] {
        let rows = all(&scene.path("out"), dataset);
        let mut names: Vec<_> = (0..rows.num_rows())
            .map(|row| ["vo", "vo_name", "reportable_vo"].map(|name| text(&rows, name, row).unwrap_or_default()))
            .collect();
        names.sort();
        let expected = [
            ["coral", "", "REEF"],
            ["kelp", "/kelp/deep/Role=pilot/Capability=NULL", "Kelp"],
            ["tide", "", ""],
            ["tide", "/tide/Role=NULL/Capability=NULL", "somebody"],
        ];
        assert_eq!(names, expected, "{dataset}");
    }
}

#[test]
fn core_time_is_exact_to_the_millisecond() {
    let storage = "\"ResourceType\":\"Storage\",\"CpuDuration\":0,\"WallDuration\":";
    let documents = ["0.43", "0.87", "12.25"].iter().zip(1..);
    let scene = lake(
        &documents
            .map(|(wall, id)| raw(id, "tide", "tide", &format!("{storage}{wall}")))
            .collect::<String>(),
    );
    let usage = all(&scene.path("out"), "usage");
    let exact_ms = sum(&usage, "alloc_core_s") * 1000 + sum(&usage, "alloc_core_fraction_ms");
    assert_eq!(exact_ms, 4 * (430 + 870 + 12_250));
    assert_eq!((sum(&usage, "wall_s"), sum(&usage, "wall_fraction_ms")), (12, 1550));
    assert!((0..usage.num_rows()).all(|row| int(&usage, "cpu_ms", row).is_none()));
    assert_eq!(sum(&usage, "cpu_unknown_job_n"), 3);
}

/// Parts of a second reach work, charges and years: each is what the exact core time makes of it.
#[test]
fn work_and_charges_are_of_the_exact_core_time() {
    let scene = Scene::empty();
    let storage = "\"ResourceType\":\"Storage\",\"CpuDuration\":0,\"WallDuration\":";
    let documents = ["0.43", "0.87", "12.25"].iter().zip(1..);
    let documents: String = documents
        .map(|(wall, id)| raw(id, "tide", "tide", &format!("{storage}{wall}")))
        .collect();
    scene.write("data/documents.json", documents.as_bytes());
    let policy = "id = \"cores\"\nversion = \"1\"\ntitle = \"Cores\"\nsource = \"invented\"\npool = \"cpu\"\n\
                  unit = \"core_second\"\nformula = \"cores * seconds\"\n[[example]]\nname = \"one\"\n\
                  in = { cores = 1, hours = 2 }\nexpect = 7200\n";
    scene.write("cores.toml", policy.as_bytes());
    let mut pipeline = Pipeline::of(Source {
        name: "gracc",
        paths: vec!["data".to_owned()],
        keys: "format = \"gracc\"\n".to_owned(),
    });
    pipeline.normalise = Some(
        "missing = { fallback = 12.5, benchmark = \"hs06\" }\n[[charge]]\npolicies = [\"cores.toml\"]\n".to_owned(),
    );
    scene.run(&pipeline, "out");
    assert_eq!(scene.findings("out"), []);
    let core_ms = 4 * (430 + 870 + 12_250);
    let amount = |batch: &RecordBatch, name: &str| -> i128 {
        (0..batch.num_rows()).filter_map(|row| decimal(batch, name, row)).sum()
    };
    let usage = all(&scene.path("out"), "usage");
    assert_eq!(amount(&usage, "core_wall_hs06_s"), i128::from(core_ms) * 125_000);
    assert_eq!(amount(&usage, "wall_hs06_s"), i128::from(core_ms / 4) * 125_000);
    for dataset in ["job_charges", "charge_part", "charges"] {
        let rows = all(&scene.path("out"), dataset);
        let exact_ms = sum(&rows, "alloc_core_s") * 1000 + sum(&rows, "alloc_core_fraction_ms");
        assert_eq!(exact_ms, core_ms, "{dataset}");
        // Core seconds to nine digits: the charge is of the same time.
        assert_eq!(amount(&rows, "charge"), i128::from(core_ms) * 1_000_000, "{dataset}");
    }
    let charges = all(&scene.path("out"), "charges");
    assert_eq!(charges.num_rows(), 1);
    let year_s = i128::from(int(&charges, "year_s", 0).unwrap());
    let years_e9 = (i128::from(core_ms) * 1_000_000 + year_s / 2) / year_s;
    assert_eq!(decimal(&charges, "raw_core_year", 0), Some(years_e9));
}

#[test]
fn documents_for_gracc_state_no_cpu_time_that_is_unknown() {
    let wall = "\"WallDuration\":3600";
    let scene = lake(
        &[
            raw(1, "a", "a", &format!("{wall},\"CpuDuration\":100")),
            raw(
                2,
                "b",
                "b",
                &format!("{wall},\"CpuDuration\":100,\"CpuDuration_user\":90,\"CpuDuration_system\":10"),
            ),
            raw(3, "c", "c", &format!("{wall},\"CpuDuration\":0")),
            raw(
                4,
                "d",
                "d",
                &format!("{wall},\"CpuDuration\":100,\"CpuDuration_user\":90,\"CpuDuration_system\":10"),
            ),
            raw(5, "d", "d", &format!("{wall},\"CpuDuration\":50")),
            raw(6, "d", "d", &format!("{wall},\"CpuDuration\":0")),
        ]
        .concat(),
    );
    let lake = Lake::open(scene.path("out").to_str().unwrap()).unwrap();
    let table = gracc::table(&lake, &Selection::default(), &Users::Withhold).unwrap().0;
    let reported: Vec<[String; 4]> = objects(&table)
        .unwrap()
        .iter()
        .map(|document| {
            let fields = gracc::fields_of(document);
            assert_eq!(gracc::fields_of(&gracc::text_of(&fields)), fields);
            ["VOName", "CpuDuration", "CpuDuration_user", "CpuDuration_system"].map(|key| fields[key].clone())
        })
        .collect();
    let expected = [
        ["a", "100.000", "null", "null"],
        ["b", "100.000", "90.000", "10.000"],
        ["c", "null", "null", "null"],
        ["d", "150.000", "null", "null"],
    ];
    let expected = expected.map(|reported| reported.map(|field| field.trim_end_matches(".000").to_owned()));
    let reported: Vec<_> = reported
        .into_iter()
        .map(|reported| reported.map(|field| field.trim_end_matches(".000").trim_end_matches(".0").to_owned()))
        .collect();
    assert_eq!(reported, expected);
}

/// A host whose clock was not set states a start of 1970.
#[test]
fn a_start_of_an_unset_clock_spreads_no_hours_over_the_years() {
    let start = "\"StartTime\":\"2026-03-01T00:00:00Z\"";
    let unset = "\"StartTime\":\"1970-01-01T00:00:10Z\"";
    let ends = ["2026-02-28T23:20:00Z", "2026-03-14T09:00:00Z"];
    let documents = (1..).zip(ends).map(|(id, end)| {
        let document = raw(id, "coral", "coral", "\"WallDuration\":3600,\"CpuDuration\":7200");
        document.replace(start, unset).replace("2026-03-01T01:00:00Z", end)
    });
    let scene = lake(&documents.collect::<String>());
    let usage = all(&scene.path("out"), "usage");
    let month = usage.column_by_name("month").unwrap().as_primitive::<Date32Type>();
    let months: BTreeMap<i32, i64> = (0..usage.num_rows())
        .map(|row| (month.value(row), int(&usage, "wall_s", row).unwrap()))
        .collect();
    // February and March of 2026, in days since 1970. The first ran for 40 minutes of February in Zurich.
    assert_eq!(months, BTreeMap::from([(20_485, 2400), (20_513, 1200 + 3600)]));
    let records = all(&scene.path("out"), "records");
    let stated = time(&records, "start_utc").unwrap();
    assert_eq!(stated.value(0), 10_000, "what was stated stays");
}

/// Words that GRACC groups by are written as it writes them, and unknown cores are taken for one.
#[test]
fn documents_for_gracc_keep_its_words() {
    let fields = "\"WallDuration\":3600,\"CpuDuration\":100";
    let kind = |n, word: &str| raw(n, "a", "a", &format!("{fields},\"ResourceType\":\"{word}\""));
    let words = [
        "Batch",
        "Payload",
        "Storage",
        "GridMonitor",
        "OneVM",
        "AWSVM",
        "RawCPU",
        "Backfill",
        "Transfer",
    ];
    let of_words = (1..).zip(words).map(|(n, word)| kind(n, word)).collect::<String>();
    let other = raw(20, "a", "reportable", &format!("{fields},\"ResourceType\":\"Batch\""));
    let unknown = raw(21, "z", "z", &format!("{fields},\"ResourceType\":\"Batch\""));
    let unknown = unknown.replace("\"Processors\":4", "\"Processors\":0");
    let scene = lake(&[of_words, other, unknown].concat());
    let lake = Lake::open(scene.path("out").to_str().unwrap()).unwrap();
    let table = gracc::table(&lake, &Selection::default(), &Users::Withhold).unwrap().0;
    let documents: Vec<_> = objects(&table)
        .unwrap()
        .iter()
        .map(|text| gracc::fields_of(text))
        .collect();
    let mut found: Vec<&str> = documents.iter().map(|fields| fields["ResourceType"].as_str()).collect();
    found.sort_unstable();
    found.dedup();
    let mut expected = words.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let of = |vo: &str, reportable: &str| {
        let mut found = documents.iter().filter(|fields| {
            fields["VOName"] == vo && fields["ReportableVOName"] == reportable && fields["ResourceType"] == "Batch"
        });
        let fields = found.next().unwrap();
        assert!(found.next().is_none());
        (fields["Processors"].as_str(), fields["CoreHours"].trim_end_matches('0'))
    };
    assert_eq!(of("a", "a"), ("4", "4."));
    assert_eq!(of("a", "reportable"), ("4", "4."));
    assert_eq!(of("z", "z"), ("1", "1."));
}
