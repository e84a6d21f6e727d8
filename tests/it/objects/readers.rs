//! Readers of a lake in a bucket: `verify` concurrently with a run, and the script of its views.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::super::support::s3::lock_of_the_dead;
use super::*;

const LOCK: &str = "lake/.gridtally/lock";
const LEDGER: &str = "lake/ledger/ledger.parquet";
const STAGED: &str = "lake/.gridtally/staging/other-00000000";

/// A lake of one job in the bucket.
fn lake() -> (S3, TempDir) {
    let (s3, here) = (S3::start(), tempfile::tempdir().unwrap());
    let write = |name: &str, text: &str| std::fs::write(here.path().join(name), text).unwrap();
    write(
        "jobs.txt",
        "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n\
         7|oak|u|a|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T01:00:00|3600|1|cpu=1,node=1|00:10:00\n",
    );
    write(
        "p.toml",
        "[pipeline]\nname = \"oak\"\noutput = \"s3://bucket/lake\"\n[[source]]\nname = \"oak\"\nformat = \"sacct\"\n\
         paths = [\"jobs.txt\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n",
    );
    run(&s3, &["run", "p.toml"], here.path());
    (s3, here)
}

#[test]
fn verify_in_addition_to_a_run_in_a_bucket_reports_no_damage() {
    let (s3, here) = lake();
    let verify = |wait: &str| {
        let words = ["verify", "s3://bucket/lake", "--wait", wait];
        let output = gridtally(&s3, &words, here.path()).output().unwrap();
        let code = output.status.code();
        let reported = [output.stdout, output.stderr].concat();
        (code, String::from_utf8(reported).unwrap())
    };
    let before = s3.bucket().get(LEDGER).unwrap().unwrap();
    let is_over = AtomicBool::new(false);
    let claim =
        |renewals: u32| format!("{{\"token\": \"other\", \"process\": \"elsewhere/1/1\", \"renewals\": {renewals}}}");
    s3.put(LOCK, claim(0).as_bytes());
    std::thread::scope(|scope| {
        // A run on another machine holds the lake and renews its lock.
        scope.spawn(|| {
            let mut renewals = 0;
            while !is_over.load(Ordering::Relaxed) {
                renewals += 1;
                s3.put(LOCK, claim(renewals).as_bytes());
                std::thread::sleep(Duration::from_millis(300));
            }
        });
        s3.put(STAGED, b"half a file");
        let staged = verify("30");
        // Between the first copy and the last, an object differs from the manifest.
        s3.put(LEDGER, b"of the next state");
        let moving = verify("1");
        let waiting = scope.spawn(|| verify("60"));
        std::thread::sleep(Duration::from_secs(2));
        s3.put(LEDGER, &before);
        let settled = waiting.join().unwrap();
        is_over.store(true, Ordering::Relaxed);
        let (code, reported) = staged;
        assert_eq!(code, Some(0), "{reported}");
        assert!(
            reported.contains("a run holds the lake") && reported.contains(": sound"),
            "{reported}"
        );
        let (code, reported) = moving;
        assert_eq!(code, Some(75), "{reported}");
        assert!(
            reported.contains("a run is publishing") && !reported.contains("NOT sound"),
            "{reported}"
        );
        let (code, reported) = settled;
        assert_eq!(code, Some(0), "{reported}");
    });
    // With nobody there it is damage.
    for gone in [LOCK, STAGED] {
        s3.bucket().delete(gone).unwrap();
    }
    s3.put(LEDGER, b"of the next state");
    let (code, reported) = verify("5");
    assert_eq!(code, Some(65), "{reported}");
    assert!(
        reported.contains("NOT sound") && reported.contains("ledger/ledger.parquet"),
        "{reported}"
    );
}

/// A run was killed in its commit, on this machine or on another one: readers learn it, and not that somebody publishes.
#[test]
fn a_commit_whose_run_was_killed_is_stated_to_readers_of_a_bucket() {
    let (s3, here) = lake();
    s3.put("lake/.gridtally/journal.json", b"{}");
    let elsewhere = "{\"token\": \"other\", \"process\": \"elsewhere/1/1\", \"renewals\": 0}";
    for (claim, within) in [(lock_of_the_dead(), 10), (elsewhere.to_owned(), 40)] {
        s3.put(LOCK, claim.as_bytes());
        let since = Instant::now();
        let output = gridtally(&s3, &["status", "s3://bucket/lake"], here.path())
            .output()
            .unwrap();
        let stated = reported(&output);
        assert_eq!(output.status.code(), Some(75), "{stated}");
        assert!(
            stated.contains("was cut off while it wrote") && stated.contains("run the pipeline again"),
            "{stated}"
        );
        assert!(since.elapsed() < Duration::from_secs(within), "{:?}", since.elapsed());
    }
}

#[test]
fn the_script_of_a_lake_in_a_bucket_names_its_url() {
    let (s3, here) = lake();
    for url in ["s3://bucket/lake", "s3://bucket/lake/"] {
        let script = run(&s3, &["sql", url], here.path());
        assert!(
            script.contains("SET VARIABLE gridtally_root = 's3://bucket/lake';"),
            "{script}"
        );
        // Whatever is read is below it, and no path of this machine is in it.
        let reads: Vec<&str> = script.lines().filter(|line| line.contains("read_parquet(")).collect();
        assert!(
            reads.len() > 5 && reads.iter().all(|line| line.contains("getvariable('gridtally_lake')")),
            "{script}"
        );
        assert!(!script.contains(here.path().to_str().unwrap()), "{script}");
    }
    // The script in the lake opens none until one is set.
    let own = s3.bucket().get("lake/gridtally.sql").unwrap().unwrap();
    let own = String::from_utf8(own.to_vec()).unwrap();
    assert!(!own.contains("s3://bucket/lake"), "{own}");
}
