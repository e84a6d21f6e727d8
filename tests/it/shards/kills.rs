//! Shards and merges that are killed at any moment: what is there is whole, and the next one finishes the work.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::scene::Site;
use crate::promises::scene::assert_same;

/// Kills of shards, and as many of merges.
const KILLS: u32 = 12;

#[test]
fn kills_of_shards_and_merges_leave_what_the_next_one_finishes() {
    let site = Site::new(24);
    site.sound(&["run", "zoo.toml", "--out", "whole"]);
    site.sound(&["plan", "zoo.toml", "--shards", "3"]);
    let started = Instant::now();
    site.sound(&["run", "zoo.toml", "--shard", "1/3"]);
    let whole = started.elapsed();
    let mut cut_off = 0;
    for kill in 0..KILLS {
        let shard = format!("{}/3", 2 + kill % 2);
        let mut child = site
            .command(&["run", "zoo.toml", "--shard", &shard])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole * kill / KILLS);
        cut_off += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(cut_off > 0, "no kill came in time");
    // Two at once write the same.
    let twice: Vec<_> = (0..2)
        .map(|_| {
            site.command(&["run", "zoo.toml", "--shard", "2/3"])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in twice {
        assert!(child.wait().unwrap().success());
    }
    site.sound(&["run", "zoo.toml", "--shard", "3/3"]);
    let started = Instant::now();
    site.sound(&["merge", "zoo.toml", "--out", "other"]);
    let whole = started.elapsed().max(Duration::from_millis(20));
    for kill in 0..KILLS {
        let mut child = site
            .command(&["merge", "zoo.toml"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole * kill / KILLS);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    site.sound(&["merge", "zoo.toml", "--wait", "60"]);
    assert_same(&site.lake("lake"), &site.lake("whole"), "after all kills");
    assert!(site.sound(&["merge", "zoo.toml"]).contains("nothing"));
}
