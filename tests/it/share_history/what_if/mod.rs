//! `report fairshare`: what other rules and other shares make of the same jobs.

mod inputs;
mod outcomes;
mod queue;
mod rules;

use std::collections::BTreeMap;

use serde_json::Value;

use super::{DumpJob, HOUR_S, Scene, pipeline};

/// The rule of most lakes here.
const RULE: &str = "half_life = \"2-00:00:00\"\nalgorithm = \"classic\"\npriority_weight = 10000";

/// Jobs of both labs on five days.
fn jobs() -> Vec<DumpJob> {
    vec![
        DumpJob::new(1, "lab", "ann", "2026-03-01T10:00:00", 5 * HOUR_S, 7),
        DumpJob::new(2, "lab", "bob", "2026-03-02T22:00:00", 9 * HOUR_S, 11),
        DumpJob::new(3, "inst", "cid", "2026-03-03T03:00:00", 4 * HOUR_S, 13),
        DumpJob {
            partition: "gpu",
            ..DumpJob::new(4, "lab", "ann", "2026-03-04T01:00:00", 2 * HOUR_S, 17)
        },
        DumpJob::new(5, "inst", "cid", "2026-03-05T12:00:00", 6 * HOUR_S, 5),
    ]
}

fn scene(keys: &str) -> Scene {
    let scene = Scene::of_jobs(&jobs());
    scene.run(&pipeline(keys));
    scene
}

/// The rows of one table, each by the names of its columns.
fn table(scene: &Scene, name: &str, args: &[&str]) -> Vec<BTreeMap<String, Value>> {
    let fixed = [
        "report",
        "fairshare",
        "lake",
        "--users",
        "--format",
        "json",
        "--table",
        name,
    ];
    let (text, _) = scene.done(&[&fixed[..], args].concat());
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

/// The name of a row: `account`, `account/user` or `account/user/partition`.
fn name_of(row: &BTreeMap<String, Value>) -> String {
    let parts = ["account", "user", "partition"].map(|part| row.get(part).and_then(Value::as_str));
    parts.into_iter().flatten().collect::<Vec<_>>().join("/")
}

/// The associations before and after, by name.
fn associations(scene: &Scene, args: &[&str]) -> BTreeMap<String, BTreeMap<String, Value>> {
    let rows = table(scene, "associations", args);
    let named: BTreeMap<_, _> = rows.into_iter().map(|row| (name_of(&row), row)).collect();
    assert_eq!(named.len(), 7, "{named:#?}");
    named
}

#[track_caller]
fn number(row: &BTreeMap<String, Value>, column: &str) -> f64 {
    let value = row.get(column).unwrap_or_else(|| panic!("{column} is not in {row:?}"));
    value.as_f64().unwrap_or_else(|| panic!("{column} is {value}"))
}

#[track_caller]
fn assert_same(row: &BTreeMap<String, Value>, column: &str) {
    let sides = ["before", "after"].map(|side| row.get(&format!("{column}_{side}")));
    assert!(sides[0].is_some() && sides[0] == sides[1], "{column}: {row:#?}");
}

/// The columns that have two sides.
const SIDES: [&str; 6] = ["shares", "effective_usage", "level_fs", "factor", "rank", "priority"];
