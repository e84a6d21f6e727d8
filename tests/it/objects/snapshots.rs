//! A lake in a bucket that keeps its snapshots.

use super::{Cloud, gridtally, reported, run};
use crate::snapshots::{JOBS, Nights, pipeline};
use crate::support::python::python;
use crate::support::s3::S3;

#[test]
fn a_lake_in_a_bucket_keeps_its_snapshots() {
    let s3 = S3::start();
    let nights = Nights::new();
    nights.write(
        "p.toml",
        &pipeline("keep = { nights = 30, months = 24 }\n").replace("\"lake\"", "\"s3://bucket/lake\""),
    );
    let here = nights.path("");
    let lake = "s3://bucket/lake";
    for nth in 0..2 {
        nights.arrive(nth);
        run(&s3, &["run", "p.toml"], &here);
    }
    let past = run(&s3, &["verify", lake, "--as-of", "1"], &here);
    assert!(past.contains(&format!("{JOBS} records")), "{past}");
    let now = run(&s3, &["verify", lake], &here);
    assert!(now.contains(&format!("{} records", 2 * JOBS)), "{now}");
    let script = run(&s3, &["sql", lake, "--as-of", "1"], &here);
    assert!(
        script.contains("'/.gridtally/kept/usage/site=OAK/vo=vo1/allocation_year=2026/"),
        "{script}"
    );
    run(&s3, &["tag", lake, "first", "--as-of", "1"], &here);
    run(&s3, &["gc", lake, "--keep", "nights=0"], &here);
    assert_eq!(s3.store().list("lake/.gridtally/snapshots").unwrap().len(), 2);
    run(&s3, &["tag", lake, "first", "--remove"], &here);
    run(&s3, &["gc", lake], &here);
    assert_eq!(s3.store().list("lake/.gridtally/snapshots").unwrap().len(), 1);
    run(&s3, &["verify", lake], &here);
    let gone = gridtally(&s3, &["verify", lake, "--as-of", "1"], &here)
        .output()
        .unwrap();
    assert_eq!(gone.status.code(), Some(66), "{}", reported(&gone));
}

/// Jobs of every version of `usage` in a bucket, by deltalake and Polars.
const DELTALAKE: &str = r#"
import os, sys
import polars
from deltalake import DeltaTable
endpoint, root = sys.argv[1:3]
options = {"endpoint_url": endpoint, "allow_http": "true", "access_key_id": "test", "secret_access_key": "test", "region": "us-east-1"}
options = {f"aws_{key}": value for key, value in options.items()}
jobs = []
for version in range(DeltaTable(root, storage_options=options).version() + 1):
    read = DeltaTable(root, version=version, storage_options=options).to_pyarrow_table()
    frame = polars.scan_delta(root, version=version, storage_options=options).collect()
    assert sum(read["job_n"].to_pylist()) == frame["job_n"].sum(), version
    assert set(read["vo"].to_pylist()) == set(frame["vo"].to_list()) >= {"a/b"}, version
    jobs.append(frame["job_n"].sum())
print(jobs, flush=True)
os._exit(0)
"#;

#[test]
fn a_lake_in_a_bucket_has_delta_tables() {
    let s3 = S3::start();
    let nights = Nights::new();
    let lake = "s3://bucket/delta";
    let keep = "keep = { nights = 30, months = 24 }\ndelta_log = \"on\"\n";
    nights.write("p.toml", &pipeline(keep).replace("\"lake\"", &format!("\"{lake}\"")));
    let here = nights.path("");
    for nth in 0..3 {
        nights.arrive(nth);
        let dump = nights.path(&format!("dumps/{nth:03}.txt"));
        let text = std::fs::read_to_string(&dump).unwrap().replace("|vo1|", "|a/b|");
        std::fs::write(&dump, text).unwrap();
        run(&s3, &["run", "p.toml"], &here);
    }
    let kept = || s3.store().list("delta/.gridtally/kept").unwrap();
    let before = kept();
    run(&s3, &["run", "p.toml"], &here);
    assert_eq!(kept(), before, "the same run once more is no version");
    let root = format!("{lake}/.gridtally/kept/usage");
    let jobs = [JOBS, 2 * JOBS, 3 * JOBS];
    assert_eq!(python(DELTALAKE, &[&s3.endpoint(), &root]).trim(), format!("{jobs:?}"));
    let list = run(&s3, &["snapshots", lake, "--delta", "--format", "csv"], &here);
    assert_eq!(
        list.lines().filter(|row| row.starts_with("usage,")).count(),
        3,
        "{list}"
    );
    run(&s3, &["verify", lake], &here);
    run(&s3, &["gc", lake, "--keep", "nights=1"], &here);
    run(&s3, &["verify", lake], &here);
    let left = s3.store().list("delta/.gridtally/kept/usage/_delta_log").unwrap();
    assert_eq!(left.len(), 3, "{left:?}");
}
