//! A lake that another process holds: who that is, and that a lock without its owner is free.

use gridtally::store::{LakeLock, Store};
use std::time::Duration;

use super::{Scene, stderr};

#[test]
fn a_lock_that_is_held_names_host_process_and_age() {
    let scene = Scene::new();
    assert!(scene.gridtally(&["run", "oak.toml"]).status.success());
    let store = Store::open(scene.path().join("lake").to_str().unwrap()).unwrap();
    let held = LakeLock::take(&store, Duration::ZERO).unwrap();
    let refused = scene.gridtally(&["run", "oak.toml", "--wait", "0"]);
    assert_eq!(refused.status.code(), Some(75));
    let stated = stderr(&refused);
    assert!(
        stated.contains(&format!("held by process {}", std::process::id())),
        "{stated}"
    );
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert!(stated.contains(&format!(" on {} since 2", host.trim())), "{stated}");
    assert!(stated.contains(" s ago)"), "{stated}");
    drop(held);
    // What the file names is not asked whether it lives: the system gives a lock back with its owner.
    let text = scene.text("lake/.gridtally/lock");
    assert!(text.contains("\"process_id\""), "{text}");
    assert!(scene.gridtally(&["run", "oak.toml"]).status.success());
}
