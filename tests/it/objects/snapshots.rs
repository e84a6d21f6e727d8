//! A lake in a bucket that keeps its snapshots.

use super::{Cloud, gridtally, reported, run};
use crate::snapshots::{JOBS, Nights, pipeline};
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
