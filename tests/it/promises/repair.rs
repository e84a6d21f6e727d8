//! Refused rows: summed up, written out, mended, read again, and counted once.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use gridtally::audit::rejects::{RejectFilter, summarise};
use gridtally::audit::replay::{Replay, ReplayReport, export};
use gridtally::error::Kind;
use gridtally::run::RunOptions;
use gridtally::run::run_report::{RunReport, Status};
use gridtally::time::Month;

use super::scene::{Scene, assert_same, lake_hash};
use super::tables::{all, int, sum, text};

const HEADER: &str = "JobIDRaw|JobID|JobName|Account|User|Submit|Start|End|ElapsedRaw|State|NCPUS|AllocTRES|TotalCPU\n";

fn job(id: u32, name: &str, elapsed: &str) -> String {
    format!(
        "{id}|{id}|{name}|firn|anna|2026-03-10T10:00:00|2026-03-10T10:00:00|2026-03-10T11:00:00|{elapsed}|COMPLETED|4|\
         cpu=4|01:00:00\n{id}.batch|{id}.batch|batch|firn||2026-03-10T10:00:00|2026-03-10T10:00:00|2026-03-10T11:00:00|\
         3600|COMPLETED|4|cpu=4|01:00:00\n"
    )
}

fn record(id: u32, wall: &str) -> String {
    format!(
        "Site: BAY\nSubmitHost: ce\nMachineName: m\nQueue: q\nLocalJobId: {id}\nLocalUserId: u\nGlobalUserName: none\n\
         FQAN: /kelp\nWallDuration: {wall}\nCpuDuration: 10\nProcessors: 1\nNodeCount: 1\nStartTime: 1769608257\n\
         EndTime: 1769625237\nInfrastructureDescription: X\nInfrastructureType: grid\nMemoryReal: 1\nMemoryVirtual: 1\n\
         ServiceLevelType: HEPSPEC\nServiceLevel: 11.25\n%%\n"
    )
}

fn document(id: &str, wall: &str) -> String {
    format!(
        "{{\"_index\":\"i\",\"_id\":\"{id}\",\"_source\":{{\"SiteName\":\"BAY\",\"ResourceType\":\"Batch\",\"ProbeName\":\"p:ce\",\
         \"WallDuration\":{wall},\"CpuDuration\":90,\"Processors\":1,\"StartTime\":\"2026-01-08T01:12:43Z\",\
         \"EndTime\":\"2026-01-08T10:51:07Z\",\"LocalJobId\":\"{id}\",\"VOName\":\"/kelp\",\"ReportableVOName\":\"kelp\",\
         \"@received\":\"2026-01-08T23:18:22Z\"}}}}\n"
    )
}

/// Job 2 has no number where the elapsed time should be, job 3 a beyond-belief one, job 4 lacks a field; record 2 and
/// document bb are bad, and a bad record takes its message with it.
pub(super) fn scene() -> Scene {
    let scene = Scene::empty();
    let bad = job(4, "fine\u{e9}", "3600").replacen("|anna|", "|", 1);
    let sacct = [
        HEADER.to_owned(),
        job(1, "a", "3600"),
        job(2, "b", "soon"),
        job(3, "c", "99999999999"),
        bad,
    ]
    .concat();
    scene.write("in/slurm/dump.txt", sacct.as_bytes());
    let apel = format!(
        "APEL-individual-job-message: v0.3\n{}{}",
        record(1, "100"),
        record(2, "long")
    );
    scene.write("in/apel/msg", apel.as_bytes());
    let gracc = document("aa", "100") + &document("bb", "\"long\"");
    scene.write("in/gracc/dump.ndjson", gracc.as_bytes());
    scene.write("night.toml", PIPELINE.as_bytes());
    scene
}

pub(super) const PIPELINE: &str = r#"
[pipeline]
name = "night"
output = "lake"
max_rejected = 1.0
[[source]]
name = "slurm"
format = "sacct"
paths = ["in/slurm"]
site = "ALP"
timezone = "UTC"
[[source]]
name = "apel"
format = "apel"
paths = ["in/apel"]
[[source]]
name = "gracc"
format = "auto"
paths = ["in/gracc"]
"#;

fn night(scene: &Scene, out: &str) -> RunReport {
    try_night(scene, out, None).unwrap()
}

fn try_night(scene: &Scene, out: &str, month: Option<&str>) -> gridtally::error::Result<RunReport> {
    let options = RunOptions {
        from: month.map(|month| month.parse::<Month>().unwrap()),
        to: month.map(|month| month.parse::<Month>().unwrap()),
        ..RunOptions::default()
    };
    scene.run_file("night.toml", out, options)
}

fn try_replay(scene: &Scene, to: &str) -> gridtally::error::Result<ReplayReport> {
    export(&Replay {
        output: scene.path("lake").to_str().unwrap(),
        export: scene.path(to).to_str().unwrap(),
        inputs: &scene.path("."),
        filter: RejectFilter::default(),
    })
}

fn file(scene: &Scene, folder: &str, source: &str) -> PathBuf {
    let mut files: Vec<_> = fs::read_dir(scene.path(folder).join(source))
        .unwrap()
        .flatten()
        .map(|e| e.path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

fn rows(report: &RunReport, reason: &str) -> u64 {
    report.reasons.get(reason).copied().unwrap_or(0)
}

fn closes(scene: &Scene, out: &str) {
    assert_eq!(scene.findings(out), []);
    let lake = scene.path(out);
    let inputs = all(&lake, "inputs/inputs.parquet");
    let ended: i64 = [
        "accepted_n",
        "duplicate_n",
        "superseded_n",
        "rejected_n",
        "out_of_scope_n",
    ]
    .iter()
    .map(|name| sum(&inputs, name))
    .sum();
    assert_eq!(sum(&inputs, "rows_read_n"), ended);
}

/// Writes the exported file of each source, changed by `mend`, among its inputs as `name`.
fn hand_in(scene: &Scene, name: &str, mend: impl Fn(&str) -> String) {
    for source in ["slurm", "apel", "gracc"] {
        let text = fs::read_to_string(file(scene, "todo", source)).unwrap();
        scene.write(&format!("in/{source}/{name}"), mend(&text).as_bytes());
    }
}

/// Adds the exported rows, mended, to the inputs.
pub(super) fn prepare_mended(scene: &Scene) {
    night(scene, "lake");
    try_replay(scene, "todo").unwrap();
    hand_in(scene, "mended", mend);
    fs::remove_dir_all(scene.path("lake")).unwrap();
}

fn mend(text: &str) -> String {
    text.replace("|soon|", "|3600|")
        .replace("|99999999999|", "|3600|")
        .replace("4|4|fine\u{e9}|firn|2026", "4|4|fine\u{e9}|firn|anna|2026")
        .replace("WallDuration: long", "WallDuration: 100")
        .replace("\"WallDuration\":\"long\"", "\"WallDuration\":100")
}

/// The jobs of a lake without where they were read.
fn jobs(scene: &Scene, out: &str) -> Vec<String> {
    let records = all(&scene.path(out), "records");
    let mut jobs: Vec<_> = (0..records.num_rows())
        .map(|row| {
            let words = ["source", "job_id", "job_name", "account", "user", "vo"].map(|name| text(&records, name, row));
            let numbers = ["wall_s", "cpu_ms", "step_n", "alloc_core_n"].map(|name| int(&records, name, row));
            format!("{words:?} {numbers:?}")
        })
        .collect();
    jobs.sort();
    jobs
}

#[test]
fn mended_rows_count_once_in_the_place_of_their_originals() {
    let scene = scene();
    let first = night(&scene, "lake");
    assert_eq!(first.outcomes.get("rejected"), Some(&9), "{:?}", first.reasons);
    let report = try_replay(&scene, "todo").unwrap();
    assert_eq!(report.left.len(), 0, "{:?}", report.left);
    assert_eq!(
        report.files.iter().map(|f| f.row_n).sum::<u64>(),
        9,
        "{:?}",
        report.files
    );
    let before = lake_hash(&scene.path("todo"));
    try_replay(&scene, "todo").unwrap();
    assert_eq!(before, lake_hash(&scene.path("todo")), "writing out is idempotent");
    let inside = try_replay(&scene, "lake/todo").unwrap_err();
    assert_eq!(inside.kind(), Kind::Usage, "{inside}");
    assert!(!scene.path("lake/todo").exists());

    hand_in(&scene, "mended", mend);
    let second = night(&scene, "lake");
    assert_eq!(second.outcomes.get("rejected"), None, "{:?}", second.reasons);
    assert_eq!(rows(&second, "superseded/repaired"), 9);
    closes(&scene, "lake");
    assert_eq!(night(&scene, "lake").status, Status::Unchanged);
    // The same jobs as if the dumps had never been damaged.
    for (path, text) in ["in/slurm/dump.txt", "in/apel/msg", "in/gracc/dump.ndjson"]
        .map(|path| (path, fs::read_to_string(scene.path(path)).unwrap()))
    {
        scene.write(&path.replace("in/", "whole/in/"), mend(&text).as_bytes());
    }
    scene.write("whole/night.toml", PIPELINE.as_bytes());
    scene
        .run_file("whole/night.toml", "whole/lake", RunOptions::default())
        .unwrap();
    assert_eq!(jobs(&scene, "lake"), jobs(&scene, "whole/lake"));
    let usage = |lake: &str| lake_hash(&scene.path(lake).join("usage"));
    assert_eq!(
        usage("lake").keys().collect::<Vec<_>>(),
        usage("whole/lake").keys().collect::<Vec<_>>()
    );
    for measure in ["job_n", "wall_s", "alloc_core_s", "cpu_ms"] {
        let total = |lake: &str| sum(&all(&scene.path(lake), "usage"), measure);
        assert_eq!(total("lake"), total("whole/lake"), "{measure}");
    }
    // Each refusal names the repair, and nothing is left to write.
    let rejects = all(&scene.path("lake"), "rejects");
    for row in 0..rejects.num_rows() {
        assert!(text(&rejects, "repaired_by", row).is_some());
    }
    assert_eq!(try_replay(&scene, "nothing").unwrap().files.len(), 0);
    assert_eq!(all(&scene.path("lake"), "repairs").num_rows(), rejects.num_rows());
    // In one go it comes to the same bytes as night by night.
    night(&scene, "fresh");
    assert_same(&scene.lake("fresh"), &scene.lake("lake"), "in one go");
}

#[test]
fn a_row_is_mended_by_one_file_only() {
    let scene = scene();
    night(&scene, "lake");
    try_replay(&scene, "todo").unwrap();
    // Job 2 alone is mended at first, and what is not mended is refused again.
    hand_in(&scene, "m1", |text| text.replace("|soon|", "|3600|"));
    let report = night(&scene, "lake");
    assert_eq!(
        rows(&report, "superseded/repaired"),
        3,
        "job 2 with its step, and the sound record of the message"
    );
    closes(&scene, "lake");
    // Somebody mends everything in another copy, and gives job 2 another number: it would count twice.
    hand_in(&scene, "m2", |text| {
        mend(text)
            .replace("2|2|b|", "2222|2222|b|")
            .replace("2.batch|2.batch", "2222.batch|2222.batch")
    });
    let report = night(&scene, "lake");
    assert_eq!(rows(&report, "superseded/repaired"), 9);
    assert_eq!(rows(&report, "out_of_scope/repair_unmatched"), 3);
    closes(&scene, "lake");
    let all_jobs = jobs(&scene, "lake");
    assert!(!all_jobs.iter().any(|job| job.contains("2222")), "{all_jobs:?}");
    assert_eq!(all_jobs.len(), 4 + 2 + 2);
    assert_eq!(night(&scene, "lake").status, Status::Unchanged);
}

#[test]
fn repair_files_may_come_before_what_they_mend() {
    let scene = scene();
    night(&scene, "lake");
    try_replay(&scene, "todo").unwrap();
    hand_in(&scene, "mended", mend);
    // A new lake sees the repair file first.
    let dump = fs::read(scene.path("in/slurm/dump.txt")).unwrap();
    fs::remove_file(scene.path("in/slurm/dump.txt")).unwrap();
    let report = night(&scene, "late");
    assert_eq!(
        rows(&report, "out_of_scope/repair_unmatched"),
        6,
        "{:?}",
        report.reasons
    );
    closes(&scene, "late");
    assert_eq!(night(&scene, "late").status, Status::Unchanged);
    scene.write("in/slurm/dump.txt", &dump);
    let report = night(&scene, "late");
    assert_eq!(rows(&report, "superseded/repaired"), 9, "{:?}", report.reasons);
    closes(&scene, "late");
    night(&scene, "fresh");
    assert_same(&scene.lake("fresh"), &scene.lake("late"), "whatever comes first");
}

#[test]
fn months_left_for_later_are_mended_later() {
    let scene = scene();
    night(&scene, "lake");
    try_replay(&scene, "todo").unwrap();
    hand_in(&scene, "mended", mend);
    let report = try_night(&scene, "parts", Some("2026-01")).unwrap();
    assert_eq!(rows(&report, "superseded/repaired"), 3, "{:?}", report.reasons);
    closes(&scene, "parts");
    let report = try_night(&scene, "parts", Some("2026-03")).unwrap();
    assert_eq!(rows(&report, "superseded/repaired"), 9, "{:?}", report.reasons);
    closes(&scene, "parts");
    night(&scene, "fresh");
    assert_same(&scene.lake("fresh"), &scene.lake("parts"), "month by month");
}

#[test]
fn damaged_repair_files_are_refused_and_stop_nothing() {
    let scene = scene();
    night(&scene, "lake");
    try_replay(&scene, "todo").unwrap();
    let text = mend(&fs::read_to_string(file(&scene, "todo", "slurm")).unwrap());
    let variants = [
        text.replace("\"source\":\"slurm\"", "\"source\":\"apel\""),
        text.replace("\"format\":\"sacct\"", "\"format\":\"gracc\""),
        text.replace("\"version\":1", "\"version\":9"),
        "#gridtally repair nonsense\n".to_owned(),
        text.replace("#gridtally row {", "#gridtally row ["),
        text.replace("#gridtally row", "#gridtally column"),
        text.replace("#gridtally header\nJobIDRaw", "#gridtally header\nnothing"),
    ];
    let all_mended = text.matches("#gridtally row").count();
    assert_eq!(all_mended, 3);
    for (at, variant) in variants.iter().enumerate() {
        scene.write(&format!("in/slurm/bad{at}"), variant.as_bytes());
        let report = night(&scene, "lake");
        assert_eq!(
            rows(&report, "superseded/repaired"),
            0,
            "variant {at}: {:?}",
            report.reasons
        );
        closes(&scene, "lake");
    }
    // Any cut and any changed byte is survived.
    for at in (0..text.len()).step_by(307) {
        let Some(cut) = text.get(..at) else { continue };
        scene.write("in/slurm/zcut", cut.as_bytes());
        night(&scene, &format!("cut{at}"));
        assert_eq!(scene.findings(&format!("cut{at}")), []);
    }
}

#[test]
fn what_is_being_mended_is_not_overwritten() {
    let scene = scene();
    night(&scene, "lake");
    try_replay(&scene, "todo").unwrap();
    let begun = file(&scene, "todo", "slurm");
    fs::write(&begun, mend(&fs::read_to_string(&begun).unwrap())).unwrap();
    let error = try_replay(&scene, "todo").unwrap_err();
    assert!(error.to_string().contains("other content"), "{error}");
    // Without its input a dump's rows have no header; a document needs none.
    scene.write("in/slurm/dump.txt", b"other bytes");
    fs::remove_file(scene.path("in/gracc/dump.ndjson")).unwrap();
    let report = try_replay(&scene, "todo2").unwrap();
    let sources: Vec<_> = report.files.iter().map(|file| file.source.as_str()).collect();
    assert_eq!(sources, ["apel", "gracc"], "{:?}", report.left);
    assert_eq!(report.left.iter().map(|left| left.refusal_n).sum::<u64>(), 3);
}

#[test]
fn refusals_withheld_for_privacy_can_be_mended() {
    let scene = scene();
    let text = format!("{PIPELINE}[privacy]\nuser = \"drop\"\njob_name = \"drop\"\n");
    scene.write("night.toml", text.as_bytes());
    night(&scene, "lake");
    try_replay(&scene, "todo").unwrap();
    hand_in(&scene, "mended", mend);
    let report = night(&scene, "lake");
    assert_eq!(rows(&report, "superseded/repaired"), 9, "{:?}", report.reasons);
    let records = all(&scene.path("lake"), "records");
    assert!((0..records.num_rows()).all(|row| text_of(&records, "user", row).is_none()));
    closes(&scene, "lake");
}

fn text_of(batch: &arrow_array::RecordBatch, name: &str, row: usize) -> Option<String> {
    text(batch, name, row)
}

#[test]
fn refusals_are_summed_up() {
    let scene = scene();
    night(&scene, "lake");
    let out = scene.path("lake");
    let out = out.to_str().unwrap();
    let report = summarise(out, &RejectFilter::default(), 2).unwrap();
    assert_eq!((report.row_n, report.repaired_row_n), (9, 0));
    let of: Vec<_> = report
        .groups
        .iter()
        .map(|g| (g.source.as_str(), g.reason.as_str(), g.row_n))
        .collect();
    assert!(
        of.contains(&("slurm", "bad_number", 4)) && of.contains(&("apel", "message_refused", 1)),
        "{of:?}"
    );
    let gridtally = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(args)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, reported) = gridtally(&["rejects", out]);
    assert_eq!(code, Some(0));
    assert!(
        reported.contains("slurm: in/slurm/dump.txt")
            && reported.contains("soon")
            && reported.contains("9 rows refused"),
        "{reported}"
    );
    let (_, json) = gridtally(&["rejects", out, "--format", "json", "--source", "apel"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["groups"].as_array().unwrap().len(), 2, "{json}");
    let (_, csv) = gridtally(&["rejects", out, "--format", "csv", "--reason", "field_count"]);
    assert_eq!(csv.lines().count(), 2, "{csv}");
    let (_, reasons) = gridtally(&["rejects", "--reasons"]);
    assert!(
        reasons.contains("repair_unmatched") && reasons.contains("A number that is not valid"),
        "{reasons}"
    );
    assert_eq!(gridtally(&["rejects", out, "--reason", "nonsense"]).0, Some(2));
    assert_eq!(gridtally(&["rejects", "nowhere"]).0, Some(66));
    let todo = scene.path("todo");
    let inputs = scene.path(".");
    let (code, reported) = gridtally(&[
        "replay",
        out,
        "--export",
        todo.to_str().unwrap(),
        "--inputs",
        inputs.to_str().unwrap(),
    ]);
    assert_eq!(code, Some(0), "{reported}");
    assert!(reported.contains("9 refused rows in 3 files"), "{reported}");
}
