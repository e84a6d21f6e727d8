//! Names that a pipeline withholds are nowhere in its lake: not in a column, a footer, a ledger, a refusal, a run, a
//! leftover.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use gridtally::config::Plan;
use gridtally::error::Kind;
use gridtally::run::RunOptions;
use gridtally::run::run_report::Status;
use gridtally::store::{footer, read_table};

use super::scene::{Scene, assert_same, lake_hash};
use super::tables::{all, text};

const KEY: &str = "a key that only the accounting office knows\n";

/// Names of people; each is in a field that `[privacy]` withholds, once in the right column, and once
/// where damage has put it.
const NAMES: [&str; 8] = [
    "wendeline",
    "CN=Wendeline Quark",
    "ottokar77",
    "quarkgroup",
    "thesis-of-wendeline",
    "Ottokar Zwirn",
    "zwirn@home.example",
    "poor-ottokar",
];

fn scene() -> Scene {
    let scene = Scene::empty();
    let header = "Cluster|JobIDRaw|JobID|JobName|Account|Group|User|Submit|Start|End|ElapsedRaw|State|NCPUS|AllocTRES|\
                  TotalCPU\n";
    let job = |id: u32, name: &str, user: &str, start: &str, end: &str, elapsed: &str| {
        format!(
            "c1|{id}|{id}|{name}|firn|quarkgroup|{user}|{start}|{start}|{end}|{elapsed}|COMPLETED|4|cpu=4|01:00:00\n"
        )
    };
    let sacct = [
        header.to_owned(),
        job(
            1,
            "thesis-of-wendeline",
            "wendeline",
            "2026-01-10T10:00:00",
            "2026-01-10T11:00:00",
            "3600",
        ),
        job(
            2,
            "run",
            "wendeline",
            "2026-02-10T10:00:00",
            "2026-02-10T11:00:00",
            "3600",
        ),
        job(
            3,
            "run",
            "wendeline",
            "2026-04-10T10:00:00",
            "2026-04-10T11:00:00",
            "3600",
        ),
        job(
            4,
            "run",
            "ottokar77",
            "2026-04-10T10:00:00",
            "2026-04-10T11:00:00",
            "3600",
        ),
        // Recorded twice, once with more columns: history keeps the other.
        job(
            4,
            "run",
            "ottokar77",
            "2026-04-10T10:00:00",
            "2026-04-10T12:00:00",
            "7200",
        ),
        // The name is in place of a number: the detail of the refusal would contain it.
        job(
            5,
            "run",
            "ottokar77",
            "2026-04-10T10:00:00",
            "2026-04-10T11:00:00",
            "poor-ottokar",
        ),
        // A number beyond belief: refused by the records room.
        job(
            6,
            "thesis-of-wendeline",
            "wendeline",
            "2026-04-10T10:00:00",
            "2026-04-10T11:00:00",
            "99999999999",
        ),
        // Too many fields.
        "c1|7|7|poor-ottokar|a|b|c|wendeline\n".to_owned(),
    ]
    .concat();
    scene.write("data/slurm.txt", sacct.as_bytes());
    let record = |id: u32, dn: &str, wall: &str| {
        format!(
            "Site: BAY\nSubmitHost: ce\nMachineName: m\nQueue: q\nLocalJobId: {id}\nLocalUserId: ottokar77\n\
             GlobalUserName: {dn}\nFQAN: /firn\nWallDuration: {wall}\nCpuDuration: 10\nProcessors: 1\nNodeCount: 1\n\
             StartTime: 1769608257\nEndTime: 1769625237\nInfrastructureDescription: X\nInfrastructureType: grid\n\
             MemoryReal: 1\nMemoryVirtual: 1\nServiceLevelType: HEPSPEC\nServiceLevel: 11.25\n%%\n"
        )
    };
    let apel = format!(
        "APEL-individual-job-message: v0.3\n{}{}Ottokar Zwirn: what is this\n%%\n",
        record(1, "/DC=example/CN=Wendeline Quark", "100"),
        record(2, "/DC=example/CN=Wendeline Quark", "zwirn@home.example"),
    );
    scene.write("data/apel.msg", apel.as_bytes());
    let gracc = concat!(
        r#"{"_index":"i","_id":"aa","_source":{"SiteName":"BAY","DN":"/DC=example/CN=Wendeline Quark","#,
        r#""CommonName":"/CN=Ottokar Zwirn","ResourceType":"Batch","ProbeName":"p:ce","WallDuration":100,"#,
        r#""CpuDuration":90,"Processors":1,"StartTime":"2026-01-08T01:12:43Z","EndTime":"2026-01-08T10:51:07Z","#,
        r#""LocalUserId":"ottokar77","GlobalUsername":"zwirn@home.example","JobName":"poor-ottokar","#,
        r#""LocalJobId":"7","GlobalJobId":"condor.ottokar77@ce#7.0#9","VOName":"/kelp","ReportableVOName":"kelp","@received":"2026-01-08T23:18:22Z"}}"#,
        "\n",
        r#"{"_index":"i","_id":"bb","_source":{"DN":"/DC=example/CN=Wendeline Quark","oh": Ottokar Zwirn}}"#,
        "\n",
    );
    scene.write("data/gracc.ndjson", gracc.as_bytes());
    add_records(&scene);
    scene.write("data/noise.bin", b"\x1f\x8bwendeline was here, ottokar77 too");
    scene.write("key", KEY.as_bytes());
    scene
}

/// Names outside of job records.
fn add_records(scene: &Scene) {
    let summary = "APEL-summary-job-message: v0.2\nSite: COVE\nMonth: 1\nYear: 2026\nGlobalUserName: \
                   /DC=example/CN=Wendeline Quark\nVO: firn\nVOGroup: /firn\nVORole: None\nSubmitHost: ce\n\
                   InfrastructureType: grid\nServiceLevelType: HEPSPEC\nServiceLevel: 10\nNodeCount: 1\n\
                   Processors: 1\nEarliestEndTime: 1767225600\nLatestEndTime: 1768000000\nWallDuration: 100\n\
                   CpuDuration: 90\nNumberOfJobs: 3\n%%\n";
    scene.write("data/summary.msg", summary.as_bytes());
    let associations =
        "Cluster|Account|User|Partition|Share|QOS|Def QOS\nc1|root||||normal|\nc1|firn|wendeline||1|normal|\n";
    scene.write("data/assoc.txt", associations.as_bytes());
    let events = "Cluster|NodeName|Cluster Nodes|TimeStart|TimeEnd|State|Reason|User|TRES\n\
                  c1|n1||2026-01-01T00:00:00|2026-01-02T00:00:00|DOWN|asked by poor-ottokar|ottokar77(77)|cpu=4\n";
    scene.write("data/events.txt", events.as_bytes());
}

const SOURCES: &str = r#"
[pipeline]
name = "night"
output = "out"
max_rejected = 1.0
[[source]]
name = "slurm"
format = "sacct"
paths = ["data/slurm.txt"]
site = "ALP"
timezone = "UTC"
vo = { column = "account" }
[[source]]
name = "apel"
format = "apel"
paths = ["data/apel.msg"]
acceptance = "salvage"
[[source]]
name = "gracc"
format = "gracc"
paths = ["data/gracc.ndjson"]
[[source]]
name = "noise"
format = "auto"
site = "ALP"
paths = ["data/noise.bin"]
[[source]]
name = "summaries"
format = "apel"
paths = ["data/summary.msg"]
[[inventory]]
name = "machine"
paths = ["data/assoc.txt", "data/events.txt"]
timezone = "UTC"
as_of = "2026-01-01"
"#;

const PSEUDONYMS: &str = "[privacy]\nglobal_user = \"pseudonym\"\nuser = \"pseudonym\"\nuser_group = \"drop\"\n\
                          job_name = \"pseudonym\"\nrotate = \"quarter\"\nkey = { file = \"key\" }\n";
const DROPS: &str = "[privacy]\nglobal_user = \"drop\"\nuser = \"drop\"\nuser_group = \"drop\"\njob_name = \"drop\"\n";

fn run(scene: &Scene, privacy: &str, out: &str) -> gridtally::error::Result<Status> {
    scene.write("night.toml", format!("{SOURCES}{privacy}").as_bytes());
    let options = RunOptions {
        // Little memory: candidates go through a file.
        memory_byte_n: Some(1),
        ..RunOptions::default()
    };
    let report = scene.run_file("night.toml", out, options)?;
    if !privacy.is_empty() {
        // The report of a run is read by programs that keep it.
        no_name(serde_json::to_vec(&report).unwrap().as_slice(), "the report", NAMES);
        no_name(report.text().as_bytes(), "the report", NAMES);
    }
    Ok(report.status)
}

fn no_name<const N: usize>(bytes: &[u8], place: &str, names: [&str; N]) {
    for name in names {
        let is_there = memchr::memmem::find(&bytes.to_ascii_lowercase(), name.to_ascii_lowercase().as_bytes());
        assert!(is_there.is_none(), "{place} contains {name:?}");
    }
}

fn words(batch: &RecordBatch) -> String {
    let mut words = String::new();
    for column in batch.columns() {
        if column.data_type() == &DataType::Utf8 {
            for word in column.as_string::<i32>().iter().flatten() {
                words.push_str(word);
                words.push('\n');
            }
        }
    }
    words
}

/// Every byte of a lake and of its machinery, and every text that packing hides.
fn everything(lake: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![lake.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            found.push((
                format!("the name {}", path.display()),
                entry.file_name().into_encoded_bytes(),
            ));
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
            if path.extension().is_some_and(|extension| extension == "parquet") {
                for (key, value) in footer(&File::open(&path).unwrap()).unwrap() {
                    found.push((
                        format!("{} footer", path.display()),
                        format!("{key}={value}").into_bytes(),
                    ));
                }
                for batch in read_table(File::open(&path).unwrap(), None, 8192).unwrap() {
                    found.push((
                        format!("{} columns", path.display()),
                        words(&batch.unwrap()).into_bytes(),
                    ));
                }
            }
        }
    }
    found
}

#[test]
fn withheld_names_are_nowhere() {
    let scene = scene();
    run(&scene, "", "open").ok();
    let open: Vec<u8> = everything(&scene.path("open"))
        .into_iter()
        .flat_map(|(_, bytes)| bytes)
        .collect();
    for name in NAMES {
        let is_there = memchr::memmem::find(&open, name.as_bytes()).is_some();
        assert!(
            is_there,
            "without privacy {name:?} should be found, or this test proves nothing"
        );
    }
    for (privacy, out) in [(PSEUDONYMS, "pseudonyms"), (DROPS, "drops")] {
        run(&scene, privacy, out).unwrap();
        for (place, bytes) in everything(&scene.path(out)) {
            no_name(&bytes, &place, NAMES);
            no_name(&bytes, &place, [KEY.trim()]);
        }
        assert_eq!(scene.findings(out), []);
    }
    // The same jobs, the same hours, the same refusals.
    for out in ["pseudonyms", "drops"] {
        for dataset in [
            "records",
            "history",
            "rejects",
            "usage",
            "summary",
            "association",
            "node_event",
        ] {
            let (open, closed) = (all(&scene.path("open"), dataset), all(&scene.path(out), dataset));
            assert_eq!(open.num_rows(), closed.num_rows(), "{out}: {dataset}");
        }
        assert!(all(&scene.path(out), "rejects").num_rows() >= 6);
        let usage = |out: &str| lake_hash(&scene.path(out).join("usage"));
        assert_eq!(
            usage("open"),
            usage(out),
            "usage holds no names, so it does not depend on privacy"
        );
    }
}

/// (period, user) of the jobs of a source.
fn users(lake: &Path, source: &str) -> Vec<(String, Option<String>)> {
    let records = all(lake, "records");
    let mut users: Vec<_> = (0..records.num_rows())
        .filter(|row| text(&records, "source", *row).as_deref() == Some(source))
        .map(|row| (text(&records, "job_id", row).unwrap(), text(&records, "user", row)))
        .collect();
    users.sort();
    users
}

#[test]
fn a_pseudonym_lasts_a_period_and_no_longer() {
    let scene = scene();
    run(&scene, PSEUDONYMS, "lake").unwrap();
    let user = |out: &str| -> Vec<String> {
        let users = users(&scene.path(out), "slurm");
        users.into_iter().map(|(_, user)| user.unwrap()).collect()
    };
    let by_quarter = user("lake");
    let [january, february, april, other] = by_quarter.as_slice() else {
        panic!("{by_quarter:?}")
    };
    assert_eq!(january, february, "one quarter, one pseudonym");
    assert!(
        january.starts_with("2026-Q1:") && april.starts_with("2026-Q2:"),
        "{by_quarter:?}"
    );
    let code = |text: &str| text.split(':').nth(1).unwrap().to_owned();
    let codes: BTreeSet<_> = [january, april, other].map(|text| code(text)).into();
    assert_eq!(codes.len(), 3, "nothing links quarters, or users: {by_quarter:?}");
    assert!(codes.iter().all(|code| code.len() == 24), "{codes:?}");
    // Another site's user of the same name is another person, as far as the lake shows.
    let elsewhere = users(&scene.path("lake"), "apel");
    assert!(
        elsewhere
            .iter()
            .all(|(_, user)| !by_quarter.contains(user.as_ref().unwrap())),
        "{elsewhere:?}"
    );

    run(&scene, &PSEUDONYMS.replace("quarter", "month"), "month").unwrap();
    let by_month = user("month");
    assert_ne!(by_month[0], by_month[1]);
    run(&scene, &PSEUDONYMS.replace("quarter", "year"), "year").unwrap();
    let by_year = user("year");
    assert_eq!(by_year[0], by_year[2]);
    // HMAC-SHA256 as anybody can compute it: a change of the recipe would break what people have stored.
    assert_eq!(by_year[0], "2026:e977d8d7703c8fc0acfccec1");
}

#[test]
fn a_change_of_privacy_builds_everything_again() {
    let scene = scene();
    run(&scene, "", "lake").unwrap();
    let other_key = PSEUDONYMS.replace("\"key\"", "\"key2\"");
    scene.write("key2", b"another key, as long as the first one was");
    for (at, privacy) in [PSEUDONYMS, DROPS, &other_key, ""].into_iter().enumerate() {
        let status = run(&scene, privacy, "lake").unwrap();
        assert_eq!(status, Status::Published, "{privacy}");
        let fresh = format!("fresh{at}");
        run(&scene, privacy, &fresh).unwrap();
        assert_same(&scene.lake("lake"), &scene.lake(&fresh), privacy);
        let again = run(&scene, privacy, "lake").unwrap();
        assert_eq!(again, Status::Unchanged, "{privacy}");
        if !privacy.is_empty() {
            for (place, bytes) in everything(&scene.path("lake")) {
                no_name(&bytes, &place, NAMES);
            }
        }
    }
    // A lake whose files are other files now is not half masked.
    fs::rename(scene.path("data/apel.msg"), scene.path("apel.msg")).unwrap();
    scene.write("data/apel.msg", b"APEL-individual-job-message: v0.3\n%%\n");
    let error = run(&scene, PSEUDONYMS, "lake").unwrap_err();
    assert_eq!(error.kind(), Kind::Config);
    let reported = error.to_string();
    let what = "the content of one was replaced or extended since it was read (the first: data/apel.msg)";
    assert!(reported.contains(what), "{error}");
    fs::rename(scene.path("apel.msg"), scene.path("data/apel.msg")).unwrap();
    assert_eq!(run(&scene, PSEUDONYMS, "lake").unwrap(), Status::Published);
}

#[test]
fn privacy_that_cannot_be_kept_is_refused() {
    let scene = scene();
    scene.write("short", b"tiny\n");
    let refused = |privacy: &str| {
        let error = run(&scene, privacy, "never").unwrap_err();
        assert_eq!(error.kind(), Kind::Config, "{error}");
        assert!(!scene.path("never").exists(), "{privacy}");
        error.to_string()
    };
    let cases = [
        ("user = \"pseudonym\"\nrotate = \"year\"", "no key"),
        (
            "user = \"pseudonym\"\nkey = { file = \"key\" }",
            "how long a pseudonym lasts",
        ),
        (
            "user = \"pseudonym\"\nrotate = \"year\"\nkey = { file = \"gone\" }",
            "cannot be read",
        ),
        (
            "user = \"pseudonym\"\nrotate = \"year\"\nkey = { file = \"short\" }",
            "has 4 bytes",
        ),
        (
            "user = \"pseudonym\"\nrotate = \"year\"\nkey = { env = \"GRIDTALLY_TEST_NO_KEY\" }",
            "is not set",
        ),
        (
            "user = \"pseudonym\"\nrotate = \"year\"\nkey = { env = \"A\", file = \"key\" }",
            "exactly one",
        ),
        (
            "user = \"pseudonym\"\nrotate = \"week\"\nkey = { file = \"key\" }",
            "is not one of \"year\"",
        ),
        ("user = \"hash\"", "is not one of \"keep\", \"drop\", \"pseudonym\""),
        ("usr = \"drop\"", "unknown key \"usr\""),
    ];
    for (body, why) in cases {
        let reported = refused(&format!("[privacy]\n{body}\n"));
        assert!(reported.contains(why), "{body}: {reported}");
    }
    let reported = refused("[privacy]\nuser = \"pseudonym\"\nrotate = \"year\"\nkey = \"hunter2hunter2hunter2\"\n");
    assert!(
        reported.contains("must not be in the pipeline file") && !reported.contains("hunter2"),
        "{reported}"
    );
    // A VO that is the user's name would reveal it.
    for field in ["user", "user_group", "global_user"] {
        let text = format!("{SOURCES}[privacy]\n{field} = \"drop\"\n");
        let text = text.replace("column = \"account\"", &format!("column = {field:?}"));
        scene.write("vo.toml", text.as_bytes());
        let error = Plan::load(&scene.path("vo.toml")).unwrap_err().to_string();
        assert!(error.contains(&format!("vo takes the column {field}, ")), "{error}");
    }
    // The key is not in what a program prints of itself.
    scene.write("night.toml", format!("{SOURCES}{PSEUDONYMS}").as_bytes());
    let (plan, _) = Plan::load(&scene.path("night.toml")).unwrap();
    assert!(!format!("{plan:?}").contains(KEY.trim()));
}

#[test]
fn listings_that_are_gone_do_not_keep_what_is_withheld_from_now_on() {
    let scene = scene();
    run(&scene, "", "lake").ok();
    // Overwritten, as every day; the lake keeps the former listing.
    let former = fs::read_to_string(scene.path("data/assoc.txt")).unwrap();
    scene.write("data/assoc.txt", former.replace("wendeline", "amund").as_bytes());
    let refused = run(&scene, DROPS, "lake").unwrap_err();
    assert_eq!(refused.kind(), Kind::Config);
    assert!(refused.to_string().contains("data/assoc.txt"), "{refused}");
    // With the listing back, its users go; once they are gone, it may be overwritten again.
    scene.write("data/assoc.txt", former.as_bytes());
    run(&scene, DROPS, "lake").unwrap();
    scene.write("data/assoc.txt", former.replace("wendeline", "amund").as_bytes());
    run(&scene, DROPS, "lake").unwrap();
    let associations = all(&scene.path("lake"), "association");
    let users: BTreeSet<_> = (0..associations.num_rows())
        .filter_map(|row| text(&associations, "user", row))
        .collect();
    assert_eq!(
        (associations.num_rows(), users),
        (4, BTreeSet::from(["withheld".to_owned()]))
    );
}
