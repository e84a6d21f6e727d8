//! Keys that name no file: markers of folders, the root of a bucket, keys that are no paths.

use std::fs;
use std::path::Path;

use super::{S3, gridtally, reported, run};

const JOBS: &str = "\
JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU
7|oak|u|a|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T01:00:00|3600|1|cpu=1,node=1|00:10:00
";

fn write_pipeline(here: &Path, input: &str) {
    let pipeline = format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"oak\"\nformat = \"sacct\"\n\
         site = \"OAK\"\ntimezone = \"UTC\"\npaths = [\"{input}\"]\n"
    );
    fs::write(here.join("oak.toml"), pipeline).unwrap();
}

#[test]
fn a_question_mark_or_a_hash_of_a_name_is_written_with_a_percent_sign() {
    let s3 = S3::start();
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    s3.put("in/#?/jobs.txt", JOBS.as_bytes());
    for input in ["in/%23%3F", "in/%23%3F/*.txt", "in/%23%3F/jobs.txt"] {
        let url = format!("s3://bucket/{input}");
        let inspected = run(&s3, &["inspect", &url], here);
        assert!(inspected.contains("jobs.txt"), "{inspected}");
    }
    write_pipeline(here, "s3://bucket/in/%23%3F");
    let lake = "s3://bucket/lake%232025";
    run(&s3, &["run", "oak.toml", "--out", lake], here);
    assert!(s3.bucket().exists("lake#2025/manifest.json").unwrap());
    let sound = run(&s3, &["verify", lake], here);
    assert!(sound.contains("sound"), "{sound}");
}

#[test]
fn the_root_of_a_bucket_is_a_folder() {
    let s3 = S3::start();
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    s3.put("deep/jobs.txt", JOBS.as_bytes());
    for (lake, url) in [("one", "s3://bucket"), ("two", "s3://bucket/")] {
        write_pipeline(here, url);
        let report = run(&s3, &["run", "oak.toml", "--out", lake, "--report", "json"], here);
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["outcomes"]["accepted"], 1, "{url}: {report}");
        let inspected = run(&s3, &["inspect", url], here);
        assert!(inspected.contains("s3://bucket/deep/jobs.txt"), "{url}: {inspected}");
    }
}

#[test]
fn markers_of_folders_are_neither_inputs_nor_damage() {
    let s3 = S3::start();
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    s3.put("mk/2026/jobs.txt", JOBS.as_bytes());
    s3.put("mk/2026/empty.txt", b"");
    for marker in ["mk/", "mk/2026/", "mk/2026/sub/"] {
        s3.put_marker(marker);
    }
    for (nth, input) in ["mk", "mk/", "mk/*", "mk/**", "mk/2026"].iter().enumerate() {
        let url = format!("s3://bucket/{input}");
        write_pipeline(here, &url);
        let lake = format!("lake-{nth}");
        let report = run(&s3, &["run", "oak.toml", "--out", &lake, "--report", "json"], here);
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["files_n"], 2, "{url}: an empty file is a file: {report}");
    }
    let lake = "s3://bucket/made";
    write_pipeline(here, "s3://bucket/mk");
    run(&s3, &["run", "oak.toml", "--out", lake], here);
    for marker in [
        "",
        "runs/",
        "usage/",
        ".gridtally/",
        ".gridtally/tags/",
        ".gridtally/staging/",
    ] {
        s3.put_marker(&format!("made/{marker}"));
    }
    let sound = run(&s3, &["verify", lake], here);
    assert!(sound.contains("sound"), "{sound}");
    s3.put("mk/2026/more.txt", JOBS.replace("\n7|", "\n8|").as_bytes());
    run(&s3, &["run", "oak.toml", "--out", lake], here);
    let sound = run(&s3, &["verify", lake], here);
    assert!(sound.contains("sound"), "{sound}");
    let inner = format!("{lake}/usage");
    let inner = gridtally(&s3, &["run", "oak.toml", "--out", &inner], here)
        .output()
        .unwrap();
    assert_eq!(inner.status.code(), Some(78), "{}", reported(&inner));
    assert!(reported(&inner).contains("another lake"), "{}", reported(&inner));
}

#[test]
fn a_key_that_is_no_path_is_named() {
    let s3 = S3::start();
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    s3.put("in/good/jobs.txt", JOBS.as_bytes());
    s3.put_marker("in//x.txt");
    for input in ["s3://bucket/in", "s3://bucket/in/*/jobs.txt"] {
        write_pipeline(here, input);
        let ended = gridtally(&s3, &["run", "oak.toml"], here).output().unwrap();
        let words = reported(&ended);
        assert_eq!(ended.status.code(), Some(65), "{input}: {words}");
        assert!(
            words.contains("in//x.txt") && words.contains("rename"),
            "{input}: {words}"
        );
    }
    write_pipeline(here, "s3://bucket/in/good/*");
    run(&s3, &["run", "oak.toml"], here);
}
