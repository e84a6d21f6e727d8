//! What Slurm's tools render as JSON and as YAML: partitions, groups of nodes, and both renderings have the same content.

use std::fmt::Write as _;

use gridtally::ledger::Reason;
use gridtally::reference::inventory::{NodeRow, PartitionRow};
use gridtally::sources::inventory::InventoryKind;
use serde_json::{Value, json};

use super::{InventoryRows, only, read};
use crate::support::collect::shared;

const PARTITION_O: &str = "PartitionName=gpu AllowGroups=ALL AllowAccounts=ALL Default=NO QoS=N/A DefaultTime=00:10:00 \
    MaxNodes=UNLIMITED MaxTime=1-12:00:00 MinNodes=0 Nodes=ice[1-2] PriorityJobFactor=20 PriorityTier=3 \
    OverSubscribe=FORCE:4 State=UP TotalCPUs=128 TotalNodes=2 SelectTypeParameters=NONE \
    TRES=cpu=128,mem=500G,node=2,billing=338,gres/gpu=8,gres/gpu:a100=6 TRESBillingWeights=CPU=1.0,GRES/gpu=16.5\n";

/// The partition of [`PARTITION_O`], as `scontrol` and `sinfo` render it.
fn partition() -> Value {
    json!({
        "nodes": { "allowed_allocation": "", "configured": "ice[1-2]", "total": 2 },
        "accounts": { "allowed": "", "deny": "" }, "qos": { "allowed": "", "deny": "", "assigned": "" },
        "tres": {
            "billing_weights": "CPU=1.0,GRES/gpu=16.5",
            "configured": "cpu=128,mem=500G,node=2,billing=338,gres/gpu=8,gres/gpu:a100=6"
        },
        "cluster": "", "select_type": [], "cpus": { "task_binding": 0, "total": 128 },
        "maximums": {
            "nodes": { "set": false, "infinite": true, "number": 0 }, "shares": 32772,
            "oversubscribe": { "jobs": 4, "flags": ["force"] }, "time": { "set": true, "infinite": false, "number": 2160 }
        },
        "name": "gpu", "priority": { "job_factor": 20, "tier": 3 }, "partition": { "state": ["UP"] }
    })
}

fn listing(partitions: &Value) -> Value {
    json!({
        "partitions": partitions,
        "last_update": { "set": true, "infinite": false, "number": 1_790_000_000 },
        "meta": { "slurm": { "release": "24.11.5", "cluster": "glacier" } }, "errors": [], "warnings": []
    })
}

fn group(partition: &Value, nodes: &[&str], changes: &Value) -> Value {
    let span = |least: i64, greatest: i64| json!({ "minimum": least, "maximum": greatest });
    let mut group = json!({
        "port": 6818, "node": { "state": ["IDLE", "DRAIN"] },
        "nodes": { "total": nodes.len(), "hostnames": [], "nodes": nodes },
        "cpus": span(64, 64), "sockets": span(2, 2), "cores": span(16, 16), "threads": span(2, 2),
        "disk": span(0, 0), "memory": span(256_000, 256_000), "weight": span(7, 7),
        "features": { "total": "zen4", "active": "zen4" }, "gres": { "total": "gpu:a100:3", "used": "" }, "cluster": "",
        "reason": { "description": "hot", "time": 0, "user": "" }, "partition": partition
    });
    for (key, value) in changes.as_object().unwrap() {
        group[key] = value.clone();
    }
    group
}

fn groups(groups: &[Value]) -> String {
    json!({ "sinfo": groups, "meta": { "slurm": { "cluster": "glacier" } } }).to_string()
}

/// As Slurm renders YAML: every key and value with its tag, lists at the depth of their key.
fn yaml(document: &Value) -> String {
    fn put(value: &Value, depth: usize, out: &mut String) {
        let indent = "  ".repeat(depth);
        match value {
            Value::Null => out.push_str(" !!null null\n"),
            Value::Bool(flag) => drop(writeln!(out, " !!bool {flag}")),
            Value::Number(n) if n.is_f64() => drop(writeln!(out, " !!float {n}")),
            Value::Number(n) => drop(writeln!(out, " !!int {n}")),
            Value::String(text) if text.is_empty() => out.push_str(" !!str\n"),
            Value::String(text) if text.contains(|c: char| ":#'|,[]{}&*!%@`\"".contains(c)) || text.trim() != text => {
                let _ = writeln!(out, " !!str '{}'", text.replace('\'', "''"));
            }
            Value::String(text) => drop(writeln!(out, " !!str {text}")),
            Value::Array(items) if items.is_empty() => out.push_str(" !!seq []\n"),
            Value::Array(items) => {
                out.push_str(" !!seq\n");
                for item in items {
                    let _ = write!(out, "{indent}-");
                    put(item, depth + 1, out);
                }
            }
            Value::Object(members) if members.is_empty() => out.push_str(" !!map {}\n"),
            Value::Object(members) => {
                out.push_str(" !!map\n");
                for (key, value) in members {
                    let _ = write!(out, "{indent}!!str {key}:");
                    put(value, depth + usize::from(!value.is_array()), out);
                }
            }
        }
    }
    let mut out = "%YAML 1.1\n---".to_owned();
    put(document, 0, &mut out);
    out + "...\n"
}

fn rows(reported: &InventoryRows) -> Vec<String> {
    assert!(reported.rejects.is_empty(), "{:#?}", reported.rejects);
    reported.rows.iter().map(|placed| format!("{:?}", placed.row)).collect()
}

#[test]
fn a_partition_states_the_same_as_text_json_and_yaml() {
    let text = only(&read(PARTITION_O, InventoryKind::ScontrolPartition).partitions());
    let document = listing(&json!([partition()]));
    let reported = read(&document.to_string(), InventoryKind::PartitionJson);
    let row = only(&reported.partitions());
    let expected = PartitionRow {
        cluster: Some("glacier".to_owned()),
        as_of_ms: Some(1_790_000_000_000),
        // The renderings do not state which one is the default.
        is_default: None,
        ..text
    };
    assert_eq!(row, expected);
    assert_eq!(row.over_subscribe.as_deref(), Some("FORCE:4"));
    assert_eq!(
        rows(&read(&yaml(&document), InventoryKind::PartitionJson)),
        rows(&reported)
    );
    for (jobs, flags, word) in [
        (0, json!([]), "EXCLUSIVE"),
        (1, json!([]), "NO"),
        (3, json!([]), "YES:3"),
    ] {
        let mut other = partition();
        other["maximums"]["oversubscribe"] = json!({ "jobs": jobs, "flags": flags });
        let row = only(&read(&listing(&json!([other])).to_string(), InventoryKind::PartitionJson).partitions());
        assert_eq!(row.over_subscribe.as_deref(), Some(word));
        assert_eq!(row.is_exclusive, Some(word == "EXCLUSIVE"));
    }
}

#[test]
fn a_partition_that_cannot_be_is_refused_alone() {
    let mut bad = Vec::new();
    for (path, value) in [
        ("/name", json!("")),
        ("/nodes/configured", json!("ice[1-")),
        ("/nodes/total", json!(-1)),
        ("/tres/configured", json!("cpu=x")),
        ("/tres/billing_weights", json!("CPU=one")),
        ("/maximums/time", json!(i64::MAX)),
    ] {
        let mut other = partition();
        *other.pointer_mut(path).unwrap() = value;
        bad.push(other);
    }
    bad.extend([json!(7), partition()]);
    let reported = read(&listing(&Value::Array(bad)).to_string(), InventoryKind::PartitionJson);
    assert_eq!((reported.rows_read, reported.partitions().len()), (8, 1));
    let reasons = [
        Reason::MissingField,
        Reason::BadHostlist,
        Reason::BadNumber,
        Reason::BadNumber,
        Reason::BadNumber,
        Reason::BadDuration,
        Reason::MissingField,
    ];
    assert_eq!(reported.reasons(), reasons);
}

#[test]
fn groups_of_nodes_state_what_is_equal_in_them() {
    let mut all = partition();
    all["name"] = json!("all");
    let span = |least: i64, greatest: i64| json!({ "minimum": least, "maximum": greatest });
    let reported = read(
        &groups(&[
            group(&partition(), &["ice1"], &json!({})),
            // Of unlike nodes only what is equal is known; devices, features and reason are those of one of them.
            group(
                &all,
                &["ice1", "ice2"],
                &json!({ "cpus": span(64, 96), "memory": span(256_000, 512_000) }),
            ),
            group(&all, &[], &json!({})),
        ]),
        InventoryKind::SinfoJson,
    );
    assert_eq!((reported.rows_read, reported.rejects.len()), (3, 0));
    let names: Vec<&str> = reported.partitions().iter().map(|row| row.partition.as_str()).collect();
    assert_eq!(names, ["all", "gpu"]);
    let nodes = reported.nodes();
    let [ice1, ice2] = nodes.as_slice() else {
        panic!("{nodes:?}")
    };
    let expected = NodeRow {
        cluster: Some("glacier".to_owned()),
        node: "ice1".to_owned(),
        cpu_n: Some(64),
        socket_n: Some(2),
        core_per_socket_n: Some(16),
        thread_per_core_n: Some(2),
        memory_byte: Some(256_000 << 20),
        disk_byte: Some(0),
        gpus: ice1.gpus.clone(),
        gres: Some("gpu:a100:3".to_owned()),
        features: Some("zen4".to_owned()),
        weight_n: Some(7),
        partitions: Some("all,gpu".to_owned()),
        state: Some("IDLE".to_owned()),
        state_flags: Some("DRAIN".to_owned()),
        reason: Some("hot".to_owned()),
        ..NodeRow::default()
    };
    assert_eq!(**ice1, expected);
    assert_eq!(ice1.gpus.as_ref().unwrap().models, [("a100".to_owned(), 3)]);
    assert_eq!((ice2.cpu_n, ice2.memory_byte, ice2.core_n()), (None, None, Some(32)));
    assert_eq!((&ice2.gpus, &ice2.features, &ice2.reason), (&None, &None, &None));
    // A group that contradicts one before it is refused, and nothing of it kept.
    let reported = read(
        &groups(&[
            group(&partition(), &["ice1"], &json!({})),
            group(&all, &["ice2", "ice1"], &json!({ "cpus": span(32, 32) })),
            group(&all, &["ice[2-3]"], &json!({})),
            group(&json!({}), &["ice4"], &json!({})),
        ]),
        InventoryKind::SinfoJson,
    );
    assert_eq!(
        reported.reasons(),
        [Reason::Contradiction, Reason::BadHostlist, Reason::MissingField]
    );
    assert_eq!((reported.nodes().len(), reported.partitions().len()), (1, 1));
}

#[test]
fn yaml_that_is_none_is_refused_whole() {
    let long = format!(
        "--- !!map\n!!str partitions: {}{}\n# maximums:",
        "[".repeat(200),
        "]".repeat(200)
    );
    for (text, why) in [
        (
            "%YAML 1.1\n---\npartitions: [}\nmaximums: 1\n",
            "not a listing of partitions",
        ),
        ("---\npartitions: &a []\nmaximums: *a\n", "alias"),
        ("---\npartitions: []\npartitions: []\nmaximums:\n", "twice"),
        ("---\npartitions: !!int many\nmaximums:\n", "not of its type"),
        ("---\npartitions: []\nmaximums:\n---\na: 1\n", "second document"),
        ("---\nmaximums: 'partitions:'\n", "missing field"),
        (&long, "deep"),
    ] {
        let reported = read(text, InventoryKind::PartitionJson);
        assert_eq!(reported.reasons(), [Reason::BadJson], "{text}");
        assert!(reported.rejects[0].2.contains(why), "{text}: {}", reported.rejects[0].2);
    }
}

/// Real listings, and these rendered as YAML.
#[test]
fn real_renderings_agree_with_the_text_form() {
    let Some(root) = shared("real_renderings_agree_with_the_text_form", "data/slurm") else {
        return;
    };
    for version in ["24.11", "24.11-history"] {
        let text = |name: &str| std::fs::read_to_string(root.join(version).join(name)).unwrap();
        let sinfo = read(&text("sinfo.json"), InventoryKind::SinfoJson);
        let shown = read(&text("scontrol_part_o.txt"), InventoryKind::ScontrolPartition);
        let mut partitions: Vec<PartitionRow> = shown.partitions().into_iter().cloned().collect();
        partitions.sort_by(|a, b| a.partition.cmp(&b.partition));
        for row in &mut partitions {
            row.is_default = None;
        }
        let without_cluster = |row: &&PartitionRow| PartitionRow {
            cluster: None,
            ..(*row).clone()
        };
        let reported: Vec<_> = sinfo.partitions().iter().map(without_cluster).collect();
        assert_eq!(reported, partitions, "{version}");
        let nodes = read(&text("sinfo_N_P.txt"), InventoryKind::Sinfo);
        assert_eq!(sinfo.nodes().len(), nodes.nodes().len(), "{version}");
        for (own, whole) in sinfo.nodes().into_iter().zip(nodes.nodes()) {
            assert_eq!((&own.node, &own.partitions), (&whole.node, &whole.partitions));
            assert!(
                own.cpu_n.is_none_or(|n| Some(n) == whole.cpu_n),
                "{version} {}",
                own.node
            );
            assert!(
                own.memory_byte.is_none_or(|n| Some(n) == whole.memory_byte),
                "{version} {}",
                own.node
            );
            assert!(own.gpus.is_none() || own.gpus == whole.gpus, "{version} {}", own.node);
        }
        for (name, kind) in [
            ("sinfo.json", InventoryKind::SinfoJson),
            ("scontrol_node.json", InventoryKind::NodeJson),
        ] {
            let json: Value = serde_json::from_str(&text(name)).unwrap();
            assert_eq!(
                rows(&read(&yaml(&json), kind)),
                rows(&read(&text(name), kind)),
                "{version} {name}"
            );
        }
    }
}
