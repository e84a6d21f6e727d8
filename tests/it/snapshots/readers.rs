//! Readers in a loop while runs publish, with `gc` and kills in between.

use std::fs;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{JOBS, Nights, reported};
use crate::support::python::{interpreter, unattended};

/// Runs that publish; `GRIDTALLY_READ_RUNS` raises it.
const RUNS: usize = 16;

/// Days over which they are spread, at least as many.
const DAYS: usize = 330;

/// Reads a lake in one way, again and again, until a file is there; what it found is its last line.
const READ: &str = r#"
import collections, duckdb, json, os, subprocess, sys
kind, program, lake, until = sys.argv[1:]
JOBS = 20
def said(*args):
    return subprocess.run([program, *args, "--quiet"], capture_output=True, text=True, check=True).stdout
def report(*args):
    return {sum(int(line.split(",")[3]) for line in said("report", "egi", lake, "--format", "csv", *args).splitlines()[1:])}
def views(moment):
    con = duckdb.connect()
    con.execute(said("sql", lake, "--as-of", moment))
    one = lambda query: con.execute(query).fetchone()[0]
    # Several queries of one state, over many files, with other runs in between.
    return {one("SELECT sum(job_n) FROM usage"), one("SELECT count(*) FROM records"),
            one("SELECT sum(row_n) FROM ledger WHERE outcome = 'accepted'"), one("SELECT sum(job_n) FROM usage_part"),
            one("SELECT count(*) FROM runs") * JOBS, one("SELECT sum(job_n) FROM usage")}
def duck():
    return {duckdb.connect().execute(f"SELECT sum(job_n) FROM read_parquet('{lake}/usage/**/*.parquet')").fetchone()[0]}
def polars():
    import polars
    return {polars.scan_parquet(f"{lake}/usage/**/*.parquet").select(polars.col("job_n").sum()).collect().item()}
read = {"views": lambda: views("latest"), "tagged": lambda: views("first"), "as_of": lambda: report("--as-of", "latest"),
        "report": report, "duckdb": duck, "polars": polars}[kind]
rounds, mixed, seen, errors = 0, 0, set(), collections.Counter()
while not os.path.exists(until) or rounds == 0:
    rounds += 1
    try:
        found = read()
    # Polars panics where a file is replaced while it reads it.
    except BaseException as why:
        errors[type(why).__name__ + ": " + (getattr(why, "stderr", None) or str(why)).replace("\n", " ")[:200]] += 1
        continue
    mixed += len(found) != 1 or any(int(total) % JOBS for total in found)
    seen |= {int(total) for total in found}
print(json.dumps({"kind": kind, "rounds": rounds, "states": len(seen), "mixed": mixed, "errors": errors}))
"#;

fn reader(nights: &Nights, kind: &str) -> Child {
    Command::new(interpreter())
        .args(["-c", &unattended(READ)])
        .args([kind, env!("CARGO_BIN_EXE_gridtally"), "lake", "done"])
        .current_dir(nights.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn found(reader: Child) -> Value {
    let output = reader.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", reported(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    eprintln!("{found}");
    found
}

fn runs() -> usize {
    std::env::var("GRIDTALLY_READ_RUNS").map_or(RUNS, |text| text.parse().unwrap())
}

#[test]
fn readers_of_snapshots_see_no_mixture() {
    assert_eq!(JOBS, 20, "as in the script");
    let nights = Nights::new();
    nights.night(0);
    let still = ["views", "as_of", "report"].map(|kind| reader(&nights, kind));
    // What these can see is written down in docs/guides/snapshots.md.
    let moving = ["duckdb", "polars"].map(|kind| reader(&nights, kind));
    let runs = runs();
    for nth in 1..runs {
        // Over the edges of months, so that several partitions change.
        nights.night(nth * (DAYS / runs));
    }
    nights.write("done", "");
    for reader in still {
        let found = found(reader);
        assert_eq!(found["mixed"], 0, "{found}");
        assert_eq!(found["errors"].as_object().unwrap().len(), 0, "{found}");
        assert!(found["states"].as_u64().unwrap() > 1, "{found}");
    }
    for reader in moving {
        assert!(found(reader)["rounds"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_snapshot_that_is_kept_survives_gc_with_readers_and_kills() {
    let nights = Nights::new();
    nights.night(0);
    nights.done(&["tag", "lake", "first"]);
    let tagged = reader(&nights, "tagged");
    let (mut collected, mut killed) = (0, 0);
    let runs = runs();
    for nth in 1..runs {
        nights.night(nth * (DAYS / runs));
        let mut gc = nights.command(&["gc", "lake", "--keep", "nights=1", "--wait", "30"]);
        let mut child = gc.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if nth % 2 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(20 + 11 * (nth as u64 % 13)));
            drop(child.kill());
            killed += 1;
        }
        collected += usize::from(child.wait().unwrap().success());
        for row in nights.snapshots() {
            assert_eq!(nights.jobs(&["--as-of", &row[0]]) % JOBS, 0, "{row:?}");
        }
    }
    nights.write("done", "");
    let found = found(tagged);
    assert_eq!((&found["mixed"], &found["states"]), (&0.into(), &1.into()), "{found}");
    assert_eq!(found["errors"].as_object().unwrap().len(), 0, "{found}");
    nights.done(&["gc", "lake", "--keep", "nights=1"]);
    let left = nights.snapshots();
    assert_eq!(left.len(), 2, "{left:?}");
    for row in &left {
        nights.done(&["verify", "lake", "--as-of", &row[0]]);
    }
    nights.done(&["verify", "lake"]);
    assert_eq!(nights.jobs(&["--as-of", "first"]), JOBS);
    eprintln!(
        "{collected} of {} gc ended, {killed} were killed or about to end",
        runs - 1
    );
    assert!(fs::metadata(nights.path("lake/.gridtally/staging")).is_err());
}
