//! Whole runs over real dumps give what the systems they come from report.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gridtally::run::RunOptions;
use gridtally::sources::instant::rfc3339_ms;

use super::scene::{Pipeline, Scene, Source};
use super::tables::{all, int, text};
use crate::support::collect::shared;

/// account -> TRES -> seconds, as `sreport cluster AccountUtilizationByUser` prints them.
type Reported = BTreeMap<String, BTreeMap<&'static str, i64>>;

/// `sreport` name of a TRES, and the column of `usage`.
const TRES: &[(&str, &str)] = &[
    ("cpu", "alloc_core_s"),
    ("gres/gpu", "alloc_gpu_s"),
    ("billing", "alloc_billing_s"),
    ("node", "alloc_node_s"),
];

/// Users' rows are leaves; rows without a login are the sums of an account and everything below it.
fn sreport(file: &Path) -> Reported {
    let mut reported = Reported::new();
    for line in fs::read_to_string(file).unwrap().lines() {
        let fields: Vec<_> = line.split('|').collect();
        let ["zoo24", account, login, _, tres, used] = fields[..] else {
            continue;
        };
        let Some((_, column)) = TRES.iter().find(|(name, _)| *name == tres) else {
            continue;
        };
        let used: i64 = used.parse().unwrap();
        let account = match (account, login) {
            ("root", "") => "all",
            (_, "") => continue,
            (account, _) => account,
        };
        *reported
            .entry(account.to_owned())
            .or_default()
            .entry(*column)
            .or_default() += used;
    }
    reported
}

fn used(lake: &Path, period: &str, first_day: i64) -> Reported {
    let usage = all(lake, "usage");
    let mut used = Reported::new();
    for row in (0..usage.num_rows()).filter(|row| int(&usage, period, *row) == Some(first_day)) {
        for account in [text(&usage, "account", row).unwrap(), "all".to_owned()] {
            for (_, column) in TRES {
                let of = used.entry(account.clone()).or_default().entry(*column).or_default();
                *of += int(&usage, column, row).unwrap_or(0);
            }
        }
    }
    used
}

fn day(text: &str) -> i64 {
    rfc3339_ms(&format!("{text}T00:00:00Z")).unwrap() / 86_400_000
}

#[test]
fn usage_of_a_month_and_of_the_day_the_clocks_change_is_what_sreport_states() {
    let test = "usage_of_a_month_and_of_the_day_the_clocks_change_is_what_sreport_says";
    let Some(folder) = shared(test, "data/slurm/24.11-history") else {
        return;
    };
    let scene = Scene::empty();
    let dump = folder.join("sacct_months_D_P.txt.xz");
    let pipeline = Pipeline::of(Source {
        name: "zoo",
        paths: vec![dump.to_str().unwrap().to_owned()],
        keys: "format = \"sacct\"\nsite = \"ZOO\"\ntimezone = \"Europe/Zurich\"\nvo = { column = \"account\" }\n"
            .to_owned(),
    })
    .with("max_rejected", "0");
    scene.run(&pipeline, "months");
    assert_eq!(
        used(&scene.path("months"), "month", day("2026-10-01")),
        sreport(&folder.join("sreport_acct_util_by_user.txt"))
    );
    scene.run(&pipeline.with("grain", "\"day\""), "days");
    let out = scene.path("days");
    assert_eq!(
        used(&out, "day", day("2026-10-25")),
        sreport(&folder.join("sreport_dstday_acct_util_by_user.txt"))
    );
    // Days add up to their month.
    assert_eq!(
        used(&out, "month", day("2026-10-01")),
        sreport(&folder.join("sreport_acct_util_by_user.txt"))
    );
    assert_eq!(scene.findings("days"), []);
}

/// view -> (documents, wall s, CPU ms, core hours in millionths)
type Totals = BTreeMap<String, (i64, i64, i64, i64)>;

fn totals(lake: &Path) -> Totals {
    let usage = all(lake, "usage");
    let mut totals: BTreeMap<String, (i64, i64, i64, i64)> = BTreeMap::new();
    for row in 0..usage.num_rows() {
        let of = totals.entry(text(&usage, "view", row).unwrap()).or_default();
        of.0 += int(&usage, "job_n", row).unwrap();
        of.1 += int(&usage, "wall_s", row).unwrap();
        of.2 += int(&usage, "cpu_ms", row).unwrap_or(0);
        of.3 += int(&usage, "alloc_core_s", row).unwrap();
    }
    for of in totals.values_mut() {
        of.3 = (of.3 * 1_000_000 + 1_800) / 3_600;
    }
    totals
}

#[test]
fn grid_index_dumps_come_to_their_golden_totals() {
    let Some(folder) = shared("grid_index_dumps_come_to_their_golden_totals", "data/gracc/es-dump") else {
        return;
    };
    let golden = [
        (
            "raw2-2016.06.ndjson.gz",
            [
                ("batch", (355, 6_813_777, 8_577_071_900, 3_334_506_944)),
                ("payload", (433, 1_503_854, 724_732_000, 425_457_222)),
            ],
            212,
        ),
        (
            "raw2-2016.07.ndjson.gz",
            [
                ("batch", (295, 3_028_874, 5_425_520_510, 2_440_786_944)),
                ("payload", (571, 2_223_689, 1_781_748_000, 628_632_222)),
            ],
            134,
        ),
    ];
    for (file, views, storage) in golden {
        let scene = Scene::empty();
        let pipeline = Pipeline::of(Source {
            name: "index",
            paths: vec![folder.join(file).to_str().unwrap().to_owned()],
            keys: "format = \"gracc\"\n".to_owned(),
        })
        .with("attribution", "\"by-end\"")
        .with("calendar_timezone", "\"UTC\"");
        let report = scene.run(&pipeline, "lake");
        assert_eq!(report.rows_read_n, 1_000);
        let expected: Totals = views.map(|(view, totals)| (view.to_owned(), totals)).into();
        let mut found = totals(&scene.path("lake"));
        found.retain(|view, _| view != "storage");
        assert_eq!(found, expected, "{file}: {:?}", report.reasons);
        let jobs: i64 = views.iter().map(|(_, totals)| totals.0).sum();
        assert_eq!(jobs + storage, 1_000);
        assert_eq!(scene.findings("lake"), []);
    }
}

/// The columns that records and the server's table share, in the server's terms.
fn stored(row: &BTreeMap<String, String>) -> BTreeMap<&'static str, Option<String>> {
    let word = |key: &str| Some(row[key].clone()).filter(|value| value != "None" && value != "\\N");
    let time = |key: &str| rfc3339_ms(&format!("{}Z", row[key].replace(' ', "T"))).map(|ms| ms.to_string());
    let positive = |key: &str| word(key).filter(|n| n != "0");
    BTreeMap::from([
        ("cluster", word("MachineName")),
        ("submit_host", word("SubmitHost")),
        ("partition", word("Queue")),
        ("job_id", word("LocalJobId")),
        ("user", word("LocalUserId")),
        ("global_user", word("GlobalUserName")),
        // The server keeps one spelling per VO, the first it saw.
        ("vo", word("VO").map(|vo| vo.to_lowercase())),
        ("vo_group", word("VOGroup")),
        ("vo_role", word("VORole")),
        ("wall_s", word("WallDuration")),
        (
            "cpu_ms",
            word("CpuDuration").map(|s| (s.parse::<i64>().unwrap() * 1000).to_string()),
        ),
        ("alloc_core_n", positive("Processors")),
        ("alloc_node_n", positive("NodeCount")),
        ("start_utc", time("StartTime")),
        ("end_utc", time("EndTime")),
        ("infrastructure", word("InfrastructureType")),
    ])
}

#[test]
fn grid_messages_become_what_the_server_stored() {
    let Some(golden) = shared("grid_messages_become_what_the_server_stored", "data/apel/golden") else {
        return;
    };
    let scene = Scene::empty();
    for entry in fs::read_dir(golden.join("messages")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name.as_str() < "0005" {
            scene.write(&format!("in/{name}"), &fs::read(entry.path()).unwrap());
        }
    }
    let pipeline = Pipeline::of(Source {
        name: "messages",
        paths: vec!["in".to_owned()],
        keys: "format = \"apel\"\nacceptance = \"strict-apel\"\n".to_owned(),
    })
    .with("max_rejected", "0");
    scene.run(&pipeline, "lake");
    let mut reader = csv::Reader::from_path(golden.join("VJobRecords.csv")).unwrap();
    let rows = reader.deserialize().map(Result::<BTreeMap<String, String>, _>::unwrap);
    // One job came to the server as XML.
    let mut expected: Vec<_> = rows
        .filter(|row| row["LocalJobId"] != "jobid10")
        .map(|row| stored(&row))
        .collect();
    let records = all(&scene.path("lake"), "records");
    let columns: Vec<_> = expected[0].keys().copied().collect();
    let mut found: Vec<BTreeMap<_, _>> = (0..records.num_rows())
        .map(|row| {
            let value = |name: &str| {
                let is_number = ["_s", "_ms", "_n", "_utc"].iter().any(|unit| name.ends_with(unit));
                match name {
                    _ if is_number => int(&records, name, row).map(|n| n.to_string()),
                    "vo" => text(&records, name, row).map(|vo| vo.to_lowercase()),
                    _ => text(&records, name, row),
                }
            };
            columns.iter().map(|name| (*name, value(name))).collect()
        })
        .collect();
    expected.sort();
    found.sort();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(scene.findings("lake"), []);
}

/// Its own golden case, made from the sample: the second of three records is bad.
#[test]
fn one_bad_record_refuses_its_message_or_itself() {
    let scene = Scene::sample();
    let run = |acceptance: &str, out: &str| {
        let pipeline = Pipeline::of(Source {
            name: "messages",
            paths: vec!["data/bay/apel/6a1e3920/6a1e39390000c3".to_owned()],
            keys: format!("format = \"apel\"\nacceptance = \"{acceptance}\"\n"),
        });
        let report = scene.run_with(&pipeline, out, RunOptions::default());
        assert_eq!(scene.findings(out), []);
        report
    };
    let strict = run("strict-apel", "strict");
    let reasons = |pairs: &[(&str, u64)]| pairs.iter().map(|(reason, n)| ((*reason).to_owned(), *n)).collect();
    let expected: BTreeMap<String, u64> = reasons(&[("rejected/bad_duration", 1), ("rejected/message_refused", 2)]);
    assert_eq!(strict.reasons, expected);
    assert_eq!(all(&scene.path("strict"), "records").num_rows(), 0);
    let rejects = all(&scene.path("strict"), "rejects");
    let details: Vec<_> = (0..rejects.num_rows())
        .map(|row| {
            (
                text(&rejects, "reason", row).unwrap(),
                text(&rejects, "raw", row).unwrap(),
            )
        })
        .collect();
    assert_eq!(details.len(), 3);
    for (reason, raw) in &details {
        assert_eq!(
            reason == "bad_duration",
            raw.contains("CpuDuration: 12.5 h"),
            "{details:?}"
        );
    }
    let salvage = run("salvage", "salvage");
    let expected: BTreeMap<String, u64> = reasons(&[("accepted/job", 2), ("rejected/bad_duration", 1)]);
    assert_eq!(salvage.reasons, expected);
    assert_eq!(all(&scene.path("salvage"), "records").num_rows(), 2);
}
