//! Runs that are killed.

use std::process::Stdio;
use std::time::Instant;

use super::{JOBS, Nights};

/// Kills of a run; `GRIDTALLY_RUN_KILLS` raises it.
const KILLS: u32 = 8;

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
