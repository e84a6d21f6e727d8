//! Messages for APEL: the round trip of every kind, and the golden set of the real server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gridtally::error::Kind;
use gridtally::record::{Summary, SummaryKind};
use gridtally::report::apel::MessageKind;
use gridtally::report::apel::check::message;
use gridtally::report::apel::publish::{ApelRequest, publish};
use gridtally::report::apel::users::Users;
use gridtally::report::lake::{Lake, Selection};

use super::scene::{Scene, texts};
use crate::support::collect::shared;
use crate::support::lake_rows::{summary_number, summary_word};

/// What a lake's usage of APEL origin comes to, by site and month: jobs, wall seconds, CPU seconds.
fn totals(lake: &Lake) -> BTreeMap<(String, String), (i64, i64, i64)> {
    use gridtally::schema::batch::{date, int};
    let mut sums: BTreeMap<(String, String), (i64, i64, i64)> = BTreeMap::new();
    for file in lake.manifest.dataset("usage") {
        let (site, _, _) = gridtally::store::lake::parse_usage_path(&file.path).unwrap();
        for batch in lake.batches(&file.path, None).unwrap() {
            let batch = batch.unwrap();
            let month = date(&batch, "month").unwrap();
            let columns = ["job_n", "wall_s", "cpu_ms"].map(|name| int(&batch, name).unwrap());
            for row in 0..batch.num_rows() {
                let month = gridtally::time::Month::of_day(month.value(row)).unwrap().to_string();
                let sum = sums.entry((site.to_lowercase(), month)).or_default();
                sum.0 += columns[0].value(row);
                sum.1 += columns[1].value(row);
                sum.2 += columns[2].value(row) / 1000;
            }
        }
    }
    sums
}

fn golden_jobs() -> Option<Vec<PathBuf>> {
    let folder = shared("golden", "data/apel/golden/messages")?;
    let names = [
        "0001-job-v0.3-grid.msg",
        "0002-job-v0.4-dict.msg",
        "0003-job-v0.3-local.msg",
        "0004-job-v0.3-republish.msg",
        "0009-car.xml",
    ];
    Some(names.iter().map(|name| folder.join(name)).collect())
}

fn is_usage(kind: MessageKind) -> bool {
    kind != MessageKind::Sync
}

#[test]
fn what_is_sent_and_read_back_comes_to_the_same() {
    let Some(files) = golden_jobs() else { return };
    let scene = Scene::new();
    let lake = scene.of_messages("first", &[&files[1]]);
    let before = totals(&lake);
    assert!(before.len() > 10, "{before:?}");
    for kind in MessageKind::ALL {
        let folder = kind.as_str().to_owned();
        let published = scene.send(&lake, kind, &folder);
        let mut records = 0;
        for text in texts(&scene.path(&folder)) {
            assert_eq!(message(&text, None), [], "{text}");
            assert!(text.starts_with(kind.header()));
            records += i64::try_from(text.matches("%%").count()).unwrap();
            assert!(text.matches("%%").count() <= 100);
        }
        assert_eq!(records, published.sent.values().map(|sent| sent.record_n).sum::<i64>());
        let sent_jobs: i64 = published.sent.values().map(|sent| sent.job_n).sum();
        let jobs: i64 = before.values().map(|sums| sums.0).sum();
        assert_eq!(sent_jobs, jobs, "{folder}");
        let again = scene.send(&lake, kind, &format!("{folder}-again"));
        assert_eq!(again.sent, published.sent);
        assert_eq!(
            texts(&scene.path(&folder)),
            texts(&scene.path(&format!("{folder}-again")))
        );
        let back = scene.of_messages(&format!("{folder}-lake"), &[&scene.path(&folder)]);
        if is_usage(kind) {
            assert_eq!(totals(&back), before, "{folder}");
        } else {
            let counted: i64 = (back.summaries(&Selection::default()).unwrap().iter())
                .filter_map(|row| row.numbers.sync_job_n)
                .sum();
            assert_eq!(counted, jobs);
        }
        // What was received added up is sent on as it came.
        if is_usage(kind) && !kind.is_job() {
            scene.send(&back, kind, &format!("{folder}-on"));
            let sorted = |folder: &str| {
                let text = texts(&scene.path(folder)).concat();
                let mut records: Vec<String> = text.split("%%\n").map(str::to_owned).collect();
                records.sort();
                records
            };
            assert_eq!(sorted(&format!("{folder}-on")), sorted(&folder), "{folder}");
        }
    }
}

type Golden = BTreeMap<String, (i64, i64, i64, i64, i64, String, String)>;

fn golden_rows(file: &str, keys: &[&str]) -> Golden {
    let path = shared("golden", "data/apel/golden").unwrap().join(file);
    let mut reader = csv::Reader::from_path(path).unwrap();
    let mut rows = Golden::new();
    for row in reader.deserialize::<BTreeMap<String, String>>() {
        let row = row.unwrap();
        if row["Site"].starts_with("SUMSITE") {
            continue; // what arrived as summaries
        }
        let number = |key: &str| row[key].parse::<i64>().unwrap();
        let key: Vec<String> = keys.iter().map(|key| row[*key].to_lowercase()).collect();
        let value = (
            number("NumberOfJobs"),
            number("WallDuration"),
            number("CpuDuration"),
            number("NormalisedWallDuration"),
            number("NormalisedCpuDuration"),
            row["EarliestEndTime"].clone(),
            row["LatestEndTime"].clone(),
        );
        assert!(rows.insert(key.join("|"), value).is_none(), "{key:?}");
    }
    rows
}

fn instant(row: &Summary, name: &str) -> String {
    let at = jiff::Timestamp::from_millisecond(summary_number(row, name).unwrap()).unwrap();
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The key of a row of ours as the server spells it.
fn key(row: &Summary, with_level: bool) -> String {
    let word = |name: &str| summary_word(row, name).unwrap_or("None").to_owned();
    let month = row.month.to_string();
    let mut parts = vec![
        row.site.clone(),
        month[..4].to_owned(),
        month[5..].trim_start_matches('0').to_owned(),
    ];
    parts.extend(
        [
            "global_user",
            "vo",
            "vo_group",
            "vo_role",
            "submit_host",
            "infrastructure",
        ]
        .map(word),
    );
    parts.push(word("service_level_type"));
    if with_level {
        let milli = row.numbers.benchmark_per_core.unwrap();
        parts.push(format!("{}.{:03}", milli / 1000, milli % 1000));
    }
    for name in ["alloc_node_n", "alloc_core_n"] {
        parts.push(summary_number(row, name).unwrap_or(0).to_string());
    }
    parts.join("|").to_lowercase()
}

const KEYS: [&str; 13] = [
    "Site",
    "Year",
    "Month",
    "GlobalUserName",
    "VO",
    "VOGroup",
    "VORole",
    "SubmitHost",
    "Infrastructure",
    "ServiceLevelType",
    "ServiceLevel",
    "NodeCount",
    "Processors",
];

/// The summaries we would send of the golden jobs are what the real server made of the same jobs.
#[test]
fn our_summaries_equal_what_the_server_derived() {
    let Some(files) = golden_jobs() else { return };
    let scene = Scene::new();
    let files: Vec<_> = files.iter().map(PathBuf::as_path).collect();
    let lake = scene.of_messages("first", &files);
    for (kind, file) in [
        (MessageKind::SummaryV02, "HybridSuperSummaries.csv"),
        (MessageKind::NormalisedV03, "VNormalisedSuperSummaries.csv"),
    ] {
        let with_level = kind == MessageKind::SummaryV02;
        let keys: Vec<&str> = KEYS
            .into_iter()
            .filter(|key| with_level || *key != "ServiceLevel")
            .collect();
        let mut golden = golden_rows(file, &keys);
        assert!(golden.len() > 1700, "{}", golden.len());
        scene.send(&lake, kind, kind.as_str());
        let back = scene.of_messages(&format!("{}-lake", kind.as_str()), &[&scene.path(kind.as_str())]);
        for row in back.summaries(&Selection::default()).unwrap() {
            let key = key(&row, with_level);
            let expected = golden.remove(&key).unwrap_or_else(|| panic!("{key} is not in {file}"));
            let number = |name: &str| summary_number(&row, name).unwrap();
            let (wall, cpu) = if with_level {
                // The server's arithmetic on one summary: level in thousandths, Si2k by 250, half up.
                let unit = if row.words.benchmark.as_deref() == Some("si00") {
                    250_000
                } else {
                    1000
                };
                let work = |s: i64| (s * number("benchmark_per_core") + unit / 2) / unit;
                (work(number("wall_s")), work(number("cpu_ms") / 1000))
            } else {
                assert_eq!(row.kind, SummaryKind::NormalisedSummary);
                (number("normalised_wall_s"), number("normalised_cpu_s"))
            };
            let ours = (
                number("job_n"),
                number("wall_s"),
                number("cpu_ms") / 1000,
                wall,
                cpu,
                instant(&row, "earliest_end_utc"),
                instant(&row, "latest_end_utc"),
            );
            assert_eq!(ours, expected, "{key}");
        }
        assert_eq!(golden, Golden::new(), "{file} has rows we would not send");
    }
}

const SACCT: &str = "JobIDRaw|JobID|Cluster|Submit|Start|End|ElapsedRaw|State|NCPUS|NNodes|AllocTRES|TotalCPU|Account|User|Partition\n\
    1|1|alp|2026-03-01T10:00:00|2026-03-31T22:00:00|2026-04-01T01:00:00|10800|COMPLETED|2|1|cpu=2|05:00:00.400|reef|anna|main\n\
    2|2|alp|2026-03-01T10:00:00|2026-03-01T11:00:00|2026-03-01T12:00:00|3600|COMPLETED|2|1|cpu=2|01:00:00.500|reef|anna|main\n\
    3|3|alp|2026-03-01T10:00:00|2026-03-01T11:00:00|2026-03-01T12:00:00|3600|COMPLETED|2|1|cpu=2|01:00:00.500|reef|bert|main\n\
    4|4|alp|2026-03-01T10:00:00|None|2026-03-01T12:00:00|0|CANCELLED|2|1||00:00:00|reef|bert|main\n";

/// A Slurm site: months by the end, benchmarks of the pipeline, no names.
#[test]
fn a_slurm_site_sends_by_end_with_the_benchmarks_of_its_pipeline() {
    let scene = Scene::new();
    scene.write("dump.txt", SACCT);
    scene.write(
        "b.csv",
        "site,cluster,benchmark,value_per_core,valid_from,valid_to\nALP,,hs06,10.5,,\nALP,,hs23,12.0004,,\n",
    );
    let source = "format = \"sacct\"\npaths = [\"dump.txt\"]\nsite = \"ALP\"\ntimezone = \"UTC\"\nvo = { column = \"account\" }\n";
    let lake = scene.lake(
        "alp",
        source,
        "[normalise]\nbenchmarks = \"b.csv\"\nmissing = \"null\"\n",
    );
    let mut texts = Vec::new();
    let request = ApelRequest {
        kinds: vec![MessageKind::SummaryV04, MessageKind::NormalisedV03, MessageKind::Sync],
        batch_records: 1000,
        ..ApelRequest::default()
    };
    publish(&lake, &request, &mut |_, _, month, _, text| {
        texts.push(format!("{month}\n{text}"));
        Ok(())
    })
    .unwrap();
    let march = "2026-03\nAPEL-summary-job-message: v0.4\nSite: ALP\nMonth: 3\nYear: 2026\nVO: reef\nNodeCount: 1\n\
                 Processors: 2\nEarliestEndTime: 1772366400\nLatestEndTime: 1772366400\nWallDuration: 7200\n\
                 CpuDuration: 7201\nServiceLevel: {HEPSPEC: 10.5, HEPscore23: 12}\nNumberOfJobs: 2\n%%\n";
    assert_eq!(texts[0], march);
    assert!(
        texts[1].contains("Month: 4\n") && texts[1].contains("CpuDuration: 18000\n"),
        "{}",
        texts[1]
    );
    assert!(
        texts[2]
            .contains("ServiceLevelType: HEPscore23\nNormalisedWallDuration: 86400\nNormalisedCpuDuration: 86412\n")
    );
    assert_eq!(
        texts[4],
        "2026-03\nAPEL-sync-message: v0.1\nSite: ALP\nNumberOfJobs: 2\nMonth: 3\nYear: 2026\n%%\n"
    );
    assert_eq!(texts.len(), 6);
}

/// The benchmark of this site is unknown, and none is invented.
#[test]
fn usage_without_a_benchmark_is_not_sent_silently() {
    let scene = Scene::new();
    scene.write("dump.txt", SACCT);
    let source = "format = \"sacct\"\npaths = [\"dump.txt\"]\nsite = \"ALP\"\ntimezone = \"UTC\"\n";
    let lake = scene.lake("alp", source, "");
    let blind = ApelRequest {
        kinds: vec![MessageKind::SummaryV04],
        ..ApelRequest::default()
    };
    let error = publish(&lake, &blind, &mut |_, _, _, _, _| Ok(())).unwrap_err();
    assert_eq!(error.kind(), Kind::Data);
    assert!(error.to_string().contains("3 benchmark_missing"), "{error}");
    let blind = ApelRequest {
        is_leaving_out: true,
        ..blind
    };
    let published = publish(&lake, &blind, &mut |_, _, _, _, _| {
        panic!("no message can be published")
    })
    .unwrap();
    assert_eq!(
        published.left_out_lines()[0],
        "summary-v0.4: 1 jobs left out: never_started"
    );
}

#[test]
fn names_are_withheld_replaced_or_kept() {
    let Some(files) = golden_jobs() else { return };
    let scene = Scene::new();
    let lake = scene.of_messages("first", &[&files[1]]);
    let sent = |users: Users| {
        let mut all = String::new();
        let request = ApelRequest {
            kinds: vec![MessageKind::JobV03],
            users,
            batch_records: 1000,
            ..ApelRequest::default()
        };
        publish(&lake, &request, &mut |_, _, _, _, text| {
            all.push_str(&text);
            Ok(())
        })
        .unwrap();
        all
    };
    let kept = sent(Users::Keep);
    assert!(kept.contains("GlobalUserName: /DC=org/DC=example/CN=robot cms\n") && kept.contains("LocalUserId: user"));
    let withheld = sent(Users::Withhold);
    assert!(withheld.contains("GlobalUserName: withheld\n"));
    assert!(!withheld.contains("robot") && !withheld.contains("LocalUserId"));
    assert_eq!(
        kept.matches("GlobalUserName").count(),
        withheld.matches("GlobalUserName").count()
    );
}
