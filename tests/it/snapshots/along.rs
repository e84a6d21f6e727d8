//! Readers while runs publish, and runs that are killed.

use std::process::{Command, Stdio};
use std::time::Instant;

use super::{JOBS, Nights, reported};
use crate::support::python::interpreter;

/// Kills of a run; `GRIDTALLY_RUN_KILLS` raises it.
const KILLS: u32 = 8;

/// Reads a lake by views of its newest state, again and again, until a file is there; the totals it saw.
const READ: &str = r#"
import duckdb, os, subprocess, sys
program, lake, until = sys.argv[1:]
seen, rounds = set(), 0
while not os.path.exists(until) or rounds == 0:
    script = subprocess.run([program, "sql", lake, "--as-of", "latest", "--quiet"], capture_output=True, text=True, check=True).stdout
    con = duckdb.connect()
    con.execute(script)
    one = lambda query: con.execute(query).fetchone()[0]
    # Several queries of one state, over many files, with other runs in between.
    first = one("SELECT sum(job_n) FROM usage")
    found = {first, one("SELECT count(*) FROM records"), one("SELECT sum(row_n) FROM ledger WHERE outcome = 'accepted'"),
             one("SELECT sum(job_n) FROM usage_part"), one("SELECT count(*) FROM runs") * 20, one("SELECT sum(job_n) FROM usage")}
    assert found == {first}, found
    seen.add(first)
    rounds += 1
print(rounds, len(seen))
"#;

#[test]
fn a_reader_in_a_loop_sees_no_mixture() {
    assert_eq!(JOBS, 20, "as in the script");
    let nights = Nights::new();
    nights.night(0);
    let reader = Command::new(interpreter())
        .args(["-c", READ, env!("CARGO_BIN_EXE_gridtally"), "lake", "done"])
        .current_dir(nights.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Over the edges of months, so that several partitions change.
    for nth in 1..16 {
        nights.night(nth * 9);
    }
    nights.write("done", "");
    let output = reader.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", reported(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let counts: Vec<usize> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    assert!(counts[1] > 1, "rounds and states: {counts:?}");
}

#[test]
fn killed_runs_lose_no_snapshot() {
    let nights = Nights::new();
    nights.arrive(0);
    let started = Instant::now();
    nights.done(&["run", "p.toml"]);
    let mut whole = started.elapsed();
    let kills = std::env::var("GRIDTALLY_RUN_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let (mut caught, mut nth) = (0, 1);
    while caught < kills {
        assert!(nth < usize::try_from(4 * kills).unwrap(), "{caught} kills only");
        nights.arrive(nth);
        nth += 1;
        let mut child = nights
            .command(&["run", "p.toml"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The first run is the slowest, and the commit is the end of one.
        std::thread::sleep(whole * u32::try_from(30 + 7 * (nth % 10)).unwrap() / 100);
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            whole = whole * 7 / 8;
        } else {
            caught += 1;
        }
        let newest = nights.snapshots().pop().unwrap();
        nights.done(&["verify", "lake", "--as-of", &newest[0]]);
    }
    nights.night(nth);
    nights.done(&["verify", "lake"]);
    for row in nights.snapshots() {
        assert_eq!(nights.jobs(&["--as-of", &row[0]]) % JOBS, 0, "{row:?}");
    }
    assert_eq!(nights.jobs(&["--as-of", "latest"]), (nth + 1) * JOBS);
    assert_eq!(nights.jobs(&["--as-of", "1"]), JOBS);
    // What killed runs kept and did not publish is removed, and nothing else.
    nights.done(&["gc", "lake", "--keep", "nights=1"]);
    assert_eq!(
        nights.files("lake/.gridtally/kept").len().to_string(),
        nights.snapshots()[0][4]
    );
    nights.done(&["verify", "lake"]);
}
